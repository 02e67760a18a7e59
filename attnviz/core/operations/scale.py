"""Scale: scores are divided by the square root of their number of terms."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.numerals import bracketed_tex, digits, tex
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import FromOne, Terms


@dataclass(frozen=True)
class Scale(Operation):
    """Scores over sqrt(d_k) (Vaswani et al. 2017, section 3.2.1), or times a `factor` of one's own."""

    d_k: int
    factor: float | None = None
    in_multihead = True

    @property
    def base(self) -> int | None:
        """2 or 3, where the factor is its logarithm, and so exp of a scaled score its power; else None."""
        return next((base for base in (2, 3) if self.factor == math.log(base)), None)

    @property
    def operands(self) -> tuple[Operand, ...]:
        by = f"÷ √{self.d_k}" if self.factor is None else f"× ln {self.base}" if self.base else f"× {self.factor:g}"
        return (Operand("cell", after=by),)

    def compute(self, scores: np.ndarray) -> np.ndarray:
        return scores / math.sqrt(self.d_k) if self.factor is None else scores * self.factor

    def vjp(self, upstream: np.ndarray, scores: np.ndarray) -> Derivatives:
        return (self.compute(upstream),)

    def extent(self, scores: Input) -> AxesAndShape:
        return scores.axes, scores.shape

    def bound(self, scores: Input) -> float:
        return scores.bound if self.factor is None else scores.bound * abs(self.factor)

    def rule(self, scores: Input) -> Rule:
        slots = {"a": Slot(0, "h q k"), "result": Slot("", "h q k")}
        if self.factor is None:
            divisor = math.sqrt(self.d_k)
            text, formula = f"{{a}} ÷ {digits(divisor)}", rf"\frac{{{{a:t}}}}{{{tex(divisor)}}}"
        elif self.base:
            text, formula = f"{{a}} × ln {self.base}", rf"{{a:bt}} \cdot \ln({self.base})"
        else:
            text, formula = f"{{a}} × {digits(self.factor)}", rf"{{a:bt}} \cdot {bracketed_tex(self.factor)}"
        return Rule.of((scores,), "h q k", slots, Variant((Line(("a",), text, "result"),), formula=formula))

    def terms(self, index: Index, reads: Reads) -> Terms:
        divisor = math.sqrt(self.d_k) if self.factor is None else 1.0
        return Scaled(reads[0][0], divisor, self.factor)

    def latex(self, result: str, scores: str) -> str:
        if self.factor is None:
            return rf"{result} = \frac{{{scores}}}{{\sqrt{{d_k}}}} = \frac{{{scores}}}{{\sqrt{{{self.d_k}}}}}"
        factor = rf"\ln({self.base})" if self.base else f"{self.factor:g}"
        return rf"{result} = {factor} \cdot {scores}"

    def numpy(self, result: str, scores: str) -> tuple[str, ...]:
        # a Python float: beside NumPy's own, float32 scores would become float64
        by = f"/ float(np.sqrt({self.d_k}))" if self.factor is None else f"* {self.factor!r}"
        return (f"{result} = {scores} {by}{f'  # ln {self.base}' if self.base else ''}",)


@dataclass(frozen=True)
class Scaled(FromOne):
    """A cell divided by a number, or multiplied by one."""

    divisor: float = 1.0
    factor: float | None = None

    def total(self) -> float:
        return self.cell.value / self.divisor if self.factor is None else self.cell.value * self.factor
