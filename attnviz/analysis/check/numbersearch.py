"""Number search: a number, from nothing but how far what is made with it is off."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

_STEP = 0.15
"""How far apart the logarithms of the numbers are that are tried first."""

_MINIMA = 2
"""So many of the lowest points of these are looked at closely, where they are half as high as most."""

_GOLDEN = (math.sqrt(5) - 1) / 2
_ROUNDS = 45
"""After so many a number is known to 1e-10."""

Off = Callable[[float], float]


def numbers_near(off: Off, low: float, high: float) -> Iterator[float]:
    """The numbers between two at which something is least far off, the likeliest first.

    Parameters
    ----------
    off : callable
        How far it is off with a number.
    low, high : float
        Above 0.
    """

    def at(log: float) -> float:
        return off(math.exp(log))

    grid = np.arange(math.log(low), math.log(high), _STEP)
    values = np.array([at(each) for each in grid])
    lowest = [i for i in range(1, len(grid) - 1) if values[i] <= min(*values[[i - 1, i + 1]], np.median(values) / 2)]
    for i in sorted(lowest, key=lambda i: values[i])[:_MINIMA]:
        yield math.exp(_lowest(at, grid[i - 1], grid[i + 1]))


def _lowest(at: Off, low: float, high: float) -> float:
    """Where a function is lowest that falls and then rises: by the golden section."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = at(left), at(right)
    for _ in range(_ROUNDS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = at(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = at(right)
    return (low + high) / 2
