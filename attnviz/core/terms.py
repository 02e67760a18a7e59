"""Terms: how one cell of a stage was made from cells of earlier stages, in Python floats alone.

Sums, copies and given numbers are here, as several operations make them; terms
that only one operation makes are in its module.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

CELL = r"(?P<stage>[a-z][a-z0-9_]{0,31})\[(?P<index>[0-9]{1,4}(?:,[0-9]{1,4}){0,3})\]"
"""The pattern of a cell, or of all cells whose index begins so, as an address has it."""


class Cell(NamedTuple):
    """One number of one stage."""

    stage: str
    index: tuple[int, ...]  # type: ignore[assignment]  # a tuple's own `index` is never called on it
    value: float

    def __str__(self) -> str:
        """The cell as it stands in an address, counted from 0 as in NumPy: scores[0,1,2]."""
        return f"{self.stage}[{','.join(map(str, self.index))}]"


class Terms(Protocol):
    """How one cell was made."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells it was made from, in the order of the lines."""

    def total(self) -> float:
        """The cell's number, recomputed."""

    def rounding(self) -> float:
        """How far one rounding can move its numbers (see `rounding_of`); 0 in kinds that do not round."""
        return 0.0


def exact_sum(products: Iterable[Sequence[float]]) -> float:
    """The sum of products, each rounded, added up exactly.

    It is right even where a product, or the sum of the first few, is beyond
    float64: products of 2^-64 of the numbers are added up then.

    Examples
    --------
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
    """The machine's epsilon times the sum of the sizes of some numbers, which stays within float64."""
    return math.fsum(abs(value) * sys.float_info.epsilon for value in values)


@dataclass(frozen=True)
class Sum(Terms):
    """A sum of products of cells: projections, dot products, weighted sums, additions."""

    products: tuple[tuple[Cell, ...], ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for product in self.products for cell in product)

    def total(self) -> float:
        return exact_sum([cell.value for cell in product] for product in self.products)

    def rounding(self) -> float:
        return rounding_of(*map(_product, self.products))


@dataclass(frozen=True)
class FromOne(Terms):
    """A number made from one other; a kind says its `total`."""

    cell: Cell

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.cell,)

    def rounding(self) -> float:
        return rounding_of(self.total())


@dataclass(frozen=True)
class FromRow(Terms):
    """A number at one place of a row, made from all of another row; a kind says its `total`."""

    row: tuple[Cell, ...]
    place: int

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.row

    def rounding(self) -> float:
        return rounding_of(self.total())


@dataclass(frozen=True)
class Copy(FromOne):
    """The same number as an earlier cell."""

    def total(self) -> float:
        return self.cell.value

    def rounding(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Given(Terms):
    """A number that came from nothing in the graph: `recipe` says where it is from."""

    value: float
    recipe: str

    @property
    def cells(self) -> tuple[Cell, ...]:
        return ()

    def total(self) -> float:
        return self.value


def _product(cells: tuple[Cell, ...]) -> float:
    return math.prod(cell.value for cell in cells)
