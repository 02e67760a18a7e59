"""Fitted scale: the scale or cap that brings our scores nearest to the user's, from scores or attention weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.checks.passes.comparison import Agreement
from attnviz.checks.read.layouts import score_stages
from attnviz.checks.read.limits import chunks
from attnviz.checks.read.rounding import Rounded

_STEP = 0.15  # the distance of the logarithms on the first grid
_MINIMA = 2  # how many minima of the grid, at most half the median, are refined
_POINTS = 15
_ROUNDS = 11  # with _POINTS in each, they give a precision of 1e-10
_LEAST_WEIGHT = 1e-12  # smaller attention weights tell little of their scores
_FEWEST = 12  # fewer numbers fit too much by chance
_ROWS = 16  # how many rows are fitted
_NEARER = 0.05  # the part of a difference that a good fit leaves, at most
_CAP_SPAN = 100.0  # caps are searched from 1/100 to 100 times the largest score


def numbers_near(off: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> Iterator[float]:
    """The positive numbers in a range with the lowest distance `off`, the best first."""
    grid = np.arange(math.log(low), math.log(high), _STEP)
    values = off(np.exp(grid))
    inner = values[1:-1]
    lowest = (inner <= values[:-2]) & (inner <= values[2:]) & (inner <= np.median(values) / 2)
    for i in sorted(1 + np.flatnonzero(lowest), key=lambda i: values[i])[:_MINIMA]:
        low, high = grid[i - 1], grid[i + 1]
        for _ in range(_ROUNDS):
            points = np.linspace(low, high, _POINTS + 2)
            nearest = 1 + int(off(np.exp(points[1:-1])).argmin())
            low, high = points[nearest - 1], points[nearest + 1]
        yield math.exp(float(low + high) / 2)


@dataclass(frozen=True, eq=False)
class Fit:
    """Rows of the user's scores and ours, before softcap and mask: arrays (rows, keys)."""

    ours: np.ndarray
    theirs: np.ndarray  # for attention weights their logarithms, known up to a constant per row
    informative: np.ndarray
    are_weights: bool

    @classmethod
    def of(cls, first: Agreement | None, scaled: Rounded | None) -> Fit | None:
        """The fit for a stage of scores or attention weights, if it has enough numbers."""
        if first is None or first.value is None or scaled is None or first.value.shape != scaled.value.shape:
            return None
        are_weights = first.stage == "attention"
        if not are_weights and first.stage not in score_stages():
            return None
        rows = first.value.reshape(-1, first.value.shape[-1])
        some = slice(None, None, max(len(rows) // _ROWS, 1))
        theirs, ours = rows[some], scaled.value.reshape(rows.shape)[some].astype(float)
        informative = np.isfinite(theirs) & np.isfinite(ours) & (theirs > _LEAST_WEIGHT if are_weights else theirs != 0)
        if np.count_nonzero(informative) < _FEWEST:
            return None
        theirs = np.where(informative, theirs, 1)
        return cls(np.where(informative, ours, 0), np.log(theirs) if are_weights else theirs, informative, are_weights)

    def factor(self) -> float | None:
        factor = float(self._factor(self.ours))
        return factor if np.isfinite(factor) and factor > 0 else None

    def limit(self, factor: float) -> float | None:
        scores = factor * self.ours

        def capped(limit: float | np.ndarray) -> np.ndarray:
            return limit * np.tanh(scores / limit)

        largest = float(np.abs(scores).max())
        nearest = next(self._numbers_near(capped, largest / _CAP_SPAN, largest * _CAP_SPAN), None) if largest else None
        return nearest if nearest and self._off(capped(nearest)) <= _NEARER * self._off(scores) else None

    @cached_property
    def factor_and_limit(self) -> tuple[float, float] | None:
        """The factor and limit that bring our scores nearest to theirs; None if they don't come near."""
        largest = float(np.abs(self.ours).max())
        if not largest:
            return None
        bend = next(self._numbers_near(self._bent, 1 / _CAP_SPAN / largest, _CAP_SPAN / largest), None)
        if not bend or self._off(self._bent(bend)) > _NEARER * self._off((self.factor() or 1) * self.ours):
            return None
        limit = float(self._factor(np.tanh(bend * self.ours)))
        return (bend * limit, limit) if limit > 0 else None

    def rest(self) -> float:
        """The relative distance that the best factor and limit leave."""
        before, capped = float(self._off(self.ours)), self.factor_and_limit
        scores = capped[1] * np.tanh(capped[0] / capped[1] * self.ours) if capped else (self.factor() or 1) * self.ours
        return float(self._off(scores)) / before if before else 0.0

    def _numbers_near(self, scores: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> Iterator[float]:
        def off(numbers: np.ndarray) -> np.ndarray:
            some = chunks([*numbers], self.ours.size)
            return np.concatenate([self._off(scores(np.array(each)[:, None, None])) for each in some])

        return numbers_near(off, low, high)

    def _bent(self, bend: float | np.ndarray) -> np.ndarray:
        """The tanh of our scores, scaled to be nearest to theirs."""
        bent = np.tanh(bend * self.ours)
        return self._factor(bent)[..., None, None] * bent

    def _factor(self, scores: np.ndarray) -> np.ndarray:
        ours = self._compared(scores)
        return (self._known * ours).sum(axis=(-2, -1)) / (ours * ours).sum(axis=(-2, -1))

    def _off(self, scores: np.ndarray) -> np.ndarray:
        return np.abs(self._compared(scores) - self._known).sum(axis=(-2, -1))

    @cached_property
    def _known(self) -> np.ndarray:
        return self._compared(self.theirs)

    def _compared(self, scores: np.ndarray) -> np.ndarray:
        """The informative scores; centred per row if only attention weights are known."""
        scores = np.where(self.informative, scores, 0)
        if not self.are_weights:
            return scores
        means = scores.sum(axis=-1, keepdims=True) / np.maximum(self.informative.sum(axis=-1, keepdims=True), 1)
        return np.where(self.informative, scores - means, 0)


# --- Round numbers

_NEAR = 1e-4  # relative difference of numbers that count as equal


def is_near(number: float, *others: float) -> bool:
    """Whether a number is one of the others, but for rounding."""
    return any(abs(number - each) <= _NEAR * abs(each) for each in others)


def simple(number: float) -> tuple[float, str]:
    """A round number close to the given one, with its text: 3 of 3.0000001, √2 of 1.4142, 5.3 of 5.2999999."""
    whole, square, short = round(number), round(number**2), float(f"{number:.3g}")
    if whole and abs(number - whole) < _NEAR * whole:
        return float(whole), str(whole)
    if abs(number - short) < _NEAR * short:
        return short, f"{short:g}"
    if square and abs(number**2 - square) < _NEAR * square:
        return square**0.5, f"√{square}"
    return number, f"{number:.4g}"
