"""RMSNorm: a row over the root of the mean of its squares."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.numbers import MAX_SQUARED_NUMBER
from attnviz.core.numerals import digits, tex
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Index, Operand, Operation, Reads, added_up
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import Cell, FromRow, Terms


def check_epsilon(epsilon: float) -> None:
    """Raise ArrayError unless what is added under a root keeps it from 0."""
    if not (isinstance(epsilon, int | float) and 0 < epsilon < math.inf):
        raise ArrayError(f"epsilon must be a finite number above 0, as 1e-5 is; got {epsilon!r}.")


@dataclass(frozen=True)
class RMSNorm(Operation):
    """x (mean(x²) + epsilon)^-½ for each row, times a gain if there is one (Zhang and Sennrich 2019, equation 4).

    `epsilon` keeps a row of zeros finite: it stays a row of zeros.

    Raises
    ------
    ArrayError
        If `epsilon` is not above 0 and finite.
    """

    epsilon: float = 1e-5
    operands = (Operand("row", "rmsnorm"), Operand("cell", "×"))

    def __post_init__(self):
        check_epsilon(self.epsilon)

    def compute(self, x: np.ndarray, gain: np.ndarray | None = None) -> np.ndarray:
        normed = x * self.factor(x)
        return normed if gain is None else normed * gain

    def vjp(self, upstream: np.ndarray, x: np.ndarray, gain: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        # d y_m / d x_j = f (delta_mj - y_m y_j / d): what lies along the row itself is scaled away
        factor = self.factor(x)
        y = x * factor
        of_y = upstream if gain is None else upstream * gain
        of_x = factor * (of_y - y * (of_y * y).mean(axis=-1, keepdims=True))
        return (of_x,) if gain is None else (of_x, added_up(upstream * y, gain))

    def factor(self, x: np.ndarray) -> np.ndarray:
        """The factor of each row."""
        means = np.square(x).mean(axis=-1, keepdims=True)
        if not np.isfinite(means).all():
            raise ArrayError(
                "The squares of a row that is normed must add up to a number of float64. Use smaller ones."
            )
        return (means + self.epsilon) ** -0.5

    def extent(self, x: Input, gain: Input | None = None) -> AxesAndShape:
        return x.axes, x.shape

    def bound(self, x: Input, gain: Input | None = None) -> float:
        if not x.bound < MAX_SQUARED_NUMBER:
            return math.inf
        return math.sqrt(x.shape[-1]) * (1.0 if gain is None else gain.bound)

    def rule(self, x: Input, gain: Input | None = None) -> Rule:
        squares = np.square(x.value)
        total, length = squares.sum(axis=-1), x.shape[-1]
        row = "h q" if len(x.shape) == 3 else "q"
        slots = {
            "z": Slot(0, f"{row} i"),
            "square": Slot("#square", f"{row} i"),
            "own": Slot(0, f"{row} f"),
            "squares": Slot("#squares", row),
            "root": Slot("#root", row),
        }
        own, formula = (
            "{own} ÷ {root}",
            rf"\frac{{{{own:t}}}}{{\sqrt{{\frac{{{{terms}}}}{{{length}}} + {tex(self.epsilon)}}}}}",
        )
        lines = [Line(("z",), "{z:b}²", "square")]
        if gain is not None:
            slots["gain"] = Slot(1, "f")
            lines.append(Line(("gain",), "× {gain}, the gain"))
            own, formula = f"{own} × {{gain}}", formula + r" \cdot {gain:bt}"
        return Rule.of(
            (x,) if gain is None else (x, gain),
            f"{row} f",
            slots,
            Variant(
                tuple(lines),
                f"{own}: the squares add up to {{squares}}, and {{root}} is the root of {{squares}} ÷ "
                f"{length} + {digits(self.epsilon)}",
                formula,
                "({z:t})^{2}",
            ),
            arrays={"#square": squares, "#squares": total, "#root": np.sqrt(total / length + self.epsilon)},
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        cells = tuple(cell for (cell,) in reads)
        length = sum(cell.stage == cells[0].stage for cell in cells)
        return Normed(cells[:length], index[-1], self.epsilon, cells[length:])

    def latex(self, result: str, x: str, gain: str | None = None) -> str:
        y = rf"y_{{nm}} = \frac{{x_{{nm}}}}{{\sqrt{{\frac{{\sum_j x_{{nj}}^{{2}}}}{{d}} + {tex(self.epsilon)}}}}}"
        y += "" if gain is None else rf" \cdot g_m, \quad g = {gain}"
        return rf"{result} = \mathrm{{RMSNorm}}({x}): \quad {y}"

    def numpy(self, result: str, x: str, gain: str | None = None) -> tuple[str, ...]:
        return (
            f"means = np.square({x}).mean(axis=-1, keepdims=True)",
            f"{result} = {x} * (means + {self.epsilon!r}) ** -0.5" + ("" if gain is None else f" * {gain}"),
        )


@dataclass(frozen=True)
class Normed(FromRow):
    """One row's number at one place, over the root of the mean of the row's squares; times a gain if there is one."""

    epsilon: float
    gain: tuple[Cell, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.row + self.gain

    def total(self) -> float:
        mean = math.fsum(cell.value**2 for cell in self.row) / len(self.row)
        normed = self.row[self.place].value / math.sqrt(mean + self.epsilon)
        return math.prod((normed, *(cell.value for cell in self.gain)))
