"""Operation: the interface of everything that computes a stage; and `Source`, for given stages."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import numpy as np

from attnviz.core.operations.rule import AxesAndShape, Index, Rule
from attnviz.core.terms import exact_sum, rounding_of


@dataclass(frozen=True)
class Source:
    """The source of numbers that were typed, drawn or given; `recipe` states where they come from."""

    recipe: str
    operands = ()


GIVEN = Source("given")
"""The source of numbers given without a recipe."""


Lines = Sequence[tuple[float, ...]]
"""The numbers of a line of a rule, at each place where it is repeated."""

Recomputed = tuple[float, float]
"""A number, and how far rounding can move it."""

Derivatives = tuple[np.ndarray | None, ...]


@dataclass(frozen=True)
class Operand:
    """How one input is read for the cell (row, column) of the result, and how it is drawn."""

    reads: Literal["row", "column", "cell"]
    sign: str = ""
    after: str = ""
    transposed: bool = False


class Operation(Protocol):
    """How a stage is computed from its inputs. Where arrays have heads, the axis of heads comes first.

    `compute` and `vjp` also take a batch of sentences of one length: arrays with another axis in front. Parameters,
    masks and positions are shared by the batch and don't have this axis.

    Each operation names its inputs: `compute` and `vjp` take arrays, `extent`, `bound` and `rule` an `Input` each,
    `recomputed` the `Lines` of the rule, `latex` and `numpy` names. (A type checker accepts these signatures because of
    `*inputs: Any, **_: Any`.)
    """

    hides: bool = False  # whether -inf or False in an input means a hidden key, which is -inf in the result

    @property
    def in_multihead(self) -> bool:
        """Whether it is a part of PyTorch's `nn.MultiheadAttention`."""
        return False

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Which part of each input a cell of the result comes from, for the picture."""

    def compute(self, *inputs: Any, **_: Any) -> np.ndarray:
        """The result for whole arrays, with rows along the last axis; may be an input itself if no number changes."""

    def cut(self, places: Mapping[str, int]) -> Self:
        """The operation for inputs cut to a single place along some axes; only its `compute` is called."""
        return self

    def vjp(self, upstream: np.ndarray, *inputs: Any, **_: Any) -> Derivatives:
        """The vector-Jacobian product: derivatives of some number, passed back from each cell of the result.

        One array for each input, in its shape; None for a boolean mask.
        """

    def extent(self, *inputs: Any, **_: Any) -> AxesAndShape:
        """The result's axes and their lengths: by default those of the first input."""
        return inputs[0].axes, inputs[0].shape

    def bound(self, *inputs: Any, **_: Any) -> float:
        """An upper bound of the absolute values, found without computing them; inf to compute the stage at once.

        By default that of a sum of products along an axis of the first input.
        """
        bound = 1.0 + max(inputs[0].shape)
        for each in inputs:
            bound *= 1.0 + each.bound
        return bound

    def rule(self, *inputs: Any, **_: Any) -> Rule:
        """How any cell is computed."""

    def recomputed(self, index: Index, *lines: Any, **_: Any) -> Recomputed:
        """The cell at `index`, recomputed in Python floats from the `Lines` of its rule.

        By default the sum of the products of each line.
        """
        products = [line for numbers in lines for line in numbers]
        is_copy = len(products) == 1 == len(products[0])
        return exact_sum(products), 0.0 if is_copy else rounding_of(*map(math.prod, products))

    def latex(self, result: str, *inputs: Any, **_: Any) -> str:
        """The operation as a LaTeX formula, from the symbols of its stages."""

    def numpy(self, result: str, *inputs: Any, **_: Any) -> tuple[str, ...]:
        """The operation as lines of NumPy, from the names of its stages."""


def sum_broadcast(derivatives: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Sum derivatives over the axes along which `like` was broadcast (heads, sentences)."""
    return derivatives.reshape(-1, *like.shape).sum(axis=0)
