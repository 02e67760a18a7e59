"""The server of the app: the routes beside its pages, and the checks that every request passes first."""
