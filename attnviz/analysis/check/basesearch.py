"""Base search: the base of a rotation, or what stretches it, from nothing but the numbers that come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from attnviz.analysis.check.numbersearch import numbers_near
from attnviz.analysis.check.rotation import Rotation

_RANGES = {"base": (10, 1e8), "factor": (1, 100)}

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
    for found in numbers_near(lambda number: off(replace(shape, **{varied: number})), *_RANGES[varied]):
        for each in dict.fromkeys([*(float(f"{found:.{digits}g}") for digits in range(1, 7)), found]):
            yield replace(shape, **{varied: each})
