"""Base search: the base of a rotation, or what stretches it, from nothing but the numbers that come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from attnviz.checks.numbersearch import numbers_near
from attnviz.checks.rotation import Rotation

_RANGES = {"base": (10, 1e8), "factor": (1, 100)}

Off = Callable[[Sequence[Rotation]], np.ndarray]


def rotations_near(shape: Rotation, varied: Literal["base", "factor"], off: Off) -> Iterator[list[Rotation]]:
    """Rotations with a base, or a factor, with which numbers are nearest, round ones first; others after these.

    Parameters
    ----------
    shape : Rotation
        Of which all else is as it is.
    varied : {"base", "factor"}
    off : callable
        How far numbers are off with each of some rotations.
    """

    def of(number: float) -> Rotation:
        return replace(shape, **{varied: float(number)})

    for number in numbers_near(lambda numbers: off([of(each) for each in numbers]), *_RANGES[varied]):
        yield [of(each) for each in dict.fromkeys([*(float(f"{number:.{n}g}") for n in range(1, 7)), number])]
