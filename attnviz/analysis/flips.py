"""Flips: for each stage the number whose smallest change turns a model's answer, or the order of a row, over."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

import numpy as np

from attnviz.analysis.row_ranking import OneRow, RowRanking
from attnviz.core.errors import ArrayError
from attnviz.core.limits import MAX_FLIP_NUMBERS
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import Stage
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace

TRIAL_SIZES = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0)
"""The step sizes tried, in units of a stage."""

BELOW = 8
"""The number of smaller sizes tested below a found change, as the row may flip and flip back."""

PRECISION = 1e-7
"""The relative width of the interval at which bisection ends."""

BATCH_NUMBERS = 2**17
"""The numbers computed per batch, few enough for the processor's cache."""

MANY = 64
"""Above this number of changes, each round of bisection tries fewer points."""

MAX_NUMBER = float(np.finfo(float).max)


Outcome = Callable[[RowRanking, np.ndarray], np.ndarray]


class Interval(NamedTuple):
    """A threshold of one number's change: `low` flips nothing, and `high`, close by, does."""

    cell: int
    sign: int
    low: float
    high: float


class SmallestFlip:
    """The search for the smallest change of one number in a stage that flips a row."""

    def __init__(self, row: OneRow, ranking: RowRanking, stage: Stage):
        name, is_weight = stage.name, isinstance(stage.operation, Softmax)
        part = row.arrays[name]
        self._row, self._ranking, self._name, self._part = row, ranking, name, part.ravel()
        self._cells = np.flatnonzero(np.isfinite(part))
        self._is_flag = part.dtype == bool
        self._ends = (0.0, 1.0) if is_weight else (-MAX_NUMBER, MAX_NUMBER)
        self._unit = 1.0 if self._is_flag else _power_of_ten(np.abs(self._part[self._cells]).max(initial=0.0))
        self._at_once = max(1, BATCH_NUMBERS // row.n_numbers(name))
        self.most = 1.0 if self._is_flag else TRIAL_SIZES[-1] * self._unit
        self.n_numbers = (2 - self._is_flag) * len(self._cells) * row.n_numbers(name)

    def interval(self) -> Interval | None:
        """The smallest change found that flips the row; None if no step does."""
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
        """The largest change that leaves the leader alone ahead; less than `low` if others tie."""
        low, high = 0.0, interval.low
        cell = np.array([interval.cell])
        if self._has(RowRanking.is_won, cell, np.array([interval.sign * high]))[0]:
            return high
        while high - low > PRECISION * high:
            middle = (low + high) / 2
            is_won = self._has(RowRanking.is_won, cell, np.array([interval.sign * middle]))[0]
            low, high = (middle, high) if is_won else (low, middle)
        return low

    def _below(self, interval: Interval, cells: np.ndarray, signs: np.ndarray) -> Interval | None:
        """A number with a smaller change that flips the row, which may flip back before the next step."""
        sizes = interval.low * np.arange(BELOW + 1) / (BELOW + 1)
        for low, high in pairwise(sizes.tolist()):
            lost = self._lost(cells, signs * high)
            if lost.any():
                return self._bisected(cells[lost], signs[lost], low, high)
        return None

    def _bisected(self, cells: np.ndarray, signs: np.ndarray, low: float, high: float) -> Interval:
        """The smallest of the changes that flip the row between two steps; the first if several are equal."""
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
        """For each change of a cell, whether the row is lost."""
        return self._has(RowRanking.is_lost, cells, changes)

    def _has(self, outcome: Outcome, cells: np.ndarray, changes: np.ndarray) -> np.ndarray:
        """For each change of a cell whether the row has that outcome."""
        outcomes = []
        for start in range(0, len(cells), self._at_once):
            some = slice(start, start + self._at_once)
            values = np.tile(self._part, (len(cells[some]), 1))
            places = np.arange(len(values)), cells[some]
            changed = ~values[places] if self._is_flag else values[places] + changes[some]
            values[places] = np.clip(changed, *self._ends)
            rows = self._row.rows(self._name, values.reshape(-1, *self._row.arrays[self._name].shape))
            outcomes.append(outcome(self._ranking, rows))
        return np.concatenate(outcomes) if outcomes else np.zeros(0, dtype=bool)


def _power_of_ten(largest: float) -> float:
    """The power of ten at or above the largest number; 1 if all are 0."""
    return 10.0 ** min(max(math.ceil(math.log10(largest)), -300), 304) if largest else 1.0


Between = Literal["", "tie", "sharp"]
DIGITS = range(4, 8)
"""The numbers of digits tried for writing both sides of a threshold, fewest first."""


@dataclass(frozen=True)
class Flip:
    """The number of a stage whose smallest change flips the order of a row."""

    cell: Cell  # with its current value
    stays: float  # a value next to the threshold that flips nothing
    turns: float  # a value next to the threshold that flips the row
    winner: int  # the place that leads after the flip
    # what lies between `stays` and `turns`: "", the threshold alone; "tie", an interval in which leader and rival tie;
    # "sharp", the threshold, to which both are as close as it is known, as no short numbers lie near it
    between: Between = ""


@dataclass(frozen=True)
class StageFlip:
    """The flip of one stage."""

    stage: str
    flip: Flip | None  # none if no tried change flips the row
    most: float  # the largest change tried; 0 if the stage was too large to search
    is_unconfirmed: bool = False  # whether the search found a change that the pass itself didn't confirm


def flips(trace: Trace, ranking: RowRanking) -> tuple[StageFlip, ...]:
    """For each stage before a row, the one number whose smallest change flips the row's order.

    Each number is changed alone, up and down, by each of `TRIAL_SIZES`, from a thousandth of a stage's unit to a
    thousand units. Of the numbers that turn the order over at the first size at which any does, the one with the
    smallest change is found by bisection, and both sides of it are confirmed in the pass (`Trace.with_changes`).

    Certain are the two sides, and that no smaller step of any number flips the order, nor any of `BELOW` sizes below
    the change found. A number that flips it and back again between two of these may be missed.

    >>> from attnviz.analysis.row_ranking import ranking_of
    >>> from attnviz.models import MODELS
    >>> trace = MODELS["who-is-it"].at(0).trace("the animal did not cross the street because it was too tired")
    >>> found = {each.stage: each.flip for each in flips(trace, ranking_of(trace, "probabilities", (11, 0)))}
    >>> trace.name_of(found["scores"].cell), found["scores"].stays, found["scores"].turns
    ('scores[head 1, tired, animal]', 30.16, 30.15)
    """
    if not ranking.is_won(trace[ranking.stage].value[ranking.row]):
        return ()
    row = OneRow(trace, ranking.stage, ranking.row)
    searches = {stage.name: SmallestFlip(row, ranking, stage) for stage in row.stages[:-1]}
    affordable = _affordable(searches)
    return tuple(
        _flip_in(trace, ranking, row, trace[name], search) if name in affordable else StageFlip(name, None, 0.0)
        for name, search in searches.items()
    )


def _affordable(searches: Mapping[str, SmallestFlip]) -> set[str]:
    """The stages to search, smallest first, as many as `MAX_FLIP_NUMBERS` allows."""
    by_size = sorted(searches, key=lambda name: searches[name].n_numbers)
    sums = accumulate(searches[name].n_numbers for name in by_size)
    return {name for name, total in zip(by_size, sums, strict=True) if total <= MAX_FLIP_NUMBERS}


def _flip_in(trace: Trace, ranking: RowRanking, row: OneRow, stage: Stage, search: SmallestFlip) -> StageFlip:
    """The flip of a stage, as the shortest numbers on both sides of the threshold that the pass itself confirms."""
    interval = search.interval()
    if interval is None:
        return StageFlip(stage.name, None, search.most)
    cell = stage.cell(row.index(stage.name, interval.cell))
    for between, stays, turns in _sides(trace, cell, interval, search):
        before, after = (_row_with(trace, ranking, cell, number) for number in (stays, turns))
        if ranking.is_won(before) and ranking.is_lost(after):
            return StageFlip(stage.name, Flip(cell, stays, turns, ranking.winner(after), between), search.most)
    return StageFlip(stage.name, None, search.most, is_unconfirmed=True)


def _sides(
    trace: Trace, cell: Cell, interval: Interval, search: SmallestFlip
) -> Iterator[tuple[Between, float, float]]:
    """Pairs of numbers on both sides of a threshold, shortest first."""
    if trace[cell.stage].value.dtype == bool:
        yield "", cell.value, 1 - cell.value
        return
    for digits in DIGITS:
        turns, unit = _short(cell.value, interval.sign, interval.high, digits)
        yield from (("", float(turns - interval.sign * n * unit), float(turns)) for n in (1, 2))
    kept = search.kept(interval)
    for digits in DIGITS if kept < interval.low else ():
        (turns, _), (beyond, unit) = (_short(cell.value, interval.sign, size, digits) for size in (interval.high, kept))
        yield "tie", float(beyond - interval.sign * unit), float(turns)
    for apart in (0.0, 1e-12, 1e-9, PRECISION, 1e-5):
        below, above = interval.sign * (kept * (1 - apart)), interval.sign * (interval.high * (1 + apart))
        yield "sharp" if kept == interval.low else "tie", cell.value + below, cell.value + above


def _short(value: float, sign: int, change: float, digits: int) -> tuple[Decimal, Decimal]:
    """The next number beyond a change with so many digits of the change, and the unit of the last digit."""
    unit = Decimal((0, (1,), math.floor(math.log10(change or 1.0)) - digits + 1))
    beyond = Decimal(value + sign * change) / unit
    return beyond.to_integral_value(ROUND_CEILING if sign > 0 else ROUND_FLOOR) * unit, unit


def _row_with(trace: Trace, ranking: RowRanking, cell: Cell, number: float) -> np.ndarray:
    """The row after setting a number; NaN if another number overflows."""
    try:
        return trace.with_change(cell.stage, cell.index, number)[ranking.stage].value[ranking.row]
    except ArrayError:
        return np.full(trace[ranking.stage].shape[-1], np.nan)
