"""Weighted sum: the values, mixed in the shares of attention."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.groups import by_group, of_groups, repeated, repeating
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Operand, Operation
from attnviz.core.operations.rule import Rule, products


@dataclass(frozen=True)
class WeightedSum(Operation):
    """A V: each query's mixture of the values, in the shares of its attention.

    With `shared_by` so many heads in a row read the values of one group (Ainslie et al. 2023, "GQA").
    """

    shared_by: int = 1

    operands = (Operand("row"), Operand("column", "×"))

    @property
    def in_multihead(self) -> bool:
        return self.shared_by == 1

    def compute(self, attention: np.ndarray, v: np.ndarray) -> np.ndarray:
        return attention @ repeated(v, self.shared_by)

    def vjp(self, upstream: np.ndarray, attention: np.ndarray, v: np.ndarray) -> Derivatives:
        of_values = attention.swapaxes(-1, -2) @ upstream
        return upstream @ repeated(v, self.shared_by).swapaxes(-1, -2), by_group(of_values, self.shared_by)

    def extent(self, attention: Input, v: Input) -> AxesAndShape:
        axes, shape = attention.axes, attention.shape
        return (axes[0], axes[1], v.axes[2]), (shape[0], shape[1], v.shape[2])

    def bound(self, attention: Input, v: Input) -> float:
        return attention.bound * v.bound * v.shape[-2]

    def rule(self, attention: Input, v: Input) -> Rule:
        if self.shared_by == 1:
            return products("h q f", (attention, "h q i"), (v, "h i f"))
        return of_groups(products("(g r) q f", (attention, "(g r) q i"), (v, "g i f")), self.shared_by)

    def latex(self, result: str, attention: str, v: str) -> str:
        return rf"{result} = {attention}\,{v}"

    def numpy(self, result: str, attention: str, v: str) -> tuple[str, ...]:
        return (f"{result} = {attention} @ {repeating(v, self.shared_by)}",)
