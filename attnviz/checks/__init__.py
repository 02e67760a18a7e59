"""Checks of the user's own code: read arrays, explain how they differ from a pass, report it."""
