"""Terms: how one cell of a stage was computed from earlier cells, recomputed in plain Python floats.

Sums, copies and given numbers serve several operations; other terms are in the
modules of their operations.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

CELL = r"(?P<stage>[a-z][a-z0-9_]{0,31})\[(?P<index>[0-9]{1,4}(?:,[0-9]{1,4}){0,3})\]"
"""The pattern of a cell in an address, or of all cells whose index begins with it."""


class Cell(NamedTuple):
    """One number of one stage."""

    stage: str
    index: tuple[int, ...]  # type: ignore[assignment]  # a tuple's own `index` is never called on it
    value: float

    def __str__(self) -> str:
        """The cell as written in an address, counted from 0 as in NumPy: scores[0,1,2]."""
        return f"{self.stage}[{','.join(map(str, self.index))}]"


class Terms(Protocol):
    """How one cell was computed."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells it was computed from, in the order of the lines."""

    def total(self) -> float:
        """The cell's number, recomputed."""

    def rounding(self) -> float:
        """How far a rounding can move its numbers (see `rounding_of`); 0 if nothing is rounded."""
        return 0.0


def exact_sum(products: Iterable[Sequence[float]]) -> float:
    """The exact sum of rounded products.

    It is right even if a product or partial sum exceeds float64: the products are
    then scaled by 2^-64.

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
    """The machine epsilon times the sum of absolute values, without overflow."""
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
    """A number computed from one other; subclasses define `total`."""

    cell: Cell

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.cell,)

    def rounding(self) -> float:
        return rounding_of(self.total())


@dataclass(frozen=True)
class FromRow(Terms):
    """A number at one place of a row, computed from a whole row; subclasses define `total`."""

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
    """A given number; `recipe` states its source."""

    value: float
    recipe: str

    @property
    def cells(self) -> tuple[Cell, ...]:
        return ()

    def total(self) -> float:
        return self.value


def _product(cells: tuple[Cell, ...]) -> float:
    return math.prod(cell.value for cell in cells)
