"""Wording: numbers and words as captions tell them, to two decimals and in English.

Numbers that differ by rounding errors only are the same, and tied.
"""

import math
from collections.abc import Iterable

import numpy as np

_ERROR = 1e-9  # of the largest number: more than two sums of the same terms can differ by


def same(values: np.ndarray) -> bool:
    """Whether nothing but rounding errors tells the numbers apart."""
    return bool(np.ptp(values) <= _ERROR * np.abs(values).max())


def alike(values: np.ndarray) -> bool:
    """Whether the numbers are the same, or look it with two decimals."""
    return same(values) or len(set(map(number, values))) == 1


def tied(values: np.ndarray, value: float) -> np.ndarray:
    """The places at which `value` stands, but for rounding errors."""
    return np.flatnonzero(np.abs(values - value) <= _ERROR * np.abs(values).max())


def each(values: np.ndarray) -> str:
    """The one number that all of them look like."""
    return f"{number(values[0])}{' each' * (len(values) > 1)}{'' if same(values) else ', to two decimals'}"


def length(vector: np.ndarray) -> float:
    """Its length, which does not overflow on the way."""
    return math.hypot(*vector)


def number(value: float) -> str:
    """To two decimals, with a minus sign, and without a minus zero."""
    return f"{value:z.2f}".replace("-", "−")


def quoted(word: str) -> str:
    """In quotation marks. A word written from right to left keeps to itself by the marks in its label."""
    return f"“{word}”"


def numbered(name: str, places: np.ndarray) -> str:
    """Places by their names, counted from 1: head 2; heads 1 and 3."""
    return f"{name}{'s' * (len(places) > 1)} {listed(str(place + 1) for place in places)}"


def listed(parts: Iterable[str]) -> str:
    """Joined by commas and "and"; of more than six the first five, and how many more."""
    *first, last = parts
    if len(first) > 5:
        return f"{', '.join(first[:5])} and {len(first) - 4} more"
    return f"{', '.join(first)} and {last}" if first else last


def counted(n: int, one: str, many: str = "") -> str:
    """A number of things, in singular or plural."""
    return f"1 {one}" if n == 1 else f"{n} {many or one + 's'}"
