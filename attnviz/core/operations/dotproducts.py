"""Dot products: how well each query fits each key."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.groups import by_group, of_groups, repeated, repeating
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Operand, Operation
from attnviz.core.operations.rule import Rule, products


@dataclass(frozen=True)
class DotProducts(Operation):
    """Q K^T: each query's dot product with each key (Vaswani et al. 2017, equation 1).

    With `shared_by` so many heads in a row read the keys of one group (Ainslie et al. 2023, "GQA").
    """

    shared_by: int = 1

    operands = (Operand("row"), Operand("column", "×", transposed=True))

    @property
    def in_multihead(self) -> bool:
        return self.shared_by == 1

    def compute(self, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return q @ repeated(k, self.shared_by).swapaxes(-1, -2)

    def vjp(self, upstream: np.ndarray, q: np.ndarray, k: np.ndarray) -> Derivatives:
        of_keys = upstream.swapaxes(-1, -2) @ q
        return upstream @ repeated(k, self.shared_by), by_group(of_keys, self.shared_by)

    def extent(self, q: Input, k: Input) -> AxesAndShape:
        return (q.axes[0], q.axes[1], k.axes[1]), (q.shape[0], q.shape[1], k.shape[1])

    def bound(self, q: Input, k: Input) -> float:
        return q.bound * k.bound * k.shape[-1]

    def rule(self, q: Input, k: Input) -> Rule:
        if self.shared_by == 1:
            return products("h q k", (q, "h q i"), (k, "h k i"))
        return of_groups(products("(g r) q k", (q, "(g r) q i"), (k, "g k i")), self.shared_by)

    def latex(self, result: str, q: str, k: str) -> str:
        return rf"{result} = {q}\,{{{k}}}^{{\top}}"

    def numpy(self, result: str, q: str, k: str) -> tuple[str, ...]:
        return (f"{result} = {q} @ {repeating(k, self.shared_by)}.swapaxes(-1, -2)",)
