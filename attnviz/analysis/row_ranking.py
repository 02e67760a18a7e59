"""The order of a row of weights or probabilities, and the row alone recomputed for many changed numbers at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.linear import Addition
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.online_softmax import RunningOutput, RunningSum
from attnviz.core.operations.operation import Source
from attnviz.core.operations.scores import Hide
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import Stage, ancestors
from attnviz.core.trace import Trace
from attnviz.models.task import most_probable


@dataclass(frozen=True)
class RowRanking:
    """The order of one softmax row: its leader and the rivals."""

    stage: str
    row: tuple[int, ...]  # the index of the row, which lacks the last axis
    leader: int  # the place along the last axis that leads
    rivals: tuple[int, ...]  # the places that it leads

    def is_won(self, weights: np.ndarray) -> np.ndarray:
        """For each of many rows, whether the leader alone is ahead by more than rounding."""
        first = self._most(weights)
        return first[..., 0] & ~first[..., 1:].any(axis=-1)

    def is_lost(self, weights: np.ndarray) -> np.ndarray:
        """For each of many rows, whether a rival is ahead of the leader by more than rounding."""
        first = self._most(weights)
        return first[..., 1:].any(axis=-1) & ~first[..., 0]

    def winner(self, weights: np.ndarray) -> int:
        """The place that is ahead in one row."""
        return (self.leader, *self.rivals)[int(self._most(weights).argmax())]

    def _most(self, weights: np.ndarray) -> np.ndarray:
        return most_probable(weights[..., [self.leader, *self.rivals]])


def ranking_of(trace: Trace, name: str, index: Sequence[int]) -> RowRanking | None:
    """The ranking that a softmax's cell takes part in.

    For a model's answers: the largest against all others. An attention weight is ranked against the largest of its row,
    and the largest against the second.
    """
    stage = trace[name]
    if not isinstance(stage.operation, Softmax) or stage.shape[-1] == 1:
        return None
    *row, place = index
    weights = stage.value[tuple(row)]
    first, second = np.argsort(-weights, kind="stable")[:2].tolist()
    if stage.axes[-1] == "answer":
        return RowRanking(name, tuple(row), first, tuple(n for n in range(len(weights)) if n != first))
    return rank_two(trace, name, row, first, second if place == first else place)


def rank_two(trace: Trace, name: str, row: Sequence[int], one: int, other: int) -> RowRanking:
    """Two weights of a row, of which the larger leads; the first named if they are equal."""
    weights = trace[name].value[tuple(row)]
    leader, rival = (other, one) if weights[other] > weights[one] else (one, other)
    return RowRanking(name, tuple(row), leader, (rival,))


_AS_ROWS = {"token": "query"}
"""Axes of rows: the input and the stage it is added to on the residual stream have tokens, later stages queries."""

_ALIGNED = (Addition, Hide, LayerNorm, RMSNorm)
"""The operations that broadcast masks, gains and biases from the last axis: a batch of these needs the axes between."""
_UNBOUNDED = (RunningSum, RunningOutput)
"""Operations that may overflow without a trace in the row, as a number over infinity is 0."""


class OneRow:
    """The stages on the way to one row."""

    def __init__(self, trace: Trace, name: str, row: Sequence[int]):
        self.stages = ancestors(trace.stages, name)
        self._axes = {stage.name: stage.axes for stage in self.stages}
        self._places = _places(self.stages, dict(zip(trace[name].axes[:-1], row, strict=True)))
        self._operations = {
            stage.name: stage.operation.cut(self._places[stage.inputs[0]])
            for stage in self.stages
            if not isinstance(stage.operation, Source)
        }
        self._missing = {stage.name: self._missing_axes(stage) for stage in self.stages}
        self._unbounded = {stage.name for stage in self.stages if isinstance(stage.operation, _UNBOUNDED)}
        self.arrays = {stage.name: self._part(stage, stage.value) for stage in self.stages}
        self._by_hand = {stage.name: self._set(stage) for stage in self.stages if stage.overridden}
        self._after = {stage.name: self._reached(stage.name) for stage in self.stages}

    def index(self, name: str, cell: int) -> tuple[int, ...]:
        """The index in the whole stage of a cell given by its flat position in the part."""
        places = np.unravel_index(cell, self.arrays[name].shape)
        kept = self._places[name]
        return tuple(kept.get(axis, int(at)) for axis, at in zip(self._axes[name], places, strict=True))

    def n_numbers(self, name: str) -> int:
        """How many numbers are recomputed when one of a stage changes."""
        return self.arrays[name].size + sum(self.arrays[stage.name].size for stage in self._after[name])

    def rows(self, name: str, values: np.ndarray) -> np.ndarray:
        """The row for each of many replacements of a stage's part."""
        arrays = {name: values}
        is_possible = np.ones(len(values), dtype=bool)
        with np.errstate(over="ignore", invalid="ignore"):
            for stage in self._after[name]:
                inputs = [arrays.get(each, self.arrays[each]) for each in stage.inputs]
                for at, missing in self._missing[stage.name]:
                    if stage.inputs[at] in arrays:
                        batch = inputs[at]
                        inputs[at] = batch.reshape(len(batch), *[1] * missing, *batch.shape[1:])
                made = self._part(stage, self._operations[stage.name].compute(*inputs))
                if stage.name in self._by_hand:
                    made = np.where(self._by_hand[stage.name], self.arrays[stage.name], made)
                arrays[stage.name] = made
                if stage.name in self._unbounded:
                    is_possible &= np.isfinite(made).reshape(len(values), -1).all(axis=1)
            return np.where(is_possible[:, None], arrays[self.stages[-1].name].reshape(len(values), -1), np.nan)

    def _missing_axes(self, stage: Stage) -> list[tuple[int, int]]:
        """How many axes each input of a stage needs after the batch axis."""
        if not isinstance(stage.operation, _ALIGNED):
            return []
        missing = [len(stage.axes) - len(self._axes[each]) for each in stage.inputs]
        return [(at, n) for at, n in enumerate(missing) if n]

    def _reached(self, name: str) -> list[Stage]:
        """The stages computed from one, in order."""
        reached = {name}
        after = []
        for stage in self.stages:
            if not reached.isdisjoint(stage.inputs):
                reached.add(stage.name)
                after.append(stage)
        return after

    def _part(self, stage: Stage, array: np.ndarray) -> np.ndarray:
        """The places of a stage's array, or of a batch of them, that the row depends on."""
        for axis, place in self._places[stage.name].items():
            at = stage.axes.index(axis) - len(stage.axes)
            if array.shape[at] > 1:
                array = array.take([place], axis=at)
        return array

    def _set(self, stage: Stage) -> np.ndarray:
        """The places of a part where a number is set by hand."""
        is_set = np.zeros(stage.shape, dtype=bool)
        for index in stage.overridden:
            is_set[index] = True
        return self._part(stage, is_set)


def _places(stages: Sequence[Stage], place_of: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """For each stage, the axes along which the row depends on one place only."""
    axes_of: dict[str, dict[str, int]] = {}
    for stage in reversed(stages):
        readers = [
            {_AS_ROWS.get(axis, axis) for axis in axes_of[each.name]} for each in stages if stage.name in each.inputs
        ]
        rows = ((axis, _AS_ROWS.get(axis, axis)) for axis in stage.axes)
        axes_of[stage.name] = {
            axis: place_of[row] for axis, row in rows if row in place_of and all(row in reader for reader in readers)
        }
    return axes_of
