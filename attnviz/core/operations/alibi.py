"""ALiBi: each score loses a number that grows with the distance of its key."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import Cell, Terms, rounding_of


def slopes(n_heads: int) -> tuple[float, ...]:
    """The slope of each head: 2^(-8 h / heads), h from 1 on (Press et al. 2022, section 3).

    Where the number of heads is no power of two, they are those of the next lower power, and then those of twice
    that power at its places 1, 3, 5 and so on.

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

    They have a causal mask, and subtract slope · (i - j). Without one that would favour later keys, so the distance
    counts in both directions here.

    Attributes
    ----------
    n_heads : int
    head : int or None
        The head whose scores these are, where they are of one alone.
    first : int
        The position of the first query.
    """

    n_heads: int
    head: int | None = None
    first: int = 0
    operands = (Operand("cell", after="− bias"),)

    def compute(self, scores: np.ndarray) -> np.ndarray:
        n_queries, n_keys = scores.shape[-2:]
        heads = slice(None) if self.head is None else slice(self.head, self.head + 1)
        return scores - _bias(self.n_heads, self.first + n_queries, n_keys)[heads, self.first :]

    def cut(self, places: Mapping[str, int]) -> "ALiBi":
        return replace(self, head=places.get("head", self.head), first=self.first + places.get("query", 0))

    def vjp(self, upstream: np.ndarray, scores: np.ndarray) -> Derivatives:
        return (upstream,)

    def extent(self, scores: Input) -> AxesAndShape:
        return scores.axes, scores.shape

    def bound(self, scores: Input) -> float:
        return scores.bound + max(scores.shape)

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

    def terms(self, index: Index, reads: Reads) -> Terms:
        head, query, key = index
        return Biased(reads[0][0], -slopes(self.n_heads)[head] * abs(query - key))

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
class Biased(Terms):
    """A cell and what its distance adds."""

    cell: Cell
    bias: float

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.cell,)

    def total(self) -> float:
        return self.cell.value + self.bias

    def rounding(self) -> float:
        return rounding_of(self.cell.value, self.bias)
