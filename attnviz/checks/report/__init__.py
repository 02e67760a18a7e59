"""Report: the verdict in words."""
