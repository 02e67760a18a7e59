"""Fit: the scale or the cap that brings our scores nearest to the user's, found from scores or attention weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.checks.explain.agreement import Agreement
from attnviz.checks.read.budget import batches
from attnviz.checks.read.rounding import Rounded
from attnviz.checks.read.stages import score_stages

_STEP = 0.15  # the distance of the logarithms on the first grid
_MINIMA = 2  # how many minima of the grid, at most half the median, are refined
_POINTS = 15
_ROUNDS = 11  # with _POINTS in each, they give a precision of 1e-10
Off = Callable[[np.ndarray], np.ndarray]


def numbers_near(off: Off, low: float, high: float) -> Iterator[float]:
    """The numbers with the lowest distance, the best first.

    Parameters
    ----------
    off : callable
        The distance for each of some numbers.
    low, high : float
        The range to search; above 0.
    """

    def at(logs: np.ndarray) -> np.ndarray:
        return off(np.exp(logs))

    grid = np.arange(math.log(low), math.log(high), _STEP)
    values = at(grid)
    half = np.median(values) / 2
    inner = values[1:-1]
    lowest = 1 + np.flatnonzero((inner <= values[:-2]) & (inner <= values[2:]) & (inner <= half))
    for i in lowest[np.argsort(values[lowest], kind="stable")][:_MINIMA]:
        yield math.exp(_lowest(at, grid[i - 1], grid[i + 1]))


def _lowest(at: Off, low: float, high: float) -> float:
    """The minimum of a unimodal function, by repeated subdivision."""
    for _ in range(_ROUNDS):
        points = np.linspace(low, high, _POINTS + 2)
        nearest = 1 + int(at(points[1:-1]).argmin())
        low, high = points[nearest - 1], points[nearest + 1]
    return float(low + high) / 2


_LEAST_SHARE = 1e-12  # smaller attention weights tell little of their scores
_FEWEST = 12  # fewer numbers fit too much by chance
_ROWS = 16  # how many rows are fitted
_NEARER = 0.05  # the part of a difference that a good fit leaves, at most
_FAR = 100.0  # caps are searched from 1/100 to 100 times the largest score


@dataclass(frozen=True, eq=False)
class Fit:
    """Rows of the user's scores and ours, before softcap and mask.

    Attributes
    ----------
    ours, theirs : ndarray (rows, keys)
        If `are_shares`, theirs are logarithms of attention weights, known up to a constant per row.
    tell : ndarray of bool (rows, keys)
        The informative numbers.
    """

    ours: np.ndarray
    theirs: np.ndarray
    tell: np.ndarray
    are_shares: bool

    @classmethod
    def of(cls, first: Agreement | None, scaled: Rounded | None) -> Fit | None:
        """The fit for a stage of scores or attention weights, if it has enough numbers."""
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
        """The factor that brings our scores nearest to theirs."""
        factor = float(self._times(self.ours))
        return factor if np.isfinite(factor) and factor > 0 else None

    def limit(self, factor: float) -> float | None:
        """The limit c for which c · tanh(factor · scores / c) is near theirs; None if there is none."""
        scores = factor * self.ours

        def capped(limit: float) -> np.ndarray:
            return limit * np.tanh(scores / limit)

        largest = float(np.abs(scores).max())
        nearest = next(self._numbers_near(capped, largest / _FAR, largest * _FAR), None) if largest else None
        return nearest if nearest and self._off(capped(nearest)) <= _NEARER * self._off(scores) else None

    @cached_property
    def factor_and_limit(self) -> tuple[float, float] | None:
        """The factor and limit that bring our scores nearest to theirs; None if they don't come near."""
        largest = float(np.abs(self.ours).max())
        if not largest:
            return None
        bend = next(self._numbers_near(self._bent, 1 / _FAR / largest, _FAR / largest), None)
        if not bend or self._off(self._bent(bend)) > _NEARER * self._off((self.factor() or 1) * self.ours):
            return None
        limit = float(self._times(np.tanh(bend * self.ours)))
        return (bend * limit, limit) if limit > 0 else None

    def rest(self) -> float:
        """The relative distance that the best factor and limit leave."""
        before, capped = float(self._off(self.ours)), self.factor_and_limit
        scores = capped[1] * np.tanh(capped[0] / capped[1] * self.ours) if capped else (self.factor() or 1) * self.ours
        return float(self._off(scores)) / before if before else 0.0

    def _numbers_near(self, scores: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> Iterator[float]:

        def off(numbers: np.ndarray) -> np.ndarray:
            some = batches(numbers[:, None, None], self.ours.size)
            return np.concatenate([self._off(scores(each)) for each in some])

        return numbers_near(off, low, high)

    def _bent(self, bend: float | np.ndarray) -> np.ndarray:
        """The tanh of our scores, scaled to be nearest to theirs."""
        bent = np.tanh(bend * self.ours)
        return self._times(bent)[..., None, None] * bent

    def _times(self, scores: np.ndarray) -> np.ndarray:
        """The factor that brings scores nearest to theirs."""
        ours = self._compared(scores)
        return (self._known * ours).sum(axis=(-2, -1)) / (ours * ours).sum(axis=(-2, -1))

    def _off(self, scores: np.ndarray) -> np.ndarray:
        return np.abs(self._compared(scores) - self._known).sum(axis=(-2, -1))

    @cached_property
    def _known(self) -> np.ndarray:
        return self._compared(self.theirs)

    def _compared(self, scores: np.ndarray) -> np.ndarray:
        """The informative scores; centred per row if only attention weights are known."""
        scores = np.where(self.tell, scores, 0)
        if not self.are_shares:
            return scores
        means = scores.sum(axis=-1, keepdims=True) / np.maximum(self.tell.sum(axis=-1, keepdims=True), 1)
        return np.where(self.tell, scores - means, 0)


def simple(number: float, near: float) -> tuple[float, str]:
    """A round number close to the given one, with its text.

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
