"""Sum normalisation: a row of scores over its own sum."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import FromRow, Terms, exact_sum, rounding_of


@dataclass(frozen=True)
class SumNormalise(Operation):
    """Each number over the sum of its row: what is sometimes shown before softmax, or in its place.

    The rows add up to 1, but a negative score gets a negative share, adding a
    constant to all scores changes the shares, and a row that adds up to 0 has
    none. A hidden key counts 0; a query that sees no key gets a row of zeros.
    """

    operands = (Operand("row", "÷ row sum"),)

    def compute(self, masked: np.ndarray) -> np.ndarray:
        counted, divisor = self._fraction(masked)
        return counted / divisor

    def vjp(self, upstream: np.ndarray, masked: np.ndarray) -> Derivatives:
        # d a_m / d z_j = (delta_mj - a_m) / sum of z
        counted, divisor = self._fraction(masked)
        moves = (upstream - (upstream * counted / divisor).sum(axis=-1, keepdims=True)) / divisor
        return (np.where(np.isneginf(masked), 0, moves),)

    def _fraction(self, masked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers that count, and their divisor: the sum of the row, or 1 where no key is visible."""
        hidden = np.isneginf(masked)
        counted = np.where(hidden, 0, masked)
        divisor = np.where(hidden.all(axis=-1, keepdims=True), 1, counted.sum(axis=-1, keepdims=True))
        # the sum is within this of the exact one, which may be 0 where the rounded one is not
        rounding = (np.abs(counted) * np.finfo(float).eps).sum(axis=-1, keepdims=True) * counted.shape[-1]
        if not (np.isfinite(divisor) & (np.abs(divisor) > rounding)).all():
            raise ArrayError(
                "A row divided by its sum must add up to a finite number other than 0, and not to one so near 0 "
                "that it may be what rounding left. Use softmax."
            )
        return counted, divisor

    def extent(self, masked: Input) -> AxesAndShape:
        return masked.axes, masked.shape

    def bound(self, masked: Input) -> float:
        return math.inf  # a row that adds up to almost 0 is found by looking

    def rule(self, masked: Input) -> Rule:
        counted, divisor = self._fraction(masked.value)
        hidden = np.isneginf(masked.value)
        lines = (Line(("z",), "{z}", "counted"),)
        conclusion = "{own} ÷ {sum:b}, the sum of {n}" + ", where hidden keys count 0" * bool(hidden.any())
        return Rule.of(
            (masked,),
            "h q k",
            {
                "z": Slot(0, "h q i"),
                "counted": Slot("#counted", "h q i"),
                "own": Slot("#counted", "h q k"),
                "sum": Slot("#sum", "h q"),
            },
            Variant(lines, conclusion, r"\frac{{own:bt}}{{terms}}", "{counted:bt}"),
            Variant(lines, "no key is visible, so the share is 0", r"0 \quad\text{(no key is visible)}"),
            case=Slot("#unseeing", "h q"),
            arrays={"#counted": counted, "#sum": divisor[..., 0], "#unseeing": hidden.all(axis=-1).astype(int)},
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Proportion(tuple(cell for (cell,) in reads), index[-1])

    def latex(self, result: str, masked: str) -> str:
        return rf"{result}: \quad a_{{nm}} = \frac{{z_{{nm}}}}{{\sum_j z_{{nj}}}}, \quad z = {masked}"

    def numpy(self, result: str, masked: str) -> tuple[str, ...]:
        return (
            f"hidden = np.isneginf({masked})",
            f"counted = np.where(hidden, 0, {masked})",
            "sums = counted.sum(axis=-1, keepdims=True)",
            f"{result} = counted / np.where(hidden.all(axis=-1, keepdims=True), 1, sums)",
        )


@dataclass(frozen=True)
class Proportion(FromRow):
    """One row's numbers over their own sum, at one place; a hidden key counts 0.

    Without an exponential a negative number gives a negative proportion.
    """

    @property
    def counted(self) -> tuple[float, ...]:
        return tuple(0.0 if cell.value == -math.inf else cell.value for cell in self.row)

    @property
    def divisor(self) -> float:
        return exact_sum((value,) for value in self.counted)

    def total(self) -> float:
        return self.counted[self.place] / self.divisor if self.divisor else 0.0

    def rounding(self) -> float:
        # numbers of both signs may nearly cancel in the divisor, and what is left is rounded as they were
        return abs(self.total()) * rounding_of(*self.counted) / abs(self.divisor) if self.divisor else 0.0
