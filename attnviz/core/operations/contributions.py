"""Contributions: each head's own part of the output."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Operand, Operation, added_up
from attnviz.core.operations.rule import Rule, products


@dataclass(frozen=True)
class Contributions(Operation):
    """Each head's own part of the output: its entries times its band of rows of W_O.

    Concatenating and multiplying by W_O is the same as adding these up over the
    heads (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits").
    """

    operands = (Operand("row"), Operand("column", "×"))
    in_multihead = True

    def compute(self, heads: np.ndarray, w_o: np.ndarray) -> np.ndarray:
        return heads @ w_o.reshape(*heads.shape[-3::2], -1)

    def vjp(self, upstream: np.ndarray, heads: np.ndarray, w_o: np.ndarray) -> Derivatives:
        bands = w_o.reshape(*heads.shape[-3::2], -1)
        of_bands = added_up(heads.swapaxes(-1, -2) @ upstream, bands)
        return upstream @ bands.swapaxes(-1, -2), of_bands.reshape(w_o.shape)

    def extent(self, heads: Input, w_o: Input) -> AxesAndShape:
        return (heads.axes[0], heads.axes[1], w_o.axes[1]), (heads.shape[0], heads.shape[1], w_o.shape[1])

    def bound(self, heads: Input, w_o: Input) -> float:
        return heads.bound * w_o.bound * heads.shape[-1]

    def rule(self, heads: Input, w_o: Input) -> Rule:
        return products("h q c", (heads, "h q i"), (w_o, "(h i) c"))

    def latex(self, result: str, heads: str, w_o: str) -> str:
        _, _, head = heads.rpartition("_")  # the band of W_O is the one of the same head
        return rf"{result} = {heads}\,{w_o}_{head}"

    def numpy(self, result: str, heads: str, w_o: str) -> tuple[str, ...]:
        return (f"{result} = {heads} @ {w_o}.reshape(*{heads}.shape[::2], -1)",)
