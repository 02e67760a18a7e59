"""Terms: how one cell of a stage was computed from earlier cells, recomputed in plain Python floats."""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

CELL = r"(?P<stage>[a-z][a-z0-9_]{0,31})\[(?P<index>[0-9]{1,4}(?:,[0-9]{1,4}){0,3})\]"
"""The pattern of a cell in an address, or of all cells whose index begins with it."""


class Cell(NamedTuple):
    """One number of one stage; `str` writes it as in NumPy: scores[0,1,2].

    Attributes
    ----------
    stage : str
        The name of the stage.
    index : tuple of int
        A place on each axis, counted from 0.
    value : float
        The number.
    """

    stage: str
    index: tuple[int, ...]  # type: ignore[assignment]  # a tuple's own `index` is never called on it
    value: float

    def __str__(self) -> str:
        """The cell as written in an address, counted from 0 as in NumPy: scores[0,1,2]."""
        return f"{self.stage}[{','.join(map(str, self.index))}]"


def exact_sum(products: Iterable[Sequence[float]]) -> float:
    """The exact sum of rounded products.

    It is right even if a product or partial sum exceeds float64: the products are then scaled by 2^-64.

    >>> exact_sum([(1e308, 1.5), (1e308, 1.5), (-1e308, 1.5)])
    1.5e+308
    """
    products = list(products)
    try:
        total = math.fsum(math.prod(product) for product in products)
    except (OverflowError, ValueError):  # beyond float64 on the way, or an infinity of either sign
        total = math.nan
    small = 2.0**-64
    return total if math.isfinite(total) else math.fsum(math.prod((small, *each)) for each in products) / small


def rounding_of(*values: float) -> float:
    """The machine epsilon times the sum of absolute values, without overflow."""
    return math.fsum(abs(value) * sys.float_info.epsilon for value in values)


@dataclass(frozen=True)
class Terms:
    """How one number was computed from earlier ones: what `Trace.terms` returns.

    Attributes
    ----------
    lines : tuple of tuple of Cell
        The cells of each line of the computation, such as the two factors of a product; empty if the number was given.
    total : float
        The number, recomputed from these cells in Python floats.
    rounding : float
        How far rounding can move it.
    recipe : str
        Where a given number comes from; empty if it was computed.
    """

    lines: tuple[tuple[Cell, ...], ...]  # none if the number was given
    total: float  # recomputed in Python floats
    rounding: float = 0.0  # how far rounding can move it
    recipe: str = ""  # the source of a given number

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of all lines, in their order."""
        return tuple(cell for line in self.lines for cell in line)
