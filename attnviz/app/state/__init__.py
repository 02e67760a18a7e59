"""The state of a tab, on the server."""
