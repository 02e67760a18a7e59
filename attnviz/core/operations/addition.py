"""Addition: positions are added to embeddings, and a float mask to scores."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Operand, Operation, added_up
from attnviz.core.operations.rule import Line, Rule, Slot, Variant


@dataclass(frozen=True)
class Addition(Operation):
    """E + P (Vaswani et al. 2017, section 3.5); or, where it hides, a mask of numbers in which -inf hides a key.

    The second input may lack the axis of heads or of a batch, and is then added in each.
    """

    hides: bool = False
    operands = (Operand("cell"), Operand("cell", "+"))
    in_multihead = True

    def compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + b

    def vjp(self, upstream: np.ndarray, a: np.ndarray, b: np.ndarray) -> Derivatives:
        moves = np.where(np.isneginf(a + b), 0, upstream)  # what is added to -inf moves nothing
        return moves, added_up(moves, b)

    def extent(self, a: Input, b: Input) -> AxesAndShape:
        return a.axes, a.shape

    def bound(self, a: Input, b: Input) -> float:
        return a.bound + b.bound

    def rule(self, a: Input, b: Input) -> Rule:
        letters = "q f" if len(a.shape) == 2 else "h q k"
        slots = {"a": Slot(0, letters), "b": Slot(1, letters[-2 * len(b.shape) + 1 :])}
        lines = (Line(("a",), "{a}"), Line(("b",), "{b}"))
        return Rule.of(
            (a, b),
            letters,
            slots,
            Variant(lines, "the sum of {n}, added up unrounded", "{a:bt} + {b:bt}"),
        )

    def latex(self, result: str, a: str, b: str) -> str:
        return f"{result} = {a} + {b}"

    def numpy(self, result: str, a: str, b: str) -> tuple[str, ...]:
        return (f"{result} = {a} + {b}",)
