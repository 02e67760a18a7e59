"""Numerals that the browser alone writes, written by a second way."""

from attnviz.core.numerals import digits


def short(value: float) -> str:
    """A number as a cell of a picture shows it: 2 decimals, fewer from 100 on, and a power of ten from 10,000 on."""
    size = abs(value)
    if size >= 1e4:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:z.{0 if size >= 1000 else 1 if size >= 100 else 2}f}".replace("-", "−")


def bracketed(value, written=digits):
    """A number to stand behind an operator: in brackets, if it has a minus of its own."""
    return f"({written(value)})" if value < 0 else written(value)
