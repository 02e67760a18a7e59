"""RMSNorm: a row over the root of the mean of its squares."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.numbers import MAX_SQUARED_NUMBER
from attnviz.core.numerals import digits, tex
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import FromRow, Terms


def check_epsilon(epsilon: float) -> None:
    """Raise ArrayError unless what is added under a root keeps it from 0."""
    if not (isinstance(epsilon, int | float) and 0 < epsilon < math.inf):
        raise ArrayError(f"epsilon must be a finite number above 0, as 1e-5 is; got {epsilon!r}.")


@dataclass(frozen=True)
class RMSNorm(Operation):
    """x (mean(x²) + epsilon)^-½ for each row, without parameters (Zhang and Sennrich 2019, equation 4).

    `epsilon` keeps a row of zeros finite: it stays a row of zeros.

    Raises
    ------
    ArrayError
        If `epsilon` is not above 0 and finite.
    """

    epsilon: float = 1e-5
    operands = (Operand("row", "rmsnorm"),)

    def __post_init__(self):
        check_epsilon(self.epsilon)

    def compute(self, x: np.ndarray) -> np.ndarray:
        return x * self.factor(x)

    def vjp(self, upstream: np.ndarray, x: np.ndarray) -> Derivatives:
        # d y_m / d x_j = f (delta_mj - y_m y_j / d): what lies along the row itself is scaled away
        factor = self.factor(x)
        y = x * factor
        return (factor * (upstream - y * (upstream * y).mean(axis=-1, keepdims=True)),)

    def factor(self, x: np.ndarray) -> np.ndarray:
        """The factor of each row."""
        means = np.square(x).mean(axis=-1, keepdims=True)
        if not np.isfinite(means).all():
            raise ArrayError(
                "The squares of a row that is normed must add up to a number of float64. Use smaller ones."
            )
        return (means + self.epsilon) ** -0.5

    def extent(self, x: Input) -> AxesAndShape:
        return x.axes, x.shape

    def bound(self, x: Input) -> float:
        return math.sqrt(x.shape[-1]) if x.bound < MAX_SQUARED_NUMBER else math.inf

    def rule(self, x: Input) -> Rule:
        squares = np.square(x.value)
        total, length = squares.sum(axis=-1), x.shape[-1]
        return Rule.of(
            (x,),
            "q f",
            {
                "z": Slot(0, "q i"),
                "square": Slot("#square", "q i"),
                "own": Slot(0, "q f"),
                "squares": Slot("#squares", "q"),
                "root": Slot("#root", "q"),
            },
            Variant(
                (Line(("z",), "{z:b}²", "square"),),
                f"{{own}} ÷ {{root}}: the squares add up to {{squares}}, and {{root}} is the root of {{squares}} ÷ "
                f"{length} + {digits(self.epsilon)}",
                rf"\frac{{{{own:t}}}}{{\sqrt{{\frac{{{{terms}}}}{{{length}}} + {tex(self.epsilon)}}}}}",
                "{z:bt}^{2}",
            ),
            arrays={"#square": squares, "#squares": total, "#root": np.sqrt(total / length + self.epsilon)},
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Normed(tuple(cell for (cell,) in reads), index[-1], self.epsilon)

    def latex(self, result: str, x: str) -> str:
        y = rf"y_{{nm}} = \frac{{x_{{nm}}}}{{\sqrt{{\frac{{\sum_j x_{{nj}}^{{2}}}}{{d}} + {tex(self.epsilon)}}}}}"
        return rf"{result} = \mathrm{{RMSNorm}}({x}): \quad {y}"

    def numpy(self, result: str, x: str) -> tuple[str, ...]:
        return (
            f"means = np.square({x}).mean(axis=-1, keepdims=True)",
            f"{result} = {x} * (means + {self.epsilon!r}) ** -0.5",
        )


@dataclass(frozen=True)
class Normed(FromRow):
    """One row's number at one place, over the root of the mean of the row's squares."""

    epsilon: float

    def total(self) -> float:
        mean = math.fsum(cell.value**2 for cell in self.row) / len(self.row)
        return self.row[self.place].value / math.sqrt(mean + self.epsilon)
