"""Number search: a number, from nothing but how far what is made with it is off."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

_STEP = 0.15
"""How far apart the logarithms of the numbers are that are tried first."""

_MINIMA = 2
"""So many of the lowest points of these are looked at closely, where they are half as high as most."""

_POINTS = 15
_ROUNDS = 11
"""After so many, each with so many points inside the last gap, a number is known to 1e-10."""

Off = Callable[[np.ndarray], np.ndarray]


def numbers_near(off: Off, low: float, high: float) -> Iterator[float]:
    """The numbers between two at which something is least far off, the likeliest first.

    Parameters
    ----------
    off : callable
        How far it is off with each of some numbers.
    low, high : float
        Above 0.
    """

    def at(logs: np.ndarray) -> np.ndarray:
        return off(np.exp(logs))

    grid = np.arange(math.log(low), math.log(high), _STEP)
    values = at(grid)
    half = np.median(values) / 2
    inner = values[1:-1]
    lowest = 1 + np.flatnonzero((inner <= values[:-2]) & (inner <= values[2:]) & (inner <= half))
    for i in lowest[np.argsort(values[lowest], kind="stable")][:_MINIMA]:
        yield math.exp(_lowest(at, grid[i - 1], grid[i + 1]))


def _lowest(at: Off, low: float, high: float) -> float:
    """Where a function is lowest that falls and then rises: in the gaps on both sides of the lowest point, again."""
    for _ in range(_ROUNDS):
        points = np.linspace(low, high, _POINTS + 2)
        nearest = 1 + int(at(points[1:-1]).argmin())
        low, high = points[nearest - 1], points[nearest + 1]
    return float(low + high) / 2
