"""Linear operations: sums, copies and products of matrices, from the projections to the output."""

from dataclasses import dataclass, replace

import numpy as np

from attnviz.core.operations.operation import Derivatives, Operand, Operation, sum_broadcast
from attnviz.core.operations.rule import AxesAndShape, Input, Line, Rule, Slot, Variant, copies, products


def repeat_groups(groups: np.ndarray, times: int) -> np.ndarray:
    """Repeat the array of each group for the heads that share it."""
    return groups if times == 1 else np.repeat(groups, times, axis=-3)


def sum_groups(derivatives: np.ndarray, times: int) -> np.ndarray:
    """Sum derivatives over the heads that share a group."""
    if times == 1:
        return derivatives
    *batch, n_heads, rows, columns = derivatives.shape
    return derivatives.reshape(*batch, n_heads // times, times, rows, columns).sum(axis=-3)


def group_rule(rule: Rule, times: int) -> Rule:
    """A rule in which the axis of heads is `(g r)`, and `r` counts the heads of a group."""
    return replace(rule, sizes={**rule.sizes, "r": times})


def repeat_groups_code(name: str, times: int) -> str:
    """`repeat_groups` in NumPy."""
    return name if times == 1 else f"np.repeat({name}, {times}, axis=0)"


@dataclass(frozen=True)
class Identity(Operation):
    """The input itself; with `heads`, once for each head (in place of a projection)."""

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

    def rule(self, x: Input) -> Rule:
        if self.heads is None:
            return copies(x, "q f", "q f")
        rule = copies(x, "h q f", "q f")
        return replace(rule, sizes={"h": self.heads, **rule.sizes})

    def latex(self, result: str, x: str) -> str:
        return f"{result} = {x}"

    def numpy(self, result: str, x: str) -> tuple[str, ...]:
        copied = f"{x}.copy()" if self.heads is None else f"np.repeat({x}[None], {self.heads}, 0)"
        return (f"{result} = {copied}",)


@dataclass(frozen=True)
class Addition(Operation):
    """E + P (Vaswani et al. 2017, section 3.5); with `hides`, scores plus a float mask in which -inf hides a key.

    The second input may lack the axes of heads and batch; it is then broadcast.
    """

    hides: bool = False
    operands = (Operand("cell"), Operand("cell", "+"))
    in_multihead = True

    def compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + b

    def vjp(self, upstream: np.ndarray, a: np.ndarray, b: np.ndarray) -> Derivatives:
        moves = np.where(np.isneginf(a + b), 0, upstream)  # a number added to -inf has no effect
        return moves, sum_broadcast(moves, b)

    def bound(self, a: Input, b: Input) -> float:
        return a.bound + b.bound

    def rule(self, a: Input, b: Input) -> Rule:
        letters = "q f" if len(a.shape) == 2 else "h q k"
        slots = {"a": Slot(0, letters), "b": Slot(1, letters[-2 * len(b.shape) + 1 :])}
        lines = (Line(("a",), "{a}"), Line(("b",), "{b}"))
        return Rule.of((a, b), letters, slots, Variant(lines, "the sum of {n}, added up unrounded", "{a:bt} + {b:bt}"))

    def latex(self, result: str, a: str, b: str) -> str:
        return f"{result} = {a} + {b}"

    def numpy(self, result: str, a: str, b: str) -> tuple[str, ...]:
        return (f"{result} = {a} + {b}",)


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
        of_w = sum_broadcast(_for_each_head(x, w).swapaxes(-1, -2) @ upstream, w)
        if w.ndim == 3:
            of_x = of_x.sum(axis=-3)
        return (of_x, of_w) if b is None else (of_x, of_w, sum_broadcast(upstream.sum(axis=-2), b))

    def extent(self, x: Input, w: Input, b: Input | None = None) -> AxesAndShape:
        return (*w.axes[:-2], self.rows, w.axes[-1]), (*w.shape[:-2], x.shape[-2], w.shape[-1])

    def rule(self, x: Input, w: Input, b: Input | None = None) -> Rule:
        head = "h " * (len(w.shape) == 3)
        bias = () if b is None else ((b, f"{head}f"),)
        return products(f"{head}q f", (x, "q i"), (w, f"{head}i f"), *bias)

    def latex(self, result: str, x: str, w: str, b: str | None = None) -> str:
        return rf"{result} = {x}\,{w}" + ("" if b is None else f" + {b}")

    def numpy(self, result: str, x: str, w: str, b: str | None = None) -> tuple[str, ...]:
        return (f"{result} = {x} @ {w}" + ("" if b is None else f" + {b}[..., None, :]"),)


def _for_each_head(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The vectors with an axis of length 1 for the matrices' axis of heads."""
    return x[..., None, :, :] if w.ndim == 3 else x


@dataclass(frozen=True)
class HeadProjection(Operation):
    """H_i W_i: each head's rows times its matrix, or its transpose (DeepSeek-AI 2024, "DeepSeek-V2", eq. 9-19)."""

    shared_by: int = 1  # how many heads in a row read the rows of one group
    # whether to multiply by the transpose: applied to queries instead of keys, as q · (c W) = (q Wᵀ) · c
    transposed: bool = False

    @property
    def operands(self) -> tuple[Operand, ...]:
        return Operand("row"), Operand("column", "×", transposed=self.transposed)

    def compute(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return repeat_groups(x, self.shared_by) @ self._matrix(w)

    def vjp(self, upstream: np.ndarray, x: np.ndarray, w: np.ndarray) -> Derivatives:
        of_x = sum_groups(upstream @ self._matrix(w).swapaxes(-1, -2), self.shared_by)
        of_w = self._matrix(repeat_groups(x, self.shared_by).swapaxes(-1, -2) @ upstream)
        return of_x, sum_broadcast(of_w, w)

    def extent(self, x: Input, w: Input) -> AxesAndShape:
        last = 1 if self.transposed else 2
        return (w.axes[0], x.axes[1], w.axes[last]), (w.shape[0], x.shape[1], w.shape[last])

    def rule(self, x: Input, w: Input) -> Rule:
        at = "f i" if self.transposed else "i f"
        if self.shared_by == 1:
            return products("h q f", (x, "h q i"), (w, f"h {at}"))
        return group_rule(products("(g r) q f", (x, "g q i"), (w, f"(g r) {at}")), self.shared_by)

    def latex(self, result: str, x: str, w: str) -> str:
        return rf"{result} = {x}\,{{{w}}}^{{\top}}" if self.transposed else rf"{result} = {x}\,{w}"

    def numpy(self, result: str, x: str, w: str) -> tuple[str, ...]:
        return (f"{result} = {repeat_groups_code(x, self.shared_by)} @ {w}" + ".swapaxes(-1, -2)" * self.transposed,)

    def _matrix(self, w: np.ndarray) -> np.ndarray:
        return w.swapaxes(-1, -2) if self.transposed else w


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
        return q @ repeat_groups(k, self.shared_by).swapaxes(-1, -2)

    def vjp(self, upstream: np.ndarray, q: np.ndarray, k: np.ndarray) -> Derivatives:
        of_keys = upstream.swapaxes(-1, -2) @ q
        return upstream @ repeat_groups(k, self.shared_by), sum_groups(of_keys, self.shared_by)

    def extent(self, q: Input, k: Input) -> AxesAndShape:
        return (q.axes[0], q.axes[1], k.axes[1]), (q.shape[0], q.shape[1], k.shape[1])

    def rule(self, q: Input, k: Input) -> Rule:
        if self.shared_by == 1:
            return products("h q k", (q, "h q i"), (k, "h k i"))
        return group_rule(products("(g r) q k", (q, "(g r) q i"), (k, "g k i")), self.shared_by)

    def latex(self, result: str, q: str, k: str) -> str:
        return rf"{result} = {q}\,{{{k}}}^{{\top}}"

    def numpy(self, result: str, q: str, k: str) -> tuple[str, ...]:
        return (f"{result} = {q} @ {repeat_groups_code(k, self.shared_by)}.swapaxes(-1, -2)",)


@dataclass(frozen=True)
class WeightedSum(Operation):
    """A V: each query's average of the values, by its attention weights.

    With `shared_by` so many heads in a row read the values of one group (Ainslie et al. 2023, "GQA").
    """

    shared_by: int = 1

    operands = (Operand("row"), Operand("column", "×"))

    @property
    def in_multihead(self) -> bool:
        return self.shared_by == 1

    def compute(self, attention: np.ndarray, v: np.ndarray) -> np.ndarray:
        return attention @ repeat_groups(v, self.shared_by)

    def vjp(self, upstream: np.ndarray, attention: np.ndarray, v: np.ndarray) -> Derivatives:
        of_values = attention.swapaxes(-1, -2) @ upstream
        return upstream @ repeat_groups(v, self.shared_by).swapaxes(-1, -2), sum_groups(of_values, self.shared_by)

    def extent(self, attention: Input, v: Input) -> AxesAndShape:
        axes, shape = attention.axes, attention.shape
        return (axes[0], axes[1], v.axes[2]), (shape[0], shape[1], v.shape[2])

    def rule(self, attention: Input, v: Input) -> Rule:
        if self.shared_by == 1:
            return products("h q f", (attention, "h q i"), (v, "h i f"))
        return group_rule(products("(g r) q f", (attention, "(g r) q i"), (v, "g i f")), self.shared_by)

    def latex(self, result: str, attention: str, v: str) -> str:
        return rf"{result} = {attention}\,{v}"

    def numpy(self, result: str, attention: str, v: str) -> tuple[str, ...]:
        return (f"{result} = {attention} @ {repeat_groups_code(v, self.shared_by)}",)


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

    def rule(self, heads: Input) -> Rule:
        return copies(heads, "q (h f)", "h q f")

    def latex(self, result: str, heads: str) -> str:
        return rf"{result} = [{heads.replace('_i', '_1')} \;\cdots\; {heads.replace('_i', '_h')}]"

    def numpy(self, result: str, heads: str) -> tuple[str, ...]:
        return (f"{result} = np.concatenate({heads}, axis=-1)",)


@dataclass(frozen=True)
class Contributions(Operation):
    """Each head's part of the output: its entries times its rows of W_O.

    Concatenating and multiplying by W_O is the same as adding these up over the heads (Elhage et al. 2021, "A
    Mathematical Framework for Transformer Circuits").
    """

    operands = (Operand("row"), Operand("column", "×"))
    in_multihead = True

    def compute(self, heads: np.ndarray, w_o: np.ndarray) -> np.ndarray:
        return heads @ w_o.reshape(*heads.shape[-3::2], -1)

    def vjp(self, upstream: np.ndarray, heads: np.ndarray, w_o: np.ndarray) -> Derivatives:
        bands = w_o.reshape(*heads.shape[-3::2], -1)
        of_bands = sum_broadcast(heads.swapaxes(-1, -2) @ upstream, bands)
        return upstream @ bands.swapaxes(-1, -2), of_bands.reshape(w_o.shape)

    def extent(self, heads: Input, w_o: Input) -> AxesAndShape:
        return (heads.axes[0], heads.axes[1], w_o.axes[1]), (heads.shape[0], heads.shape[1], w_o.shape[1])

    def rule(self, heads: Input, w_o: Input) -> Rule:
        return products("h q c", (heads, "h q i"), (w_o, "(h i) c"))

    def latex(self, result: str, heads: str, w_o: str) -> str:
        _, _, head = heads.rpartition("_")  # the band of W_O is the one of the same head
        return rf"{result} = {heads}\,{w_o}_{head}"

    def numpy(self, result: str, heads: str, w_o: str) -> tuple[str, ...]:
        return (f"{result} = {heads} @ {w_o}.reshape(*{heads}.shape[::2], -1)",)
