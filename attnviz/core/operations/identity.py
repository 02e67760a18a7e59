"""Identity: an input that is passed on as it is."""

from dataclasses import dataclass, replace

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Rule, copies
from attnviz.core.terms import Copy, Terms


@dataclass(frozen=True)
class Identity(Operation):
    """The input itself; with `heads`, once for each head (a projection that is left out)."""

    rows: str
    heads: int | None = None
    operands = (Operand("cell"),)

    def compute(self, x: np.ndarray) -> np.ndarray:
        return x.copy() if self.heads is None else np.repeat(x[..., None, :, :], self.heads, axis=-3)

    def vjp(self, upstream: np.ndarray, x: np.ndarray) -> Derivatives:
        return (upstream if self.heads is None else upstream.sum(axis=-3),)

    def extent(self, x: Input) -> AxesAndShape:
        if self.heads is None:
            return (self.rows, x.axes[-1]), x.shape
        return ("head", self.rows, x.axes[-1]), (self.heads, *x.shape)

    def bound(self, x: Input) -> float:
        return x.bound

    def rule(self, x: Input) -> Rule:
        if self.heads is None:
            return copies(x, "q f", "q f")
        rule = copies(x, "h q f", "q f")
        return replace(rule, sizes={"h": self.heads, **rule.sizes})

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Copy(*reads[0])

    def latex(self, result: str, x: str) -> str:
        return f"{result} = {x}"

    def numpy(self, result: str, x: str) -> tuple[str, ...]:
        copied = f"{x}.copy()" if self.heads is None else f"np.repeat({x}[None], {self.heads}, 0)"
        return (f"{result} = {copied}",)
