"""Linear operations: vectors are copied, added, projected and mixed; a mixture is a sum of products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attnviz.core import terms
from attnviz.core.operations.operation import Derivatives, Index, Operand, over_heads
from attnviz.core.terms import Terms

if TYPE_CHECKING:
    from attnviz.core.trace import Stage


@dataclass(frozen=True)
class Identity:
    """The input itself; with `heads`, once for each head (a projection that is left out)."""

    rows: str
    heads: int | None = None
    operands = (Operand("cell"),)

    def compute(self, x: np.ndarray) -> np.ndarray:
        return x.copy() if self.heads is None else np.repeat(x[None], self.heads, axis=0)

    def vjp(self, upstream: np.ndarray, value: np.ndarray, x: np.ndarray) -> Derivatives:
        return (over_heads(upstream, x),)

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
        of_x, of_w = over_heads(upstream @ w.swapaxes(-1, -2), x), x.T @ upstream
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
        _, _, head = heads.rpartition("_")  # the band of W_O is the one of the same head
        return rf"{result} = {heads}\,{w_o}_{head}"

    def numpy(self, result: str, heads: str, w_o: str) -> str:
        return f"{result} = {heads} @ {w_o}.reshape(*{heads}.shape[::2], -1)"
