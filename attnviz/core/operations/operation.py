"""Operation: the interface of everything that computes a stage; and `Source`, for given stages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import numpy as np

from attnviz.core.operations.rule import AxesAndShape, Index, Rule
from attnviz.core.terms import Cell, Sum, Terms


@dataclass(frozen=True)
class Source:
    """The source of numbers that were typed, drawn or given; `recipe` states where they come from."""

    recipe: str
    operands = ()


GIVEN = Source("given")
"""The source of numbers given without a recipe."""


Reads = tuple[tuple[Cell, ...], ...]
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
    `latex` and `numpy` names. (With `*inputs: Any, **_: Any` a type checker accepts these signatures.)

    Attributes
    ----------
    hides : bool
        Whether -inf or False in an input means a hidden key, which is -inf in the result.
    """

    hides: bool = False

    @property
    def in_multihead(self) -> bool:
        """Whether it is a part of PyTorch's `nn.MultiheadAttention`."""
        return False

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Which part of each input a cell of the result comes from, for the picture."""

    def compute(self, *inputs: Any, **_: Any) -> np.ndarray:
        """The whole array; may return an input itself if the numbers are unchanged."""

    def cut(self, places: Mapping[str, int]) -> Self:
        """The operation for inputs cut to a single place along some axes; only its `compute` is called.

        Parameters
        ----------
        places : mapping of axis names to int
            The remaining place, for operations whose numbers depend on the head or the position.
        """
        return self

    def vjp(self, upstream: np.ndarray, *inputs: Any, **_: Any) -> Derivatives:
        """The vector-Jacobian product: a derivative passed back through the operation.

        Parameters
        ----------
        upstream : ndarray
            The derivatives of some number with respect to each cell of the result of `compute`.
            (The stage itself may hold numbers set by hand.)

        Returns
        -------
        tuple of ndarray or None
            The derivatives with respect to each input, in its shape; None for a boolean mask.
        """

    def extent(self, *inputs: Any, **_: Any) -> AxesAndShape:
        """The result's axes and their lengths."""

    def bound(self, *inputs: Any, **_: Any) -> float:
        """An upper bound of the absolute values of the result, from the bounds of the inputs alone.

        inf means that the result has to be computed to know.
        """

    def rule(self, *inputs: Any, **_: Any) -> Rule:
        """How any cell is computed."""

    def terms(self, index: Index, reads: Reads) -> Terms:
        """How the cell at `index` is computed from the cells of its lines: by default the sum of their products."""
        return Sum(reads)

    def latex(self, result: str, *inputs: Any, **_: Any) -> str:
        """The operation as a LaTeX formula, from the symbols of its stages."""

    def numpy(self, result: str, *inputs: Any, **_: Any) -> tuple[str, ...]:
        """The operation as lines of NumPy, from the names of its stages."""


def sum_broadcast(derivatives: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Sum derivatives over the axes along which `like` was broadcast (heads, sentences)."""
    return derivatives.reshape(-1, *like.shape).sum(axis=0)
