"""Operations: how a stage is made from earlier ones. Nothing outside this module knows it.

Every operation has the same shape. `compute` makes the array, `vjp` takes a
derivative back through it, `axes` names its axes, `terms` takes one cell apart,
`latex` and `numpy` write the whole of it, and `operands` says how its picture
is read: which part of each input one cell of the result comes from.

`vjp` is the vector-Jacobian product: of `upstream`, the derivatives of some
number with respect to each cell of `value` (what `compute` made of the same
inputs), it makes those with respect to each cell of each input, in the input's
shape, or None for a boolean mask, which has no derivative.

Wherever arrays have heads, the axis of heads comes first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from attnviz import terms
from attnviz.errors import ArrayError
from attnviz.terms import Terms

if TYPE_CHECKING:
    from attnviz.trace import Stage

Index = tuple[int, ...]
Derivatives = tuple[np.ndarray | None, ...]


@dataclass(frozen=True)
class Operand:
    """How one input is read for the cell (row, column) of the result, and drawn beside it."""

    reads: Literal["row", "column", "cell"]
    sign: str = ""
    after: str = ""
    transposed: bool = False


@dataclass(frozen=True)
class Given:
    """A stage that comes from nothing: what was typed, drawn or handed in."""

    recipe: str
    operands = ()

    def terms(self, index: Index, *, value: float) -> Terms:
        return terms.Given(value, self.recipe)


def _over_heads(derivatives: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Add up the derivatives of an array that was read once for each head; of any other, leave them."""
    return derivatives.reshape(-1, *like.shape).sum(axis=0)


@dataclass(frozen=True)
class Identity:
    """The input itself; with `heads`, once for each head (a projection that is left out)."""

    rows: str
    heads: int | None = None
    operands = (Operand("cell"),)

    def compute(self, x: np.ndarray) -> np.ndarray:
        return x.copy() if self.heads is None else np.repeat(x[None], self.heads, axis=0)

    def vjp(self, upstream: np.ndarray, value: np.ndarray, x: np.ndarray) -> Derivatives:
        return (_over_heads(upstream, x),)

    def axes(self, x: Stage) -> tuple[str, ...]:
        return (*(() if self.heads is None else ("head",)), self.rows, x.axes[-1])

    def terms(self, index: Index, x: Stage) -> Terms:
        return terms.Copy(x.cell(index[-2:]))

    def latex(self, result: str, x: str) -> str:
        return f"{result} = {x}"

    def numpy(self, result: str, x: str) -> str:
        return f"{result} = {x}.copy()" if self.heads is None else f"{result} = np.repeat({x}[None], {self.heads}, 0)"


@dataclass(frozen=True)
class Addition:
    """E + P: positions are added to embeddings (Vaswani et al. 2017, section 3.5)."""

    operands = (Operand("cell"), Operand("cell", "+"))

    def compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + b

    def vjp(self, upstream: np.ndarray, value: np.ndarray, a: np.ndarray, b: np.ndarray) -> Derivatives:
        return upstream, upstream

    def axes(self, a: Stage, b: Stage) -> tuple[str, ...]:
        return a.axes

    def terms(self, index: Index, a: Stage, b: Stage) -> Terms:
        return terms.Sum(((a.cell(index),), (b.cell(index),)))

    def latex(self, result: str, a: str, b: str) -> str:
        return f"{result} = {a} + {b}"

    def numpy(self, result: str, a: str, b: str) -> str:
        return f"{result} = {a} + {b}"


