"""Dot products: how well each query fits each key."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Operand, Operation
from attnviz.core.operations.rule import Rule, products


@dataclass(frozen=True)
class DotProducts(Operation):
    """Q K^T: each query's dot product with each key (Vaswani et al. 2017, equation 1)."""

    operands = (Operand("row"), Operand("column", "×", transposed=True))
    in_multihead = True

    def compute(self, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return q @ k.swapaxes(-1, -2)

    def vjp(self, upstream: np.ndarray, q: np.ndarray, k: np.ndarray) -> Derivatives:
        return upstream @ k, upstream.swapaxes(-1, -2) @ q

    def extent(self, q: Input, k: Input) -> AxesAndShape:
        return (q.axes[0], q.axes[1], k.axes[1]), (q.shape[0], q.shape[1], k.shape[1])

    def bound(self, q: Input, k: Input) -> float:
        return q.bound * k.bound * k.shape[-1]

    def rule(self, q: Input, k: Input) -> Rule:
        return products("h q k", (q, "h q i"), (k, "h k i"))

    def latex(self, result: str, q: str, k: str) -> str:
        return rf"{result} = {q}\,{{{k}}}^{{\top}}"

    def numpy(self, result: str, q: str, k: str) -> tuple[str, ...]:
        return (f"{result} = {q} @ {k}.swapaxes(-1, -2)",)
