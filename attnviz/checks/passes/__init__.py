"""Passes: those that the user's arrays may belong to, and their comparison with the arrays."""
