"""Weighted sum: the values, mixed in the shares of attention."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Operand, Operation
from attnviz.core.operations.rule import Rule, products


@dataclass(frozen=True)
class WeightedSum(Operation):
    """A V: each query's mixture of the values, in the shares of its attention."""

    operands = (Operand("row"), Operand("column", "×"))
    in_multihead = True

    def compute(self, attention: np.ndarray, v: np.ndarray) -> np.ndarray:
        return attention @ v

    def vjp(self, upstream: np.ndarray, attention: np.ndarray, v: np.ndarray) -> Derivatives:
        return upstream @ v.swapaxes(-1, -2), attention.swapaxes(-1, -2) @ upstream

    def extent(self, attention: Input, v: Input) -> AxesAndShape:
        axes, shape = attention.axes, attention.shape
        return (axes[0], axes[1], v.axes[2]), (shape[0], shape[1], v.shape[2])

    def bound(self, attention: Input, v: Input) -> float:
        return attention.bound * v.bound * v.shape[-2]

    def rule(self, attention: Input, v: Input) -> Rule:
        return products("h q f", (attention, "h q i"), (v, "h i f"))

    def latex(self, result: str, attention: str, v: str) -> str:
        return rf"{result} = {attention}\,{v}"

    def numpy(self, result: str, attention: str, v: str) -> tuple[str, ...]:
        return (f"{result} = {attention} @ {v}",)
