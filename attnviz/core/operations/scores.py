"""Operations on scores before the softmax: scaling, softcap, ALiBi and hiding keys."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.numerals import bracketed_tex, digits, tex
from attnviz.core.operations.operation import Derivatives, Index, Lines, Operand, Operation, Recomputed
from attnviz.core.operations.rule import Input, Line, Rule, Slot, Variant
from attnviz.core.terms import rounding_of


@dataclass(frozen=True)
class Scale(Operation):
    """Scores over sqrt(d_k) (Vaswani et al. 2017, section 3.2.1), or times a custom `factor`."""

    d_k: int
    factor: float | None = None
    in_multihead = True

    @property
    def base(self) -> int | None:
        """2 or 3 if the factor is its logarithm, so that exp of a scaled score is a power of it; else None."""
        return next((base for base in (2, 3) if self.factor == math.log(base)), None)

    @property
    def operands(self) -> tuple[Operand, ...]:
        by = f"÷ √{self.d_k}" if self.factor is None else f"× ln {self.base}" if self.base else f"× {self.factor:g}"
        return (Operand("cell", after=by),)

    def compute(self, scores: np.ndarray) -> np.ndarray:
        return scores / math.sqrt(self.d_k) if self.factor is None else scores * self.factor

    def vjp(self, upstream: np.ndarray, scores: np.ndarray) -> Derivatives:
        return (self.compute(upstream),)

    def bound(self, scores: Input) -> float:
        return scores.bound * abs(1.0 if self.factor is None else self.factor)

    def rule(self, scores: Input) -> Rule:
        slots = {"a": Slot(0, "h q k"), "result": Slot("", "h q k")}
        if self.factor is None:
            divisor = math.sqrt(self.d_k)
            text, formula = f"{{a}} ÷ {digits(divisor)}", rf"\frac{{{{a:t}}}}{{{tex(divisor)}}}"
        elif self.base:
            text, formula = f"{{a}} × ln {self.base}", rf"{{a:bt}} \cdot \ln({self.base})"
        else:
            text, formula = f"{{a}} × {digits(self.factor)}", rf"{{a:bt}} \cdot {bracketed_tex(self.factor)}"
        return Rule.of((scores,), "h q k", slots, Variant((Line(("a",), text, "result"),), formula=formula))

    def recomputed(self, index: Index, numbers: Lines) -> Recomputed:
        ((score,),) = numbers
        total = score / math.sqrt(self.d_k) if self.factor is None else score * self.factor
        return total, rounding_of(total)

    def latex(self, result: str, scores: str) -> str:
        if self.factor is None:
            return rf"{result} = \frac{{{scores}}}{{\sqrt{{d_k}}}} = \frac{{{scores}}}{{\sqrt{{{self.d_k}}}}}"
        factor = rf"\ln({self.base})" if self.base else f"{self.factor:g}"
        return rf"{result} = {factor} \cdot {scores}"

    def numpy(self, result: str, scores: str) -> tuple[str, ...]:
        # a Python float: with NumPy's float64, float32 scores would become float64
        by = f"/ float(np.sqrt({self.d_k}))" if self.factor is None else f"* {self.factor!r}"
        return (f"{result} = {scores} {by}{f'  # ln {self.base}' if self.base else ''}",)


LIMITS = (50.0, 30.0)
"""The softcaps of Gemma 2's scores, and of Grok 1's scores and Gemma's logits."""


