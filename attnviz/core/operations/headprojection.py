"""Head projection: what each head has, times a matrix of its own."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.groups import by_group, of_groups, repeated, repeating
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Operand, Operation, added_up
from attnviz.core.operations.rule import Rule, products


@dataclass(frozen=True)
class HeadProjection(Operation):
    """H_i W_i: each head's rows times its matrix, or its transpose (DeepSeek-AI 2024, "DeepSeek-V2", equations 9-19).

    Attributes
    ----------
    shared_by : int
        How many heads in a row read the rows of one group.
    transposed : bool
        Whether the rows are multiplied by the transpose: what a matrix does to keys is done to queries instead,
        as q · (c W) = (q Wᵀ) · c.
    """

    shared_by: int = 1
    transposed: bool = False

    @property
    def operands(self) -> tuple[Operand, ...]:
        return Operand("row"), Operand("column", "×", transposed=self.transposed)

    def compute(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return repeated(x, self.shared_by) @ self._turned(w)

    def vjp(self, upstream: np.ndarray, x: np.ndarray, w: np.ndarray) -> Derivatives:
        of_x = by_group(upstream @ self._turned(w).swapaxes(-1, -2), self.shared_by)
        of_w = self._turned(repeated(x, self.shared_by).swapaxes(-1, -2) @ upstream)
        return of_x, added_up(of_w, w)

    def extent(self, x: Input, w: Input) -> AxesAndShape:
        last = 1 if self.transposed else 2
        return (w.axes[0], x.axes[1], w.axes[last]), (w.shape[0], x.shape[1], w.shape[last])

    def bound(self, x: Input, w: Input) -> float:
        return x.bound * w.bound * x.shape[-1]

    def rule(self, x: Input, w: Input) -> Rule:
        at = "f i" if self.transposed else "i f"
        if self.shared_by == 1:
            return products("h q f", (x, "h q i"), (w, f"h {at}"))
        return of_groups(products("(g r) q f", (x, "g q i"), (w, f"(g r) {at}")), self.shared_by)

    def latex(self, result: str, x: str, w: str) -> str:
        return rf"{result} = {x}\,{{{w}}}^{{\top}}" if self.transposed else rf"{result} = {x}\,{w}"

    def numpy(self, result: str, x: str, w: str) -> tuple[str, ...]:
        return (f"{result} = {repeating(x, self.shared_by)} @ {w}" + ".swapaxes(-1, -2)" * self.transposed,)

    def _turned(self, w: np.ndarray) -> np.ndarray:
        return w.swapaxes(-1, -2) if self.transposed else w
