"""Numerals: how numbers are written in the inspector and in formulas, as in the browser (`numeral.js`)."""

import math


def digits(value: float) -> str:
    """A number as the inspector shows it: 4 decimals, or 3 significant ones where it is too small or large for that."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:z.4f}".replace("-", "−")


def short(value: float) -> str:
    """A number as a cell of a picture shows it: 2 decimals, fewer from 100 on, and a power of ten from 10,000 on.

    >>> [short(value) for value in (0.5, -99.994, 123.45, 1235.5, -1e4, -0.004, -math.inf)]
    ['0.50', '−99.99', '123.5', '1236', '−1.0e4', '0.00', '−∞']
    """
    if math.isinf(value):
        return digits(value)
    size = abs(value)
    if size >= 1e4:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:z.{0 if size >= 1000 else 1 if size >= 100 else 2}f}".replace("-", "−")


def tex(value: float) -> str:
    """`digits` as LaTeX: a minus that LaTeX knows, and a power of ten instead of “e”."""
    mantissa, _, exponent = digits(value).replace("−", "-").replace("∞", r"\infty").partition("e")
    return rf"{mantissa} \cdot 10^{{{exponent}}}" if exponent else mantissa


def bracketed_tex(value: float) -> str:
    """A number as LaTeX after an operator: in brackets if it is negative."""
    return f"({tex(value)})" if value < 0 else tex(value)
