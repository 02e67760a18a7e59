"""Last quotient: what a query has collected after the last block, over the sum that it divides by (see `running`)."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import Cell, Terms, rounding_of


@dataclass(frozen=True)
class LastQuotient(Operation):
    """o / l after the last block (Dao et al. 2022, "FlashAttention"); a query that sees no key gets zeros."""

    operands = (Operand("row", "last"), Operand("cell", "÷ last"))

    def compute(self, output: np.ndarray, sums: np.ndarray) -> np.ndarray:
        return output[..., -1, :] / _divisor(sums)

    def vjp(self, upstream: np.ndarray, output: np.ndarray, sums: np.ndarray) -> Derivatives:
        of_output, of_sums, divisor = np.zeros_like(output), np.zeros_like(sums), _divisor(sums)
        of_output[..., -1, :] = upstream / divisor
        of_sums[..., -1] = -(upstream * output[..., -1, :]).sum(axis=-1) / divisor[..., 0] ** 2
        return of_output, of_sums

    def extent(self, output: Input, sums: Input) -> AxesAndShape:
        return (*output.axes[:2], output.axes[-1]), (*output.shape[:2], output.shape[-1])

    def bound(self, output: Input, sums: Input) -> float:
        return np.inf  # a sum may be set near 0 by hand

    def rule(self, output: Input, sums: Input) -> Rule:
        last = sums.value[..., -1]
        return Rule.of(
            (output, sums),
            "h q f",
            {"o": Slot(0, "h q k f"), "l": Slot(1, "h q k"), "result": Slot("", "h q f")},
            Variant((Line(("o", "l"), "{o} ÷ {l:b}, after the last block", "result"),), formula=r"\frac{{o:t}}{{l:t}}"),
            Variant((Line(("o", "l"), "no key is visible, so 0", "result"),)),
            case=Slot("#unseeing", "h q"),
            arrays={"#unseeing": (last == 0).astype(int)},
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Quotient(*reads[0])

    def latex(self, result: str, output: str, sums: str) -> str:
        return rf"{result}: \quad h = \frac{{o_b}}{{l_b}} \text{{ after the last block}}"

    def numpy(self, result: str, output: str, sums: str) -> tuple[str, ...]:
        return (
            f"last = {sums}[..., -1:]",
            f"{result} = {output}[..., -1, :] / np.where(last == 0, 1, last)  # 0 where no key is visible",
        )


def _divisor(sums: np.ndarray) -> np.ndarray:
    last = sums[..., -1:]
    return np.where(last == 0, 1, last)


@dataclass(frozen=True)
class Quotient(Terms):
    """One number over another; 0 over 0 is 0."""

    above: Cell
    below: Cell

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.above, self.below)

    def total(self) -> float:
        return self.above.value / (self.below.value or 1.0)

    def rounding(self) -> float:
        return rounding_of(self.total())
