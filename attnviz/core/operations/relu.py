"""ReLU: what is positive stays, all else becomes 0."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import FromOne, Terms


@dataclass(frozen=True)
class ReLU(Operation):
    """max(0, x); or its square, where `squared` (So et al. 2021, "Primer")."""

    squared: bool = False

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (Operand("cell", "relu²" if self.squared else "relu"),)

    def compute(self, x: np.ndarray) -> np.ndarray:
        positive = np.maximum(x, 0)
        return positive * positive if self.squared else positive

    def vjp(self, upstream: np.ndarray, x: np.ndarray) -> Derivatives:
        # at 0 itself it has no derivative; 0 is taken, as everywhere
        return (upstream * (2 * np.maximum(x, 0)) if self.squared else np.where(x > 0, upstream, 0),)

    def extent(self, x: Input) -> AxesAndShape:
        return x.axes, x.shape

    def bound(self, x: Input) -> float:
        return x.bound * x.bound if self.squared else x.bound

    def rule(self, x: Input) -> Rule:
        letters = "q f"
        kept, formula = "stays", r"\max(0, {a:t})"
        if self.squared:
            kept, formula = "is squared", r"\max(0, {a:t})^{2}"
        return Rule.of(
            (x,),
            letters,
            {"a": Slot(0, letters), "result": Slot("", letters)},
            Variant((Line(("a",), f"{{a}} is positive, so it {kept}", "result"),), formula=formula),
            Variant((Line(("a",), "{a} is not positive, so 0", "result"),), formula=formula),
            case=Slot("#silent", letters),
            arrays={"#silent": (x.value <= 0).astype(int)},
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Positive(reads[0][0], self.squared)

    def latex(self, result: str, x: str) -> str:
        return rf"{result} = \max(0, {x})" + "^{2}" * self.squared

    def numpy(self, result: str, x: str) -> tuple[str, ...]:
        return (f"{result} = np.maximum({x}, 0)", *([f"{result} = {result} * {result}"] * self.squared))


@dataclass(frozen=True)
class Positive(FromOne):
    """A cell where it is positive, else 0; or its square."""

    squared: bool = False

    def total(self) -> float:
        positive = max(self.cell.value, 0.0)
        return positive * positive if self.squared else positive
