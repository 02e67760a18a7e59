"""Wording: numbers and words as captions write them, in English.

Numbers have two decimals; those that differ by rounding errors only are the
same, and tied. What a caption computes of them, a length say, may be beyond
float64 though they are not; it is then said to be more than the largest float.
"""

import math
from collections.abc import Iterable

import numpy as np

from attnviz.core.numerals import digits
from attnviz.core.trace import Trace

_ERROR = 1e-9  # of the largest number: more than two sums of the same terms can differ by
_LARGEST = "1.79e308"  # float64 ends just above


def same(values: np.ndarray) -> bool:
    """Whether nothing but rounding errors tells the numbers apart."""
    return bool(np.ptp(_relative(values)) <= _ERROR)


def alike(values: np.ndarray) -> bool:
    """Whether the numbers are the same, or look it as they are written."""
    return bool(np.isfinite(values).all()) and (same(values) or len(set(map(number, values))) == 1)


def tied(values: np.ndarray, place: int) -> np.ndarray:
    """The places at which the same number stands as at `place`, but for rounding errors."""
    relative = _relative(values)
    return np.flatnonzero(np.abs(relative - relative[place]) <= _ERROR)


def ordered_alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the numbers of one array are in the same order, ties too, as those at the same places of the other.

    Numbers of `one` that differ by rounding errors only may be equal in `other`.
    """
    one, other = _relative(one.ravel()), _relative(other.ravel())
    rising = np.lexsort((other, one))
    rises, follows = np.diff(one[rising]), np.diff(other[rising])
    rounded = (follows == 0) & (rises <= _ERROR)
    return bool((rounded | (np.sign(follows) == np.sign(rises))).all())


def _relative(values: np.ndarray) -> np.ndarray:
    """The numbers over the largest of them, so that no difference overflows."""
    return values / (np.abs(values).max() or 1)


def each(values: np.ndarray) -> str:
    """The one number that all of them look like."""
    return f"{number(values[0])}{' each' * (len(values) > 1)}{'' if same(values) else ', to two decimals'}"


def length(vector: np.ndarray) -> float:
    """The length of a vector; infinite only if it is beyond float64 itself."""
    return math.hypot(*vector)


def number(value: float) -> str:
    """To two decimals, from a million on with a power of ten; with a minus sign, and without a minus zero."""
    return f"{value:z.2f}".replace("-", "−") if abs(value) < 1e6 else precise(value)


def precise(value: float) -> str:
    """As an inspector shows it, and finite."""
    if math.isinf(value):
        return f"more than {_LARGEST}" if value > 0 else f"less than −{_LARGEST}"
    return digits(value)


def quoted(word: str) -> str:
    """In quotation marks. A word written from right to left keeps to itself by the marks in its label."""
    return f"“{word}”"


def word(trace: Trace, axis: str, place: int) -> str:
    """The word at a place of an axis, in quotation marks."""
    return quoted(trace.label(axis, place))


def words(trace: Trace, axis: str, places: Iterable[int]) -> str:
    """The words at some places of an axis, listed."""
    return listed(word(trace, axis, int(place)) for place in places)


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
