"""Scoring: how queries and keys become attention. Their dot products are scaled, hidden by a mask, and made shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attnviz.core import terms
from attnviz.core.errors import ArrayError
from attnviz.core.operations.operation import Derivatives, Index, Operand, over_heads
from attnviz.core.terms import Terms

if TYPE_CHECKING:
    from attnviz.core.trace import Stage


@dataclass(frozen=True)
class DotProducts:
    """Q K^T: each query's dot product with each key (Vaswani et al. 2017, equation 1)."""

    operands = (Operand("row"), Operand("column", "×", transposed=True))

    def compute(self, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return q @ k.swapaxes(-1, -2)

    def vjp(self, upstream: np.ndarray, value: np.ndarray, q: np.ndarray, k: np.ndarray) -> Derivatives:
        return upstream @ k, upstream.swapaxes(-1, -2) @ q

    def axes(self, q: Stage, k: Stage) -> tuple[str, ...]:
        return (*q.axes[:-1], k.axes[-2])

    def terms(self, index: Index, q: Stage, k: Stage) -> Terms:
        head, query, key = index
        return terms.Sum(tuple((q.cell((head, query, i)), k.cell((head, key, i))) for i in range(q.shape[-1])))

    def latex(self, result: str, q: str, k: str) -> str:
        return rf"{result} = {q}\,{{{k}}}^{{\top}}"

    def numpy(self, result: str, q: str, k: str) -> str:
        return f"{result} = {q} @ {k}.swapaxes(-1, -2)"


@dataclass(frozen=True)
class Scale:
    """Scores over sqrt(d_k) (Vaswani et al. 2017, section 3.2.1), or times a `factor` of one's own."""

    d_k: int
    factor: float | None = None

    @property
    def operands(self) -> tuple[Operand, ...]:
        by = f"÷ √{self.d_k}" if self.factor is None else f"× {self.factor:g}"
        return (Operand("cell", after=by),)

    def compute(self, scores: np.ndarray) -> np.ndarray:
        return scores / np.sqrt(self.d_k) if self.factor is None else scores * self.factor

    def vjp(self, upstream: np.ndarray, value: np.ndarray, scores: np.ndarray) -> Derivatives:
        return (self.compute(upstream),)

    def axes(self, scores: Stage) -> tuple[str, ...]:
        return scores.axes

    def terms(self, index: Index, scores: Stage) -> Terms:
        if self.factor is None:
            return terms.Scaled(scores.cell(index), divisor=math.sqrt(self.d_k))
        return terms.Scaled(scores.cell(index), factor=self.factor)

    def latex(self, result: str, scores: str) -> str:
        if self.factor is None:
            return rf"{result} = \frac{{{scores}}}{{\sqrt{{d_k}}}} = \frac{{{scores}}}{{\sqrt{{{self.d_k}}}}}"
        return rf"{result} = {self.factor:g} \cdot {scores}"

    def numpy(self, result: str, scores: str) -> str:
        by = f"/ np.sqrt({self.d_k})" if self.factor is None else f"* {self.factor!r}"
        return f"{result} = {scores} {by}"


@dataclass(frozen=True)
class Hide:
    """A boolean mask: a visible key keeps its score, a hidden one gets -inf.

    It selects. Multiplying by the mask would leave a score of 0, which is a
    share like any other, and adding -1e9 would not hide a score of 1e9.
    """

    operands = (Operand("cell"), Operand("cell", "where"))

    def compute(self, scaled: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.where(mask, scaled, -np.inf)

    def vjp(self, upstream: np.ndarray, value: np.ndarray, scaled: np.ndarray, mask: np.ndarray) -> Derivatives:
        return np.where(mask, upstream, 0), None

    def axes(self, scaled: Stage, mask: Stage) -> tuple[str, ...]:
        return scaled.axes

    def terms(self, index: Index, scaled: Stage, mask: Stage) -> Terms:
        return terms.Masked(scaled.cell(index), mask.cell(index[-len(mask.shape) :]))

    def latex(self, result: str, scaled: str, mask: str) -> str:
        return rf"{result} = {scaled} \text{{ where }} {mask} \text{{, else }} -\infty"

    def numpy(self, result: str, scaled: str, mask: str) -> str:
        return f"{result} = np.where({mask}, {scaled}, -np.inf)"


@dataclass(frozen=True)
class AddMask:
    """A float mask: its numbers are added to the scores; -inf hides a key."""

    operands = (Operand("cell"), Operand("cell", "+"))

    def compute(self, scaled: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return scaled + mask

    def vjp(self, upstream: np.ndarray, value: np.ndarray, scaled: np.ndarray, mask: np.ndarray) -> Derivatives:
        moves = np.where(np.isneginf(value), 0, upstream)  # what is added to -inf moves nothing
        return moves, over_heads(moves, mask)

    def axes(self, scaled: Stage, mask: Stage) -> tuple[str, ...]:
        return scaled.axes

    def terms(self, index: Index, scaled: Stage, mask: Stage) -> Terms:
        return terms.Sum(((scaled.cell(index),), (mask.cell(index[-len(mask.shape) :]),)))

    def latex(self, result: str, scaled: str, mask: str) -> str:
        return f"{result} = {scaled} + {mask}"

    def numpy(self, result: str, scaled: str, mask: str) -> str:
        return f"{result} = {scaled} + {mask}"


@dataclass(frozen=True)
class Softmax:
    """exp(score - max) / sum along the keys; a query that sees no key gets a row of zeros.

    Without the shift by the row's maximum exp overflows from 710 on. `initial`
    keeps the maximum of a row of -inf finite, as -inf - -inf would be NaN; and
    as the largest exponential of any other row is exp(0) = 1, its sum is at
    least 1, so that `np.maximum` only ever touches a row of zeros.
    """

    operands = (Operand("row", "softmax"),)

    def compute(self, masked: np.ndarray) -> np.ndarray:
        exponentials = np.exp(masked - masked.max(axis=-1, keepdims=True, initial=np.finfo(float).min))
        return exponentials / np.maximum(exponentials.sum(axis=-1, keepdims=True), 1)

    def vjp(self, upstream: np.ndarray, value: np.ndarray, masked: np.ndarray) -> Derivatives:
        # d a_m / d z_j = a_m (delta_mj - a_j): 0 for a hidden key, and for all keys of a query that sees none
        return (value * (upstream - (upstream * value).sum(axis=-1, keepdims=True)),)

    def axes(self, masked: Stage) -> tuple[str, ...]:
        return masked.axes

    def terms(self, index: Index, masked: Stage) -> Terms:
        *row, place = index
        return terms.Share(tuple(masked.cell((*row, key)) for key in range(masked.shape[-1])), place)

    def latex(self, result: str, masked: str) -> str:
        shifted = r"\exp(z_{nm} - \max_j z_{nj})"
        share = rf"a_{{nm}} = \frac{{{shifted}}}{{\sum_m {shifted}}}"
        return rf"{result} = \mathrm{{softmax}}({masked}): \quad {share}"

    def numpy(self, result: str, masked: str) -> str:
        return (
            f"{result} = (e := np.exp({masked} - {masked}.max(axis=-1, keepdims=True, initial=np.finfo(float).min)))"
            " / np.maximum(e.sum(axis=-1, keepdims=True), 1)"
        )


@dataclass(frozen=True)
class SumNormalise:
    """Each number over the sum of its row: what is sometimes shown before softmax, or in its place.

    The rows add up to 1, but a negative score gets a negative share, adding a
    constant to all scores changes the shares, and a row that adds up to 0 has
    none. A hidden key counts 0; a query that sees no key gets a row of zeros.
    """

    operands = (Operand("row", "÷ row sum"),)

    def compute(self, masked: np.ndarray) -> np.ndarray:
        divisor = self._divisor(masked)
        if not (np.isfinite(divisor) & (divisor != 0)).all():
            raise ArrayError("A row divided by its sum must add up to a finite number other than 0. Use softmax.")
        return np.where(np.isneginf(masked), 0, masked) / divisor

    def vjp(self, upstream: np.ndarray, value: np.ndarray, masked: np.ndarray) -> tuple[np.ndarray]:
        # d a_m / d z_j = (delta_mj - a_m) / sum of z
        moves = (upstream - (upstream * value).sum(axis=-1, keepdims=True)) / self._divisor(masked)
        return (np.where(np.isneginf(masked), 0, moves),)

    def _divisor(self, masked: np.ndarray) -> np.ndarray:
        hidden = np.isneginf(masked)
        total = np.where(hidden, 0, masked).sum(axis=-1, keepdims=True)
        return np.where(hidden.all(axis=-1, keepdims=True), 1, total)

    def axes(self, masked: Stage) -> tuple[str, ...]:
        return masked.axes

    def terms(self, index: Index, masked: Stage) -> Terms:
        *row, place = index
        return terms.Proportion(tuple(masked.cell((*row, key)) for key in range(masked.shape[-1])), place)

    def latex(self, result: str, masked: str) -> str:
        return rf"{result}: \quad a_{{nm}} = \frac{{z_{{nm}}}}{{\sum_m z_{{nm}}}}, \quad z = {masked}"

    def numpy(self, result: str, masked: str) -> str:
        hidden = f"np.isneginf({masked})"
        return (
            f"{result} = (z := np.where({hidden}, 0, {masked}))"
            f" / np.where({hidden}.all(axis=-1, keepdims=True), 1, z.sum(axis=-1, keepdims=True))"
        )