@dataclass(frozen=True)
class Projection:
    """x W + b, rows times columns: Q, K and V of each head, and the output (Vaswani et al. 2017, section 3.2.2)."""

    rows: str
    operands = (Operand("row"), Operand("column", "×"), Operand("column", "+"))

    def compute(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        return x @ w if b is None else x @ w + b[..., None, :]

    def vjp(
        self, upstream: np.ndarray, value: np.ndarray, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None
    ) -> Derivatives:
        of_x, of_w = _over_heads(upstream @ w.swapaxes(-1, -2), x), x.T @ upstream
        return (of_x, of_w) if b is None else (of_x, of_w, upstream.sum(axis=-2))

    def axes(self, x: Stage, w: Stage, b: Stage | None = None) -> tuple[str, ...]:
        return (*w.axes[:-2], self.rows, w.axes[-1])

    def terms(self, index: Index, x: Stage, w: Stage, b: Stage | None = None) -> Terms:
        *head, row, column = index
        products = [(x.cell((row, i)), w.cell((*head, i, column))) for i in range(x.shape[-1])]
        return terms.Sum((*products, *([] if b is None else [(b.cell((*head, column)),)])))

    def latex(self, result: str, x: str, w: str, b: str | None = None) -> str:
        return rf"{result} = {x}\,{w}" + ("" if b is None else f" + {b}")

    def numpy(self, result: str, x: str, w: str, b: str | None = None) -> str:
        return f"{result} = {x} @ {w}" + ("" if b is None else f" + {b}[..., None, :]")


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
        return terms.Selection(scaled.cell(index), mask.cell(index[-len(mask.shape) :]))

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
        return moves, _over_heads(moves, mask)

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


@dataclass(frozen=True)
class WeightedSum:
    """A V: each query's mixture of the values, in the shares of its attention."""

    operands = (Operand("row"), Operand("column", "×"))

    def compute(self, attention: np.ndarray, v: np.ndarray) -> np.ndarray:
        return attention @ v

    def vjp(self, upstream: np.ndarray, value: np.ndarray, attention: np.ndarray, v: np.ndarray) -> Derivatives:
        return upstream @ v.swapaxes(-1, -2), attention.swapaxes(-1, -2) @ upstream

    def axes(self, attention: Stage, v: Stage) -> tuple[str, ...]:
        return (*attention.axes[:-1], v.axes[-1])

    def terms(self, index: Index, attention: Stage, v: Stage) -> Terms:
        head, query, feature = index
        return terms.Sum(
            tuple((attention.cell((head, query, key)), v.cell((head, key, feature))) for key in range(v.shape[-2]))
        )

    def latex(self, result: str, attention: str, v: str) -> str:
        return rf"{result} = {attention}\,{v}"

    def numpy(self, result: str, attention: str, v: str) -> str:
        return f"{result} = {attention} @ {v}"


@dataclass(frozen=True)
class Concatenation:
    """The heads' outputs side by side, head 1 first."""

    operands = (Operand("cell"),)

    def compute(self, heads: np.ndarray) -> np.ndarray:
        return np.concatenate(heads, axis=-1)

    def vjp(self, upstream: np.ndarray, value: np.ndarray, heads: np.ndarray) -> Derivatives:
        return (np.stack(np.split(upstream, len(heads), axis=-1)),)

    def axes(self, heads: Stage) -> tuple[str, ...]:
        return (heads.axes[1], "heads * d_v")

    def terms(self, index: Index, heads: Stage) -> Terms:
        query, column = index
        head, feature = divmod(column, heads.shape[-1])
        return terms.Copy(heads.cell((head, query, feature)))

    def latex(self, result: str, heads: str) -> str:
        return rf"{result} = [{heads.replace('_i', '_1')} \;\cdots\; {heads.replace('_i', '_h')}]"

    def numpy(self, result: str, heads: str) -> str:
        return f"{result} = np.concatenate({heads}, axis=-1)"


@dataclass(frozen=True)
class Contributions:
    """Each head's own part of the output: its entries times its band of rows of W_O.

    Concatenating and multiplying by W_O is the same as adding these up over the
    heads (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits").
    """

    operands = (Operand("row"), Operand("column", "×"))

    def compute(self, heads: np.ndarray, w_o: np.ndarray) -> np.ndarray:
        return heads @ w_o.reshape(*heads.shape[::2], -1)

    def vjp(self, upstream: np.ndarray, value: np.ndarray, heads: np.ndarray, w_o: np.ndarray) -> Derivatives:
        bands = w_o.reshape(*heads.shape[::2], -1)
        return upstream @ bands.swapaxes(-1, -2), (heads.swapaxes(-1, -2) @ upstream).reshape(w_o.shape)

    def axes(self, heads: Stage, w_o: Stage) -> tuple[str, ...]:
        return (*heads.axes[:2], w_o.axes[-1])

    def terms(self, index: Index, heads: Stage, w_o: Stage) -> Terms:
        head, query, column = index
        d_v = heads.shape[-1]
        return terms.Sum(tuple((heads.cell((head, query, i)), w_o.cell((head * d_v + i, column))) for i in range(d_v)))

    def latex(self, result: str, heads: str, w_o: str) -> str:
        return rf"{result} = {heads}\,{w_o}_i"

    def numpy(self, result: str, heads: str, w_o: str) -> str:
        return f"{result} = {heads} @ {w_o}.reshape(*{heads}.shape[::2], -1)"


Operation = (
    Given
    | Identity
    | Addition
    | Projection
    | DotProducts
    | Scale
    | Hide
    | AddMask
    | Softmax
    | SumNormalise
    | WeightedSum
    | Concatenation
    | Contributions
)
