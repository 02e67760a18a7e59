"""Numerals: numbers as an inspector and a formula write them. The browser writes them so too (`numeral.js`)."""

import math


def digits(value: float) -> str:
    """A number as an inspector shows it: 4 decimals, or 3 significant ones where it is too small or large for that."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:z.4f}".replace("-", "−")


def tex(value: float) -> str:
    """`digits` as LaTeX: a minus that is one, a power of ten that is not the number e."""
    mantissa, _, exponent = digits(value).replace("−", "-").replace("∞", r"\infty").partition("e")
    return rf"{mantissa} \cdot 10^{{{exponent}}}" if exponent else mantissa


def bracketed_tex(value: float) -> str:
    """A number as LaTeX, to stand behind an operator: in brackets, if it has a minus of its own."""
    return f"({tex(value)})" if value < 0 else tex(value)
