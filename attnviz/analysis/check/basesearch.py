"""Base search: the base of a rotation, or what stretches it, from nothing but the numbers that come of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from attnviz.analysis.check.rotation import Rotation

_RANGES = {"base": (10, 1e8), "factor": (1, 100)}
_STEP = 0.15
"""How far apart the logarithms of the numbers are that are tried first."""

_MINIMA = 2
"""So many of the lowest points of these are looked at closely, where they are half as high as most."""

_GOLDEN = (math.sqrt(5) - 1) / 2
_ROUNDS = 45
"""After so many a number is known to 1e-10."""

Off = Callable[[Rotation], float]


def rotations_near(shape: Rotation, varied: Literal["base", "factor"], off: Off) -> Iterator[Rotation]:
    """Rotations with the base, or the factor, with which numbers are nearest, round ones first.

    Parameters
    ----------
    shape : Rotation
        Of which all else is as it is.
    varied : {"base", "factor"}
    off : callable
        How far numbers are off with a rotation.
    """

    def at(log: float) -> float:
        return off(replace(shape, **{varied: math.exp(log)}))

    grid = np.arange(*np.log(_RANGES[varied]), _STEP)
    values = np.array([at(each) for each in grid])
    low = [i for i in range(1, len(grid) - 1) if values[i] <= min(*values[[i - 1, i + 1]], np.median(values) / 2)]
    for i in sorted(low, key=lambda i: values[i])[:_MINIMA]:
        found = math.exp(_lowest(at, grid[i - 1], grid[i + 1]))
        for each in dict.fromkeys([*(float(f"{found:.{digits}g}") for digits in range(1, 7)), found]):
            yield replace(shape, **{varied: each})


def _lowest(at: Callable[[float], float], low: float, high: float) -> float:
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
