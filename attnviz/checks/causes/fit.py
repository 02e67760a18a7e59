"""Fit: the one number by which somebody's scores differ from ours, from the scores or from their shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.checks.agreement import Agreement
from attnviz.checks.batches import batches
from attnviz.checks.numbersearch import numbers_near
from attnviz.checks.rounding import Rounded
from attnviz.checks.stages import score_stages

_LEAST_SHARE = 1e-12
"""A smaller one tells little of its score."""

_FEWEST = 12
"""Of fewer numbers one explains too many by chance."""

_ROWS = 16
"""So many rows tell a number."""

_NEARER = 0.05
"""The part of a difference that a number which explains it leaves, at most."""

_FAR = 100.0
"""Beyond so many times the largest score a cap isn't felt, and under that part of it nothing else is."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Rows of somebody's scores beside ours before anything caps or hides them.

    Attributes
    ----------
    ours, theirs : ndarray (rows, keys)
        Theirs are the logarithms of shares, and so known but for a number for each row, where `are_shares`.
    tell : ndarray of bool (rows, keys)
        Those numbers that tell something.
    are_shares : bool
    """

    ours: np.ndarray
    theirs: np.ndarray
    tell: np.ndarray
    are_shares: bool

    @classmethod
    def of(cls, first: Agreement | None, scaled: Rounded | None) -> Fit | None:
        """The rows of a stage, if it is of scores or of shares, and there are enough, beside our scaled scores."""
        if first is None or first.value is None or scaled is None or first.value.shape != scaled.value.shape:
            return None
        are_shares = first.stage == "attention"
        if not are_shares and first.stage not in score_stages():
            return None
        rows = first.value.reshape(-1, first.value.shape[-1])
        some = slice(None, None, max(len(rows) // _ROWS, 1))
        theirs, ours = rows[some], scaled.value.reshape(rows.shape)[some].astype(float)
        tell = np.isfinite(theirs) & np.isfinite(ours) & (theirs > _LEAST_SHARE if are_shares else theirs != 0)
        if np.count_nonzero(tell) < _FEWEST:
            return None
        theirs = np.where(tell, theirs, 1)
        return cls(np.where(tell, ours, 0), np.log(theirs) if are_shares else theirs, tell, are_shares)

    def factor(self) -> float | None:
        """By what our scores have to be multiplied to be nearest to theirs."""
        factor = float(self._times(self.ours))
        return factor if np.isfinite(factor) and factor > 0 else None

    def limit(self, factor: float) -> float | None:
        """At what our scores, times a factor, have to be capped to be near to theirs; None if no cap brings them near.

        That is limit · tanh(score / limit).
        """
        scores = factor * self.ours

        def capped(limit: float) -> np.ndarray:
            return limit * np.tanh(scores / limit)

        largest = float(np.abs(scores).max())
        nearest = next(self._numbers_near(capped, largest / _FAR, largest * _FAR), None) if largest else None
        return nearest if nearest and self._off(capped(nearest)) <= _NEARER * self._off(scores) else None

    @cached_property
    def factor_and_limit(self) -> tuple[float, float] | None:
        """By what our scores have to be multiplied, and at what capped then; None if these don't bring them near."""
        largest = float(np.abs(self.ours).max())
        if not largest:
            return None
        bend = next(self._numbers_near(self._bent, 1 / _FAR / largest, _FAR / largest), None)
        if not bend or self._off(self._bent(bend)) > _NEARER * self._off((self.factor() or 1) * self.ours):
            return None
        limit = float(self._times(np.tanh(bend * self.ours)))
        return (bend * limit, limit) if limit > 0 else None

    def rest(self) -> float:
        """The difference that a factor and a cap leave."""
        before, capped = float(self._off(self.ours)), self.factor_and_limit
        scores = capped[1] * np.tanh(capped[0] / capped[1] * self.ours) if capped else (self.factor() or 1) * self.ours
        return float(self._off(scores)) / before if before else 0.0

    def _numbers_near(self, scores: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> Iterator[float]:
        """The numbers between two of which are made scores that are least far from theirs."""

        def off(numbers: np.ndarray) -> np.ndarray:
            some = batches(numbers[:, None, None], self.ours.size)
            return np.concatenate([self._off(scores(each)) for each in some])

        return numbers_near(off, low, high)

    def _bent(self, bend: float | np.ndarray) -> np.ndarray:
        """A hyperbolic tangent of our scores, as large as is nearest to theirs."""
        bent = np.tanh(bend * self.ours)
        return self._times(bent)[..., None, None] * bent

    def _times(self, scores: np.ndarray) -> np.ndarray:
        """By what scores have to be multiplied to be nearest to theirs."""
        ours = self._compared(scores)
        return (self._known * ours).sum(axis=(-2, -1)) / (ours * ours).sum(axis=(-2, -1))

    def _off(self, scores: np.ndarray) -> np.ndarray:
        return np.abs(self._compared(scores) - self._known).sum(axis=(-2, -1))

    @cached_property
    def _known(self) -> np.ndarray:
        """Their scores, as far as they are known."""
        return self._compared(self.theirs)

    def _compared(self, scores: np.ndarray) -> np.ndarray:
        """The part of scores that is known."""
        scores = np.where(self.tell, scores, 0)
        if not self.are_shares:
            return scores
        means = scores.sum(axis=-1, keepdims=True) / np.maximum(self.tell.sum(axis=-1, keepdims=True), 1)
        return np.where(self.tell, scores - means, 0)


def simple(number: float, near: float) -> tuple[float, str]:
    """A number that a person writes, near one that was found, and as it is written.

    >>> simple(3.0000001, 1e-4), simple(1.4142, 1e-4), simple(5.2999999, 1e-4), simple(2.3456789, 1e-4)
    ((3.0, '3'), (1.4142135623730951, '√2'), (5.3, '5.3'), (2.3456789, '2.346'))
    """
    whole, square, short = round(number), round(number**2), float(f"{number:.3g}")
    if whole and abs(number - whole) < near * whole:
        return float(whole), str(whole)
    if abs(number - short) < near * short:
        return short, f"{short:g}"
    if square and abs(number**2 - square) < near * square:
        return square**0.5, f"√{square}"
    return number, f"{number:.4g}"
