"""Contest: the largest number of a row against others of it, as a model's answers or two shares of attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.softmax import Softmax
from attnviz.core.trace import Trace
from attnviz.models.task import most_probable


@dataclass(frozen=True)
class Contest:
    """The order of one row of shares: its leader, and the rivals.

    Attributes
    ----------
    stage : str
    row : tuple of int
        The index of the row, which lacks the last axis.
    leader : int
        The place along the last axis that is ahead.
    rivals : tuple of int
        Those that it is ahead of.
    """

    stage: str
    row: tuple[int, ...]
    leader: int
    rivals: tuple[int, ...]

    def is_won(self, shares: np.ndarray) -> np.ndarray:
        """In which of many rows the leader alone is ahead, and not by rounding alone."""
        first = self._most(shares)
        return first[..., 0] & ~first[..., 1:].any(axis=-1)

    def is_lost(self, shares: np.ndarray) -> np.ndarray:
        """In which of many rows a rival is ahead of the leader, and not by rounding alone."""
        first = self._most(shares)
        return first[..., 1:].any(axis=-1) & ~first[..., 0]

    def winner(self, shares: np.ndarray) -> int:
        """The place that is ahead in one row."""
        return (self.leader, *self.rivals)[int(self._most(shares).argmax())]

    def _most(self, shares: np.ndarray) -> np.ndarray:
        return most_probable(shares[..., [self.leader, *self.rivals]])


def contest_of(trace: Trace, name: str, index: Sequence[int]) -> Contest | None:
    """The contest that the cell of a softmax takes part in.

    Of a model's answers it is the largest against all others. A share of attention is set against the largest of its
    row, and the largest against the second.

    Parameters
    ----------
    trace, name, index
        A cell of a pass, as in `gradients`.

    Returns
    -------
    Contest or None
        None where the stage is no softmax, or its row has a single place.
    """
    stage = trace[name]
    if not isinstance(stage.operation, Softmax) or stage.shape[-1] == 1:
        return None
    *row, place = index
    shares = stage.value[tuple(row)]
    first, second = np.argsort(-shares, kind="stable")[:2].tolist()
    if stage.axes[-1] == "answer":
        return Contest(name, tuple(row), first, tuple(n for n in range(len(shares)) if n != first))
    return between(trace, name, row, first, second if place == first else place)


def between(trace: Trace, name: str, row: Sequence[int], one: int, other: int) -> Contest:
    """Two shares of a row, of which the larger leads; where they are alike, the first that is named."""
    shares = trace[name].value[tuple(row)]
    leader, rival = (other, one) if shares[other] > shares[one] else (one, other)
    return Contest(name, tuple(row), leader, (rival,))
