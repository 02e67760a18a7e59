"""Flip: for each stage the number whose smallest change turns a model's answer over, or the order of two shares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import accumulate
from typing import Literal

import numpy as np

from attnviz.analysis.flips.contest import Contest
from attnviz.analysis.flips.row import OneRow
from attnviz.analysis.flips.search import PRECISION, Interval, Smallest
from attnviz.core.errors import ArrayError
from attnviz.core.limits import MAX_FLIP_NUMBERS
from attnviz.core.stage import Stage
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace

DIGITS = range(4, 8)
"""In how many digits of the change the two sides of a threshold are written: the first that do."""


@dataclass(frozen=True)
class Flip:
    """The number of a stage whose smallest change turns the order of a row over.

    Attributes
    ----------
    cell : Cell
        As it is.
    stays : float
        What it may be at most, or at least, without turning anything.
    turns : float
        What does turn it.
    winner : int
        The place that is ahead then.
    between : {"", "tie", "sharp"}
        What is between the two. By default nothing but the threshold: both are short, and the next to each other. Or
        the leader and another tie from the one to the other, which are short. Or no short numbers stand beside the
        threshold: they are no nearer to each other than it is known.
    """

    cell: Cell
    stays: float
    turns: float
    winner: int
    between: Literal["", "tie", "sharp"] = ""


@dataclass(frozen=True)
class StageFlip:
    """The flip of one stage.

    Attributes
    ----------
    stage : str
    flip : Flip or None
        None where no change that was tried turns anything.
    most : float
        The largest change of a number that was tried; 0 where the stage is too large to try any.
    is_unconfirmed : bool
        Whether the search found a change that does not turn the row when it is set in the pass: there is no answer.
    """

    stage: str
    flip: Flip | None
    most: float
    is_unconfirmed: bool = False


def flips(trace: Trace, contest: Contest) -> tuple[StageFlip, ...]:
    """For each stage that a row is computed from, the one number whose smallest change turns the row's order over.

    Each number is changed alone, up and down, by each of `search.TRIAL_SIZES`, from a thousandth of a stage's unit to a
    thousand units. Of the numbers that turn the order over at the first size at which any does, the one with the
    smallest change is found by bisection, and both sides of it are set in the pass itself (`Trace.with_changes`).

    What is sure: the two sides, and that no smaller step turns the order over, whichever number takes it; nor does any
    of `search.BELOW` sizes below the change that was found. A number that turns it over and back again between two
    of these may be missed.

    Parameters
    ----------
    trace : Trace
        Numbers set by hand keep what they are.
    contest : Contest

    Returns
    -------
    tuple of StageFlip
        In the order of the stages, without the row's own; empty where nobody is ahead. Hidden cells, which are -inf,
        are left alone; those of a boolean mask are turned, which counts as a change of 1. Shares stay between 0 and 1.
        The largest stages aren't tried where that would compute more than `MAX_FLIP_NUMBERS` numbers in each step.

    Examples
    --------
    >>> from attnviz.analysis.flips.contest import contest_of
    >>> from attnviz.models import MODELS
    >>> trace = MODELS["who-is-it"].at(0).trace("the animal did not cross the street because it was too tired")
    >>> found = {each.stage: each.flip for each in flips(trace, contest_of(trace, "probabilities", (11, 0)))}
    >>> trace.name_of(found["scores"].cell), found["scores"].stays, found["scores"].turns
    ('scores[head 1, tired, animal]', 30.16, 30.15)
    """
    if not contest.is_won(trace[contest.stage].value[contest.row]):
        return ()
    row = OneRow(trace, contest.stage, contest.row)
    searches = {stage.name: Smallest(row, contest, stage) for stage in row.stages[:-1]}
    affordable = _affordable(searches)
    return tuple(
        _flip_in(trace, contest, row, trace[name], search) if name in affordable else StageFlip(name, None, 0.0)
        for name, search in searches.items()
    )


def _affordable(searches: Mapping[str, Smallest]) -> set[str]:
    """The stages that are tried: the smaller ones first, as many as `MAX_FLIP_NUMBERS` allows."""
    by_size = sorted(searches, key=lambda name: searches[name].n_numbers)
    sums = accumulate(searches[name].n_numbers for name in by_size)
    return {name for name, total in zip(by_size, sums, strict=True) if total <= MAX_FLIP_NUMBERS}


def _flip_in(trace: Trace, contest: Contest, row: OneRow, stage: Stage, search: Smallest) -> StageFlip:
    interval = search.interval()
    if interval is None:
        return StageFlip(stage.name, None, search.most)
    flip = _checked(trace, contest, stage.cell(row.index(stage.name, interval.cell)), interval, search)
    return StageFlip(stage.name, flip, search.most, is_unconfirmed=flip is None)


def _checked(trace: Trace, contest: Contest, cell: Cell, interval: Interval, search: Smallest) -> Flip | None:
    """The two sides of a change, both set in the pass: the shortest numbers that do; None where setting none agrees."""
    for between, stays, turns in _sides(trace, cell, interval, search):
        before, after = (_row_with(trace, contest, cell, number) for number in (stays, turns))
        if contest.is_won(before) and contest.is_lost(after):
            return Flip(cell, stays, turns, contest.winner(after), between)
    return None


def _sides(trace: Trace, cell: Cell, interval: Interval, search: Smallest) -> Iterator[tuple[str, float, float]]:
    """The pairs of numbers on both sides of a threshold, the shortest first."""
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
        stays, turns = (cell.value + interval.sign * size for size in (kept * (1 - apart), interval.high * (1 + apart)))
        yield "sharp" if kept == interval.low else "tie", stays, turns


def _short(value: float, sign: int, change: float, digits: int) -> tuple[Decimal, Decimal]:
    """The next number beyond a change, in so many digits of the change, and the unit of the last of them."""
    unit = Decimal((0, (1,), math.floor(math.log10(change or 1.0)) - digits + 1))
    beyond = Decimal(value + sign * change) / unit
    return beyond.to_integral_value(ROUND_CEILING if sign > 0 else ROUND_FLOOR) * unit, unit


def _row_with(trace: Trace, contest: Contest, cell: Cell, number: float) -> np.ndarray:
    """The row once a number is set by hand; of no numbers where another goes beyond float64."""
    try:
        return trace.with_change(cell.stage, cell.index, number)[contest.stage].value[contest.row]
    except ArrayError:
        return np.full(trace[contest.stage].shape[-1], np.nan)
