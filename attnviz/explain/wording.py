"""Numbers and lists as English text. A number that a sentence computes, such as a length, may overflow float64; it is
then written as more than the largest float.
"""

import math
from collections.abc import Sequence

import numpy as np

from attnviz.core.numerals import digits

_LARGEST = "1.79e308"  # float64 ends just above
_NO_SHARE = 1e4  # set by hand; its hundredths may be beyond float64
_HALF = 0.5 + 1e-9  # 100 * 0.145 is a little less than 14.5


def length(vector: np.ndarray) -> float:
    """The length of a vector; infinite only if the length itself overflows float64."""
    return math.hypot(*vector)


def precise(value: float) -> str:
    """A number with all digits that the panel shows."""
    if math.isinf(value):
        return f"more than {_LARGEST}" if value > 0 else f"less than −{_LARGEST}"
    return digits(value)


def percent(share: float) -> str:
    r"""A share in per cent, halves rounded away from 0, exactly as the browser writes it (`numeral.js`).

    A share that would be rounded to 0 or 100 % is “under 1 %” or “over 99 %”.

    >>> percent(0.025), percent(0.9999), percent(1e300)
    ('3\xa0%', 'over 99\xa0%', '1.00e300')
    """
    if 0 < share < 0.01 or 0.99 < share < 1:
        return "under 1\N{NO-BREAK SPACE}%" if share < 0.5 else "over 99\N{NO-BREAK SPACE}%"
    if abs(share) >= _NO_SHARE:
        return digits(share)
    hundredths = math.floor(100 * abs(share) + _HALF)
    return f"{'−' if share < 0 < hundredths else ''}{hundredths}\N{NO-BREAK SPACE}%"


def counted(n: int, one: str, many: str = "") -> str:
    """A count with its noun, in singular or plural."""
    return f"1 {one}" if n == 1 else f"{n} {many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Names joined with commas and “and”."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def setting(value: int | str | bool) -> str:
    """The value of a setting, with yes and no for booleans."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def share(value: float) -> str:
    """A share as text; 0 or 1 only if it is exactly that."""
    return f"{value:g}" if value in (0, 1) else precise(value)
