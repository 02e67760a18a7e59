"""Row: what a single row of a pass is computed from, run forward for many numbers of one stage at once.

Of the stages on the way to the row only those places are computed that it
reads: a query's row of attention needs one row of the scores, and all keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.core.graph import leading_to
from attnviz.core.operations.linear import Addition
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.online_softmax import RunningOutput, RunningSum
from attnviz.core.operations.scores import Hide
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

_AS_ROWS = {"token": "query"}
"""Axes of rows: the input and the stage it is added to on the residual stream have tokens, later stages queries."""

_ALIGNED = (Addition, Hide, LayerNorm, RMSNorm)
"""The operations that broadcast masks, gains and biases from the last axis: a batch of these needs the axes between."""
_UNBOUNDED = (RunningSum, RunningOutput)
"""What may go beyond float64 and leave no trace of it in the row, as a number over infinity is 0."""


class OneRow:
    """The stages on the way to one row.

    Attributes
    ----------
    stages : tuple of Stage
        The row's own is the last of them.
    arrays : dict of stage names to ndarray
        Those parts of them that the row is computed from.
    """

    def __init__(self, trace: Trace, name: str, row: Sequence[int]):
        self.stages = leading_to(trace.stages, name)
        self._axes = {stage.name: stage.axes for stage in self.stages}
        self._places = _places(self.stages, dict(zip(trace[name].axes[:-1], row, strict=True)))
        self._operations = {
            stage.name: stage.operation.cut(self._places[stage.inputs[0]]) for stage in self.stages if stage.inputs
        }
        self._missing = {stage.name: self._missing_axes(stage) for stage in self.stages}
        self._unbounded = {stage.name for stage in self.stages if isinstance(stage.operation, _UNBOUNDED)}
        self.arrays = {stage.name: self._part(stage, stage.value) for stage in self.stages}
        self._by_hand = {stage.name: self._set(stage) for stage in self.stages if stage.overridden}
        self._after = {stage.name: self._reached(stage.name) for stage in self.stages}

    def index(self, name: str, cell: int) -> tuple[int, ...]:
        """Where a cell of the part of a stage, counted along all of it, is in the whole stage."""
        places = np.unravel_index(cell, self.arrays[name].shape)
        kept = self._places[name]
        return tuple(kept.get(axis, int(at)) for axis, at in zip(self._axes[name], places, strict=True))

    def n_numbers(self, name: str) -> int:
        """The count of numbers that are computed for one changed number of a stage."""
        return self.arrays[name].size + sum(self.arrays[stage.name].size for stage in self._after[name])

    def rows(self, name: str, values: np.ndarray) -> np.ndarray:
        """The row, for each of many arrays in place of a stage's part.

        Parameters
        ----------
        name : str
        values : ndarray (n, *shape of the part)

        Returns
        -------
        ndarray (n, places)
            NaN, which is ahead of nothing, where numbers on the way go beyond float64: no such number can be set.
        """
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
        """Which inputs of a stage need more axes after that of a batch, and how many."""
        if not isinstance(stage.operation, _ALIGNED):
            return []
        missing = [len(stage.axes) - len(self._axes[each]) for each in stage.inputs]
        return [(at, n) for at, n in enumerate(missing) if n]

    def _reached(self, name: str) -> list[Stage]:
        """The stages that are computed from one, in their order."""
        reached = {name}
        after = []
        for stage in self.stages:
            if not reached.isdisjoint(stage.inputs):
                reached.add(stage.name)
                after.append(stage)
        return after

    def _part(self, stage: Stage, array: np.ndarray) -> np.ndarray:
        """Of an array of a stage, or of many, those places that count; an axis that is cut already stays."""
        for axis, place in self._places[stage.name].items():
            at = stage.axes.index(axis) - len(stage.axes)
            if array.shape[at] > 1:
                array = array.take([place], axis=at)
        return array

    def _set(self, stage: Stage) -> np.ndarray:
        """The places of a part at which a number is set by hand."""
        is_set = np.zeros(stage.shape, dtype=bool)
        for index in stage.overridden:
            is_set[index] = True
        return self._part(stage, is_set)


def _places(stages: Sequence[Stage], place_of: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """For each stage the axes along which one place counts: those of the row that all stages which read it have too."""
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
