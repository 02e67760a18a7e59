"""Search: of all numbers of a stage the one whose smallest change has a row lost by its leader."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from attnviz.analysis.flips.contest import Contest
from attnviz.analysis.flips.row import OneRow
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import Stage

TRIAL_SIZES = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0)
"""The changes that are tried, in units of a stage: closest together where most answers turn."""

BELOW = 8
"""At how many sizes below the change that was found it is looked whether any turns the row too, and back again."""

PRECISION = 1e-7
"""The distance of the two ends of a change when the search ends, relative to the change."""

BATCH_NUMBERS = 2**17
"""The numbers that are computed at a time: they stay in the processor's cache."""

MANY = 64
"""Of more changes than so many fewer points are tried at a time, as most of them are soon out."""

MAX_NUMBER = float(np.finfo(float).max)


Outcome = Callable[[Contest, np.ndarray], np.ndarray]


class Interval(NamedTuple):
    """A change of one number: `low` turns nothing, and `high`, which is close by, does."""

    cell: int
    sign: int
    low: float
    high: float


class Smallest:
    """The changes of single numbers of a stage, and what comes of them in a row.

    Attributes
    ----------
    most : float
        The largest change that is tried.
    n_numbers : int
        How many numbers are computed in each step.
    """

    def __init__(self, row: OneRow, contest: Contest, stage: Stage):
        name, is_share = stage.name, isinstance(stage.operation, Softmax)
        part = row.arrays[name]
        self._row, self._contest, self._name, self._part = row, contest, name, part.ravel()
        self._cells = np.flatnonzero(np.isfinite(part))
        self._is_flag = part.dtype == bool
        self._ends = (0.0, 1.0) if is_share else (-MAX_NUMBER, MAX_NUMBER)
        self._unit = 1.0 if self._is_flag else _power_of_ten(np.abs(self._part[self._cells]).max(initial=0.0))
        self._at_once = max(1, BATCH_NUMBERS // row.n_numbers(name))
        self.most = 1.0 if self._is_flag else TRIAL_SIZES[-1] * self._unit
        self.n_numbers = (2 - self._is_flag) * len(self._cells) * row.n_numbers(name)

    def interval(self) -> Interval | None:
        """The smallest change that was found to have the row lost; None where no step does."""
        if self._is_flag:
            lost = self._lost(self._cells, np.ones(len(self._cells)))
            return Interval(int(self._cells[lost.argmax()]), 1, 0.0, 1.0) if lost.any() else None
        cells, signs = np.tile(self._cells, 2), np.repeat((1, -1), len(self._cells))
        for low, high in pairwise((0.0, *TRIAL_SIZES)):
            lost = self._lost(cells, signs * high * self._unit)
            if lost.any():
                nearest = self._bisected(cells[lost], signs[lost], low * self._unit, high * self._unit)
                while nearer := self._below(nearest, cells, signs):
                    nearest = nearer
                return nearest
        return None

    def kept(self, interval: Interval) -> float:
        """The largest change with the leader alone ahead: less than `low` if others tie."""
        low, high = 0.0, interval.low
        if self._is(Contest.is_won, [interval.cell], [interval.sign * high])[0]:
            return high
        while high - low > PRECISION * high:
            middle = (low + high) / 2
            is_won = self._is(Contest.is_won, [interval.cell], [interval.sign * middle])[0]
            low, high = (middle, high) if is_won else (low, middle)
        return low

    def _below(self, interval: Interval, cells: np.ndarray, signs: np.ndarray) -> Interval | None:
        """Of all numbers one whose smaller change turns the row over: it may turn back before the next step."""
        sizes = interval.low * np.arange(BELOW + 1) / (BELOW + 1)
        for low, high in pairwise(sizes.tolist()):
            lost = self._lost(cells, signs * high)
            if lost.any():
                return self._bisected(cells[lost], signs[lost], low, high)
        return None

    def _bisected(self, cells: np.ndarray, signs: np.ndarray, low: float, high: float) -> Interval:
        """Of changes that turn the row between two steps the smallest; of several alike the first."""
        lows, highs = np.full(len(cells), low), np.full(len(cells), high)
        while (highs - lows > PRECISION * highs).any():
            n = 3 if len(cells) > MANY else 15
            tried = lows[:, None] + (highs - lows)[:, None] * np.arange(1, n + 1) / (n + 1)
            lost = self._lost(np.repeat(cells, n), (signs[:, None] * tried).ravel()).reshape(-1, n)
            first = np.where(lost.any(axis=1), lost.argmax(axis=1), n)[:, None]
            ends = np.column_stack((lows, tried, highs))
            lows, highs = (np.take_along_axis(ends, first + after, axis=1)[:, 0] for after in (0, 1))
            stays_in = lows < highs.min() * (1 + 10 * PRECISION)
            cells, signs, lows, highs = (each[stays_in] for each in (cells, signs, lows, highs))
        return Interval(int(cells[0]), int(signs[0]), float(lows[0]), float(highs[0]))

    def _lost(self, cells: np.ndarray, changes: np.ndarray) -> np.ndarray:
        """For each change of a cell whether the row is lost."""
        return self._is(Contest.is_lost, cells, changes)

    def _is(self, outcome: Outcome, cells: Sequence[int], changes: Sequence[float]) -> np.ndarray:
        """For each change of a cell whether the row has that outcome."""
        cells, changes, outcomes = np.asarray(cells), np.asarray(changes), []
        for start in range(0, len(cells), self._at_once):
            some = slice(start, start + self._at_once)
            values = np.tile(self._part, (len(cells[some]), 1))
            places = np.arange(len(values)), cells[some]
            changed = ~values[places] if self._is_flag else values[places] + changes[some]
            values[places] = np.clip(changed, *self._ends)
            rows = self._row.rows(self._name, values.reshape(-1, *self._row.arrays[self._name].shape))
            outcomes.append(outcome(self._contest, rows))
        return np.concatenate(outcomes) if outcomes else np.zeros(0, dtype=bool)


def _power_of_ten(largest: float) -> float:
    """The power of ten that no number is beyond; 1 where all are 0."""
    return 10.0 ** min(max(math.ceil(math.log10(largest)), -300), 304) if largest else 1.0