@dataclass(frozen=True)
class Softcap(Operation):
    """limit · tanh(score / limit) (Gemma 2, Gemma Team 2024, section 2): small scores stay, none exceeds the limit."""

    limit: float

    def __post_init__(self):
        if not (isinstance(self.limit, int | float) and 0 < self.limit < math.inf):
            raise ArrayError(f"softcap must be a finite number above 0, as 50 is; got {self.limit!r}.")

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (Operand("cell", after=f"cap ±{self.limit:g}"),)

    def compute(self, scores: np.ndarray) -> np.ndarray:
        return float(self.limit) * self._tanh(scores)

    def vjp(self, upstream: np.ndarray, scores: np.ndarray) -> Derivatives:
        return (upstream * (1 - self._tanh(scores) ** 2),)

    def _tanh(self, scores: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # tanh of an infinity is 1
            return np.tanh(scores / float(self.limit))

    def rule(self, scores: Input) -> Rule:
        slots = {"a": Slot(0, "h q k"), "result": Slot("", "h q k")}
        limit, written = digits(self.limit), bracketed_tex(self.limit)
        line = Line(("a",), f"{limit} × tanh({{a}} ÷ {limit})", "result")
        formula = rf"{written} \cdot \tanh(\frac{{{{a:t}}}}{{{written}}})"
        return Rule.of((scores,), "h q k", slots, Variant((line,), formula=formula))

    def recomputed(self, index: Index, numbers: Lines) -> Recomputed:
        ((score,),) = numbers
        total = float(self.limit) * math.tanh(score / float(self.limit))
        return total, rounding_of(total, score)

    def latex(self, result: str, scores: str) -> str:
        return rf"{result} = {self.limit:g} \cdot \tanh(\frac{{{scores}}}{{{self.limit:g}}})"

    def numpy(self, result: str, scores: str) -> tuple[str, ...]:
        return (f"{result} = {float(self.limit)!r} * np.tanh({scores} / {float(self.limit)!r})",)


def slopes(n_heads: int) -> tuple[float, ...]:
    """The slope of each head: 2^(-8 h / heads), h from 1 on (Press et al. 2022, section 3).

    If the number of heads is no power of two, take those of the next lower power, then the first, third, fifth ... of
    twice that power.

    >>> slopes(4)
    (0.25, 0.0625, 0.015625, 0.00390625)
    >>> [round(slope, 4) for slope in slopes(12)[7:]]
    [0.0039, 0.7071, 0.3536, 0.1768, 0.0884]
    """
    power = 1 << (n_heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2.0 ** (-4 * h / power) for h in range(1, 2 * power, 2)]
    return tuple([*slopes, *between][:n_heads])


@dataclass(frozen=True)
class ALiBi(Operation):
    """s - slope · |i - j|, a slope for each head (Press et al. 2022, "Train Short, Test Long").

    The paper has a causal mask and subtracts slope · (i - j). Without one that would favour later keys, so here the
    distance counts in both directions.
    """

    n_heads: int
    head: int | None = None  # the head, if the scores are of a single one
    first: int = 0  # the position of the first query
    operands = (Operand("cell", after="− bias"),)

    def compute(self, scores: np.ndarray) -> np.ndarray:
        n_queries, n_keys = scores.shape[-2:]
        heads = slice(None) if self.head is None else slice(self.head, self.head + 1)
        return scores - _bias(self.n_heads, self.first + n_queries, n_keys)[heads, self.first :]

    def cut(self, places: Mapping[str, int]) -> "ALiBi":
        return replace(self, head=places.get("head", self.head), first=self.first + places.get("query", 0))

    def vjp(self, upstream: np.ndarray, scores: np.ndarray) -> Derivatives:
        return (upstream,)

    def rule(self, scores: Input) -> Rule:
        _, n_queries, n_keys = scores.shape
        slots = {
            "a": Slot(0, "h q k"),
            "slope": Slot("#slope", "h"),
            "distance": Slot("#distance", "q k"),
            "result": Slot("", "h q k"),
        }
        line = Line(("a",), "{a} − {slope} × {distance}, the slope of the head times the distance", "result")
        variant = Variant((line,), formula=r"{a:t} - {slope:bt} \cdot {distance:bt}")
        arrays = {"#slope": np.array(slopes(self.n_heads)), "#distance": _distances(n_queries, n_keys).astype(float)}
        return Rule.of((scores,), "h q k", slots, variant, arrays=arrays)

    def recomputed(self, index: Index, numbers: Lines) -> Recomputed:
        ((score,),), (head, query, key) = numbers, index
        bias = -slopes(self.n_heads)[head] * abs(query - key)
        return score + bias, rounding_of(score, bias)

    def latex(self, result: str, scores: str) -> str:
        return rf"{result}: \quad y_{{nm}} = z_{{nm}} - s_i \cdot \max(n - m, m - n), \quad z = {scores}"

    def numpy(self, result: str, scores: str) -> tuple[str, ...]:
        return (
            f"n_queries, n_keys = {scores}.shape[-2:]",
            "distances = np.abs(np.subtract.outer(np.arange(n_queries), np.arange(n_keys)))",
            f"slopes = np.array({list(slopes(self.n_heads))})[:, None, None]",
            f"{result} = {scores} - (slopes * distances).astype({scores}.dtype)",
        )


@lru_cache(maxsize=32)
def _bias(n_heads: int, n_queries: int, n_keys: int) -> np.ndarray:
    """The number subtracted in each cell."""
    return np.array(slopes(n_heads))[:, None, None] * _distances(n_queries, n_keys)


def _distances(n_queries: int, n_keys: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(n_queries), np.arange(n_keys)))


@dataclass(frozen=True)
class Hide(Operation):
    """A boolean mask: a visible key keeps its score, a hidden one gets -inf.

    The mask selects. Multiplying by it would leave a score of 0, which gets an attention weight like any other; adding
    -1e9 would not hide a score of 1e9.
    """

    operands = (Operand("cell"), Operand("cell", "where"))
    in_multihead = True
    hides = True

    def compute(self, scaled: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return scaled if mask.all() else np.where(mask, scaled, -np.inf)

    def vjp(self, upstream: np.ndarray, scaled: np.ndarray, mask: np.ndarray) -> Derivatives:
        return np.where(mask, upstream, 0), None

    def rule(self, scaled: Input, mask: Input) -> Rule:
        shared = "h q k"[-2 * len(mask.shape) + 1 :]
        slots = {"a": Slot(0, "h q k"), "mask": Slot(1, shared), "result": Slot("", "h q k")}
        cells = ("a", "mask")
        return Rule.of(
            (scaled, mask),
            "h q k",
            slots,
            Variant((Line(cells, "visible, so {a} stays", "result"),), formula=r"{a:t} \text{ (visible)}"),
            Variant((Line(cells, "hidden, so −∞", "result"),), formula=r"\text{ hidden}"),
            case=Slot("#hidden", shared),
            arrays={"#hidden": (~mask.value).astype(int)},
        )

    def recomputed(self, index: Index, numbers: Lines) -> Recomputed:
        ((score, is_visible),) = numbers
        return (score if is_visible else -math.inf), 0.0

    def latex(self, result: str, scaled: str, mask: str) -> str:
        return rf"{result} = {scaled} \text{{ where }} {mask} \text{{, else }} -\infty"

    def numpy(self, result: str, scaled: str, mask: str) -> tuple[str, ...]:
        return (f"{result} = np.where({mask}, {scaled}, -np.inf)",)
