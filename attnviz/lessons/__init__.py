"""Lessons and talks: lists of moments, each a pass with a few sentences and perhaps a question."""
