"""Terms: how one cell of a stage was made from cells of earlier stages.

Each kind can say its cells, recompute its value with Python floats alone
(`total`), write itself as LaTeX, and list its lines, with the words of how they
make the total (`conclusion`). `between` joins the names of a line's cells.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from attnviz.core.numerals import bracketed, bracketed_tex, digits, elided, tex


@dataclass(frozen=True)
class Cell:
    """One number of one stage."""

    stage: str
    index: tuple[int, ...]
    value: float

    def __str__(self) -> str:
        """The cell as it stands in an address, counted from 0 as in NumPy: scores[0,1,2]."""
        return f"{self.stage}[{','.join(map(str, self.index))}]"


@dataclass(frozen=True)
class Line:
    """One line of a breakdown: the cells it reads, the sum it does in digits, and what comes of it."""

    cells: tuple[Cell, ...]
    sum: str
    value: float


@dataclass(frozen=True)
class Sum:
    """A sum of products of cells: projections, dot products, weighted sums, additions."""

    products: tuple[tuple[Cell, ...], ...]

    between = " × "

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for product in self.products for cell in product)

    def total(self) -> float:
        return math.fsum(_product(product) for product in self.products)

    def magnitude(self) -> float:
        """How large the numbers are that are added up: what rounding is relative to, 0 in kinds that do not round."""
        return math.fsum(abs(_product(product)) for product in self.products)

    def lines(self, written: Callable[[float], str] = digits) -> tuple[Line, ...]:
        return tuple(
            Line(product, " × ".join(written(cell.value) for cell in product), _product(product))
            for product in self.products
        )

    def conclusion(self) -> str:
        return f"the sum of {len(self.products)}, added up unrounded"

    def latex(self) -> str:
        return elided([r" \cdot ".join(bracketed_tex(cell.value) for cell in product) for product in self.products])


@dataclass(frozen=True)
class Scaled:
    """A cell divided by a number, or multiplied by one."""

    cell: Cell
    divisor: float = 1.0
    factor: float | None = None

    between = ", "

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.cell,)

    def total(self) -> float:
        return self.cell.value / self.divisor if self.factor is None else self.cell.value * self.factor

    def magnitude(self) -> float:
        return abs(self.total())

    def lines(self, written: Callable[[float], str] = digits) -> tuple[Line, ...]:
        by = f"÷ {written(self.divisor)}" if self.factor is None else f"× {written(self.factor)}"
        return (Line(self.cells, f"{written(self.cell.value)} {by}", self.total()),)

    def conclusion(self) -> str:
        return ""

    def latex(self) -> str:
        if self.factor is None:
            return rf"\frac{{{tex(self.cell.value)}}}{{{tex(self.divisor)}}}"
        return rf"{bracketed_tex(self.cell.value)} \cdot {bracketed_tex(self.factor)}"


@dataclass(frozen=True)
class Share:
    """The softmax of one row at one place: exp(score - shift) over the sum of all of the row's.

    The shift is the row's largest score, which changes no share and keeps exp
    from overflowing. A row that sees no key has shares of 0.
    """

    row: tuple[Cell, ...]
    place: int

    between = ", "

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.row

    @property
    def shift(self) -> float:
        largest = max(cell.value for cell in self.row)
        return 0.0 if largest == -math.inf else largest

    @property
    def exponentials(self) -> tuple[float, ...]:
        shift = self.shift
        return tuple(math.exp(cell.value - shift) for cell in self.row)

    @property
    def divisor(self) -> float:
        return math.fsum(self.exponentials)

    def total(self) -> float:
        exponentials = self.exponentials
        divisor = math.fsum(exponentials)
        return exponentials[self.place] / divisor if divisor else 0.0

    def magnitude(self) -> float:
        return self.total()

    def lines(self, written: Callable[[float], str] = digits) -> tuple[Line, ...]:
        return tuple(
            Line((cell,), f"exp({written(cell.value)} − {bracketed(self.shift, written)})", exponential)
            for cell, exponential in zip(self.row, self.exponentials, strict=True)
        )

    def conclusion(self) -> str:
        if not self.divisor:
            return "no key is visible, so the share is 0"
        return f"{digits(self.exponentials[self.place])} ÷ {digits(self.divisor)}, the sum of {len(self.row)}"

    def latex(self) -> str:
        if not self.divisor:
            return r"0 \quad\text{(no key is visible)}"
        numerator = rf"e^{{{tex(self.row[self.place].value)} - {bracketed_tex(self.shift)}}}"
        return rf"\frac{{{numerator}}}{{{elided([tex(value) for value in self.exponentials])}}}"


@dataclass(frozen=True)
class Proportion:
    """One row's numbers over their own sum, at one place; a hidden key counts 0.

    Without an exponential a negative number gives a negative proportion.
    """

    row: tuple[Cell, ...]
    place: int

    between = ", "

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.row

    @property
    def counted(self) -> tuple[float, ...]:
        return tuple(0.0 if cell.value == -math.inf else cell.value for cell in self.row)

    @property
    def divisor(self) -> float:
        return math.fsum(self.counted)

    def total(self) -> float:
        return self.counted[self.place] / self.divisor if self.divisor else 0.0

    def magnitude(self) -> float:
        # numbers of both signs may nearly cancel in the divisor, and what is left is rounded as they were
        added = math.fsum(abs(value) for value in self.counted)
        return abs(self.total()) * added / abs(self.divisor) if self.divisor else 0.0

    def lines(self, written: Callable[[float], str] = digits) -> tuple[Line, ...]:
        return tuple(
            Line((cell,), written(cell.value) if cell.value == value else "hidden, so 0", value)
            for cell, value in zip(self.row, self.counted, strict=True)
        )

    def conclusion(self) -> str:
        if not self.divisor:
            return "no key is visible, so the share is 0"
        return f"{digits(self.counted[self.place])} ÷ {bracketed(self.divisor)}, the sum of {len(self.row)}"

    def latex(self) -> str:
        if not self.divisor:
            return r"0 \quad\text{(no key is visible)}"
        parts = [bracketed_tex(value) for value in self.counted]
        return rf"\frac{{{parts[self.place]}}}{{{elided(parts)}}}"


@dataclass(frozen=True)
class Masked:
    """A cell that is kept where the key is visible, and is -inf where it is hidden."""

    cell: Cell
    visible: Cell

    between = ", "

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.cell, self.visible)

    def total(self) -> float:
        return self.cell.value if self.visible.value else -math.inf

    def magnitude(self) -> float:
        return 0.0

    def lines(self, written: Callable[[float], str] = digits) -> tuple[Line, ...]:
        rule = f"visible, so {written(self.cell.value)} stays" if self.visible.value else "hidden, so −∞"
        return (Line(self.cells, rule, self.total()),)

    def conclusion(self) -> str:
        return ""

    def latex(self) -> str:
        return rf"{tex(self.cell.value)} \text{{ (visible)}}" if self.visible.value else r"\text{hidden}"


@dataclass(frozen=True)
class Copy:
    """The same number as an earlier cell."""

    cell: Cell

    between = ", "

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.cell,)

    def total(self) -> float:
        return self.cell.value

    def magnitude(self) -> float:
        return 0.0

    def lines(self, written: Callable[[float], str] = digits) -> tuple[Line, ...]:
        return (Line(self.cells, "the same number", self.cell.value),)

    def conclusion(self) -> str:
        return ""

    def latex(self) -> str:
        return tex(self.cell.value)


@dataclass(frozen=True)
class Given:
    """A number that came from nothing in the graph: `recipe` says where it is from."""

    value: float
    recipe: str

    between = ""

    @property
    def cells(self) -> tuple[Cell, ...]:
        return ()

    def total(self) -> float:
        return self.value

    def magnitude(self) -> float:
        return 0.0

    def lines(self, written: Callable[[float], str] = digits) -> tuple[Line, ...]:
        return (Line((), self.recipe, self.value),)

    def conclusion(self) -> str:
        return ""

    def latex(self) -> str:
        return tex(self.value)


Terms = Sum | Scaled | Share | Proportion | Masked | Copy | Given


def _product(cells: tuple[Cell, ...]) -> float:
    return math.prod(cell.value for cell in cells)
