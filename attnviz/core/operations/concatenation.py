"""Concatenation: the heads' outputs side by side."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Rule, copies
from attnviz.core.terms import Copy, Terms


@dataclass(frozen=True)
class Concatenation(Operation):
    """The heads' outputs side by side, head 1 first."""

    operands = (Operand("cell"),)
    in_multihead = True

    def compute(self, heads: np.ndarray) -> np.ndarray:
        return heads.swapaxes(-3, -2).reshape(*heads.shape[:-3], heads.shape[-2], -1)

    def vjp(self, upstream: np.ndarray, heads: np.ndarray) -> Derivatives:
        return (np.stack(np.split(upstream, heads.shape[-3], axis=-1), axis=-3),)

    def extent(self, heads: Input) -> AxesAndShape:
        return (heads.axes[1], "heads * d_v"), (heads.shape[1], heads.shape[0] * heads.shape[2])

    def bound(self, heads: Input) -> float:
        return heads.bound

    def rule(self, heads: Input) -> Rule:
        return copies(heads, "q (h f)", "h q f")

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Copy(*reads[0])

    def latex(self, result: str, heads: str) -> str:
        return rf"{result} = [{heads.replace('_i', '_1')} \;\cdots\; {heads.replace('_i', '_h')}]"

    def numpy(self, result: str, heads: str) -> tuple[str, ...]:
        return (f"{result} = np.concatenate({heads}, axis=-1)",)
