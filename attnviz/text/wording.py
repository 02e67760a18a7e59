"""Wording: numbers and words as sentences write them, in English.

Numbers have two decimals; those that differ by rounding errors only are the
same, and tied. What a sentence computes of them, a length say, may be beyond
float64 though they are not; it is then said to be more than the largest float.
"""

import math
from collections.abc import Iterable

import numpy as np

from attnviz.core.numerals import digits

_ERROR = 1e-9  # of the largest number: more than two sums of the same terms can differ by
_LARGEST = "1.79e308"  # float64 ends just above


def tied(values: np.ndarray, place: int) -> np.ndarray:
    """The places at which the same number stands as at `place`, but for rounding errors."""
    relative = values / (np.abs(values).max() or 1)  # so that no difference overflows
    return np.flatnonzero(np.abs(relative - relative[place]) <= _ERROR)


def length(vector: np.ndarray) -> float:
    """The length of a vector; infinite only if it is beyond float64 itself."""
    return math.hypot(*vector)


def number(value: float) -> str:
    """To two decimals, from a million on with a power of ten; with a minus sign, and without a minus zero."""
    return f"{value:z.2f}".replace("-", "−") if abs(value) < 1e6 else precise(value)


def percent(share: float) -> str:
    """A share as whole percents, as the browser writes it; one that is nearly nothing or all is not said to be so."""
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    written = f"{100 * share:z.0f}" if abs(share) < 1e4 else precise(100 * float(share))
    return f"{written} %".replace("-", "−")


def precise(value: float) -> str:
    """As an inspector shows it, and finite."""
    if math.isinf(value):
        return f"more than {_LARGEST}" if value > 0 else f"less than −{_LARGEST}"
    return digits(value)


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
