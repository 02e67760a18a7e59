"""Numbers: the array of a stage, or how to make it when someone first asks for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from attnviz.core.operations.input import Input
from attnviz.core.operations.operation import Operation

MIN_SQUARED_NUMBER = 1e-150
"""Squares of smaller numbers vanish."""

MAX_SQUARED_NUMBER = 1e150
"""The squares of smaller numbers add up to less than float64 reaches."""

MAX_SAFE_NUMBER = 1e300
"""Below this no rounding takes a number beyond float64 (1.8e308)."""

ROUNDING = 1e-12
"""Of a stage's largest number: numbers no further apart are the same, as sums in another order round otherwise."""


class Numbers:
    """An array that nobody can write into, made when it is first asked for and then kept.

    Attributes
    ----------
    bound : float
        What no number but a hidden key's -inf is larger than, whatever its sign; inf where -inf was given or set.
        It is known before they are made.
    """

    __slots__ = ("_source", "bound")

    def __init__(self, bound: float, source: np.ndarray | tuple[Operation, Sequence[Input]]) -> None:
        self.bound = bound
        self._source = source

    @classmethod
    def of(cls, array: np.ndarray) -> Numbers:
        """Those of an array that is ours, and that nobody writes into from now on."""
        array.setflags(write=False)
        return cls(_largest(array), array)

    @property
    def array(self) -> np.ndarray:
        """The array. Two threads that ask at once may both make it; they make the same numbers."""
        source = self._source
        if isinstance(source, np.ndarray):
            return source
        operation, inputs = source
        array = operation.compute(*[each.value for each in inputs])
        array.setflags(write=False)
        self._source = array
        return array


def _largest(array: np.ndarray) -> float:
    """The root of the sum of squares, as no number is larger; where the squares go beyond float64, the largest."""
    if array.dtype == bool:
        return 1.0
    squares = float(np.vdot(array, array))  # of all that sums or compares it is the fastest, and it never warns
    return math.sqrt(squares) + MIN_SQUARED_NUMBER if squares < math.inf else float(np.abs(array).max())
