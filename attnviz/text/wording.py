"""Wording: numbers as sentences write them, in English.

What a sentence computes of numbers, a length say, may be beyond float64 though
they are not; it is then said to be more than the largest float.
"""

import math

import numpy as np

from attnviz.core.numerals import digits

_LARGEST = "1.79e308"  # float64 ends just above


def length(vector: np.ndarray) -> float:
    """The length of a vector; infinite only if it is beyond float64 itself."""
    return math.hypot(*vector)


def precise(value: float) -> str:
    """As an inspector shows it, and finite."""
    if math.isinf(value):
        return f"more than {_LARGEST}" if value > 0 else f"less than −{_LARGEST}"
    return digits(value)


def percent(share: float) -> str:
    r"""A share in hundredths; one that is nearly nothing or nearly all is not said to be so.

    >>> percent(0.355), percent(0.9999)
    ('36\xa0%', 'over 99\xa0%')
    """
    if 0 < share < 0.01 or 0.99 < share < 1:
        return "under 1\N{NO-BREAK SPACE}%" if share < 0.5 else "over 99\N{NO-BREAK SPACE}%"
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def counted(n: int, one: str, many: str = "") -> str:
    """A number of things, in singular or plural."""
    return f"1 {one}" if n == 1 else f"{n} {many or one + 's'}"
