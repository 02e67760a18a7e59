"""Operation: what every way of making a stage provides; and `Source`, for stages that nothing computes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import numpy as np

from attnviz.core.operations.rule import AxesAndShape, Index, Rule
from attnviz.core.terms import Cell, Sum, Terms


@dataclass(frozen=True)
class Source:
    """The source of numbers that were typed, drawn or given; `recipe` says where they are from."""

    recipe: str
    operands = ()


GIVEN = Source("given")
"""That of numbers that someone gave, and said no more of."""


Reads = tuple[tuple[Cell, ...], ...]
Derivatives = tuple[np.ndarray | None, ...]


@dataclass(frozen=True)
class Operand:
    """How one input is read for the cell (row, column) of the result, and drawn beside it."""

    reads: Literal["row", "column", "cell"]
    sign: str = ""
    after: str = ""
    transposed: bool = False


class Operation(Protocol):
    """How a stage is made from its inputs. Wherever arrays have heads, the axis of heads comes first.

    `compute` and `vjp` also take a batch of sentences of the same length: arrays with one more axis before all others.
    Parameters, masks and positions are the same for all of them and have none.

    Each operation names its inputs: `compute` and `vjp` take their arrays, `extent`, `bound` and `rule` an `Input` for
    each, `latex` and `numpy` their names. (`*inputs: Any, **_: Any` is how a type checker is told that.)

    Attributes
    ----------
    hides : bool
        Whether a -inf or a False in an input means a hidden key, which is -inf in the result.
    """

    hides: bool = False

    @property
    def in_multihead(self) -> bool:
        """Whether PyTorch's `nn.MultiheadAttention` has it, between what enters it and its output."""
        return False

    @property
    def operands(self) -> tuple[Operand, ...]:
        """How its picture is read: which part of each input one cell of the result comes from."""

    def compute(self, *inputs: Any, **_: Any) -> np.ndarray:
        """The whole array; an input itself where it would hold the same numbers."""

    def cut(self, places: Mapping[str, int]) -> Self:
        """The operation for inputs that are cut to one place, of length 1, of some axes; only `compute` is called.

        Parameters
        ----------
        places : mapping of axis names to int
            An operation whose numbers depend on the head or the position finds here which one it is left with.
        """
        return self

    def vjp(self, upstream: np.ndarray, *inputs: Any, **_: Any) -> Derivatives:
        """The vector-Jacobian product: a derivative passed back through the operation.

        Parameters
        ----------
        upstream : ndarray
            The derivatives of some number with respect to each cell of what `compute` makes of the inputs.
            (The stage itself may hold other numbers, set by hand.)

        Returns
        -------
        tuple of ndarray or None
            Those with respect to each cell of each input, in the input's shape; None for a boolean mask,
            which has no derivative.
        """

    def extent(self, *inputs: Any, **_: Any) -> AxesAndShape:
        """The result's axes and their lengths."""

    def bound(self, *inputs: Any, **_: Any) -> float:
        """The largest that a number of the result can be, if none of the inputs is larger than its own `bound`.

        It is found without looking at any array; inf says that one must look.
        """

    def rule(self, *inputs: Any, **_: Any) -> Rule:
        """How any cell is computed."""

    def terms(self, index: Index, reads: Reads) -> Terms:
        """How the cell at `index` is made, of the cells that each of its lines reads: a sum of their products."""
        return Sum(reads)

    def latex(self, result: str, *inputs: Any, **_: Any) -> str:
        """The operation as a formula, of the symbols of its stages."""

    def numpy(self, result: str, *inputs: Any, **_: Any) -> tuple[str, ...]:
        """The operation as lines of NumPy, of the names of its stages."""


def added_up(derivatives: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Add up the derivatives of an array that was read once for each head or sentence; of any other, leave them."""
    return derivatives.reshape(-1, *like.shape).sum(axis=0)
