"""Numerals that the browser alone writes, written by a second way."""

from attnviz.core.numerals import digits, short

__all__ = ["bracketed", "short"]


def bracketed(value, written=digits):
    """A number to stand behind an operator: in brackets, if it has a minus of its own."""
    return f"({written(value)})" if value < 0 else written(value)
