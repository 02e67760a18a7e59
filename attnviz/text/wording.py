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


def counted(n: int, one: str, many: str = "") -> str:
    """A number of things, in singular or plural."""
    return f"1 {one}" if n == 1 else f"{n} {many or one + 's'}"
