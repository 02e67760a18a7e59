"""Projection: vectors times a matrix."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Operand, Operation, added_up
from attnviz.core.operations.rule import Rule, products


@dataclass(frozen=True)
class Projection(Operation):
    """x W + b, rows times columns: Q, K and V of each head, and the output (Vaswani et al. 2017, section 3.2.2)."""

    rows: str
    operands = (Operand("row"), Operand("column", "×"), Operand("column", "+"))
    in_multihead = True

    def compute(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        projected = _for_each_head(x, w) @ w
        return projected if b is None else projected + b[..., None, :]

    def vjp(self, upstream: np.ndarray, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> Derivatives:
        of_x = upstream @ w.swapaxes(-1, -2)
        of_w = added_up(_for_each_head(x, w).swapaxes(-1, -2) @ upstream, w)
        if w.ndim == 3:
            of_x = of_x.sum(axis=-3)
        return (of_x, of_w) if b is None else (of_x, of_w, added_up(upstream.sum(axis=-2), b))

    def extent(self, x: Input, w: Input, b: Input | None = None) -> AxesAndShape:
        return (*w.axes[:-2], self.rows, w.axes[-1]), (*w.shape[:-2], x.shape[-2], w.shape[-1])

    def bound(self, x: Input, w: Input, b: Input | None = None) -> float:
        return x.bound * w.bound * w.shape[-2] + (0.0 if b is None else b.bound)

    def rule(self, x: Input, w: Input, b: Input | None = None) -> Rule:
        head = "h " * (len(w.shape) == 3)
        bias = () if b is None else ((b, f"{head}f"),)
        return products(f"{head}q f", (x, "q i"), (w, f"{head}i f"), *bias)

    def latex(self, result: str, x: str, w: str, b: str | None = None) -> str:
        return rf"{result} = {x}\,{w}" + ("" if b is None else f" + {b}")

    def numpy(self, result: str, x: str, w: str, b: str | None = None) -> tuple[str, ...]:
        return (f"{result} = {x} @ {w}" + ("" if b is None else f" + {b}[..., None, :]"),)


def _for_each_head(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The vectors with an axis of length 1 where the matrices have their axis of heads."""
    return x[..., None, :, :] if w.ndim == 3 else x
