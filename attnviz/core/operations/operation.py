"""Operand: how an operation reads one of its inputs; and `Source`, the operation that reads none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnviz.core import terms
from attnviz.core.terms import Terms

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
class Source:
    """A stage that comes from nothing: what was typed, drawn or handed in."""

    recipe: str
    operands = ()

    def terms(self, index: Index, *, value: float) -> Terms:
        return terms.Given(value, self.recipe)


def over_heads(derivatives: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Add up the derivatives of an array that was read once for each head; of any other, leave them."""
    return derivatives.reshape(-1, *like.shape).sum(axis=0)
