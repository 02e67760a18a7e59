"""Numbers: the array of a stage, or how to make it when someone first asks for it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

TINY = 1e-150
"""Squares of smaller numbers vanish."""

SURE = 1e300
"""Below this no rounding takes a number beyond float64 (1.8e308)."""


class Numbers:
    """An array that nobody can write into, made when it is first asked for and then kept.

    Attributes
    ----------
    largest : float
        What none of them is larger than, whatever its sign; inf where some hide keys. It is known before they are made.
    """

    __slots__ = ("_array", "_make", "largest")

    def __init__(self, make: Callable[[], np.ndarray] | None, largest: float, array: np.ndarray | None = None) -> None:
        self._make = make
        self._array = array
        self.largest = largest

    @classmethod
    def of(cls, array: np.ndarray) -> Numbers:
        """Those of an array that is ours, and that nobody writes into from now on."""
        array.setflags(write=False)
        return cls(None, _largest(array), array)

    @property
    def array(self) -> np.ndarray:
        """The array. Two threads that ask at once may both make it; they make the same numbers."""
        make = self._make
        if make is not None:
            array = make()
            array.setflags(write=False)
            self._array, self._make = array, None
        return self._array


def _largest(array: np.ndarray) -> float:
    """The root of the sum of squares, as no number is larger; where the squares go beyond float64, the largest."""
    if array.dtype == bool:
        return 1.0
    squares = float(np.vdot(array, array))  # of all that sums or compares it is the fastest, and it never warns
    return math.sqrt(squares) + TINY if squares < math.inf else float(np.abs(array).max())
