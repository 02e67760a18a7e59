"""Lessons: paths of moments, each a pass, a few sentences about its numbers, and perhaps a question."""
