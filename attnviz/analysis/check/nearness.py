"""Nearness: whether a pass may make someone's arrays, by a few rows in float32. Mistakes are many, and most don't."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from attnviz.analysis.check.agreement import beside, both_hide, targets
from attnviz.analysis.check.arrays import OwnArrays
from attnviz.analysis.check.candidates import Candidate
from attnviz.analysis.check.distance import as_numbers, is_of_queries, rows_that_see, seeing_in
from attnviz.analysis.check.formats import FLOAT32
from attnviz.analysis.check.nodes import Nodes
from attnviz.analysis.check.rounding import Precision, Rounded

_ROUNDINGS = 1e5
"""By so many roundings no correct number is off."""

_ROWS = 8
"""So many rows are looked at."""

_COLUMNS = 32
"""So many columns of the output are looked at, which are each a large sum."""

_SCORED = ("scores", "scaled", "capped", "masked", "attention", "heads", "concat")
_AFTER_OUTPUT = {"residual", "mlp_norm", "hidden", "active", "mlp", "mlp_residual"}
_ROW_BY_ROW = {*_SCORED, "output", *_AFTER_OUTPUT}
"""The stages whose operations make each row of the rows of the same query, and of all keys."""


@dataclass(frozen=True, eq=False)
class Nearness:
    """What is asked of passes: whether they are near someone's arrays, as far as one that differs is to be explained.

    Attributes
    ----------
    own : mapping of stages to OwnArray
    candidate : Candidate
    precision : Precision
        Of the arrays.
    nodes : mapping of stages to Node
        Those of the pass before anything in it is changed.
    agree : set of str
        The arrays that agree with it.
    differs : str
        The array that doesn't.
    """

    own: OwnArrays
    candidate: Candidate
    precision: Precision
    nodes: Nodes
    agree: set[str]
    differs: str
    _columns: dict[Rounded, Rounded] = field(default_factory=dict, repr=False)

    def of(self, nodes: Nodes) -> bool:
        """Whether the arrays are near a pass."""
        return bool(self.of_each(nodes).all())

    def of_each(self, nodes: Nodes) -> np.ndarray:
        """Whether they are near each of several passes, which are on an axis before the others."""
        values = self._made(nodes)
        seeing = seeing_in(values)
        near = np.ones((), dtype=bool)
        for stage in (self.differs, *self.agree):
            near = near & self._agrees(stage, values, seeing)
            if not near.any():
                break
        return near

    @cached_property
    def size(self) -> float:
        """How far off, in parts of the largest number, what a mistake makes may be: angles in float32 are."""
        return min(_ROUNDINGS * max(self.precision.epsilon, FLOAT32.epsilon), self.precision.nearness)

    @cached_property
    def _rough(self) -> Precision:
        return replace(self.precision, is_rough=True, is_single=True)

    @cached_property
    def _wanted(self) -> set[str]:
        found = {name for stage in (self.differs, *self.agree) for name in targets(stage)}
        return found.union({"masked"} if "attention" in self.nodes else ())

    @cached_property
    def _before(self) -> Mapping[str, Rounded]:
        return self._made(self.nodes)

    @cached_property
    def _queries(self) -> np.ndarray:
        """Those whose rows are looked at."""
        return _spread(self.candidate.sizes.get("t", 1), _ROWS)

    def _made(self, nodes: Nodes) -> Mapping[str, Rounded]:
        """The rows of the stages; what mixes rows is made as a whole before."""
        whole: dict[str, Rounded] = {}
        some: dict[str, Rounded] = {}

        def all_of(name: str) -> Rounded:
            if name not in whole:
                node = nodes[name]
                whole[name] = node.made([all_of(each) for each in node.inputs], self._rough)
            return whole[name]

        def rows_of(name: str) -> Rounded:
            if name not in some:
                node = nodes[name]
                if name in _ROW_BY_ROW and node.operation and "running_output" not in node.inputs:
                    read = [rows_of(each) for each in node.inputs]
                    if name == "output" and self._ends_with_output:
                        read = [read[0], *map(self._with_some_columns, read[1:])]
                    some[name] = node.make(read, self._rough)
                else:
                    some[name] = all_of(name).map(self._some) if is_of_queries(name) else all_of(name)
            return some[name]

        return {name: rows_of(name) for name in self._wanted.intersection(nodes)}

    def _some(self, rows: np.ndarray) -> np.ndarray:
        n = self.candidate.sizes.get("t")
        return rows[..., self._queries, :] if rows.ndim > 1 and rows.shape[-2] == n else rows

    @cached_property
    def _ends_with_output(self) -> bool:
        """Whether nothing that follows the output is compared."""
        return not self._wanted & _AFTER_OUTPUT

    def _with_some_columns(self, parameter: Rounded) -> Rounded:
        if parameter not in self._columns:
            some = _spread(parameter.value.shape[-1], _COLUMNS)
            self._columns[parameter] = parameter.map(lambda array: np.ascontiguousarray(array[..., some]))
        return self._columns[parameter]

    def _agrees(self, stage: str, values: Mapping[str, Rounded], seeing: np.ndarray | None) -> np.ndarray | bool:
        """Whether an array is near one of the stages that it may be, in one of its layouts."""
        if stage != self.differs and all(values.get(each) is self._before.get(each) for each in targets(stage)):
            return True
        near = np.zeros((), dtype=bool)
        for target, _, _, read, expected in beside(self.own[stage], stage, values, self.candidate):
            yours, ours = read, expected.value
            if is_of_queries(target):
                yours = rows_that_see(self._some(yours), seeing)
                ours = rows_that_see(ours, seeing)
            if target == "output" and self._ends_with_output:
                some = _spread(yours.shape[-1], _COLUMNS)
                yours, ours = yours[..., some], ours if ours.shape[-1] == len(some) else ours[..., some]
            if yours.shape == ours.shape[-yours.ndim :] and ours.ndim <= yours.ndim + 1:
                near = near | self._are_near(yours, ours, target)
                if near.all():
                    break
        return near

    def _are_near(self, yours: np.ndarray, ours: np.ndarray, stage: str) -> np.ndarray:
        yours, ours = as_numbers(yours, ours)
        axes = tuple(range(-yours.ndim, 0))
        if yours.dtype == bool:
            return (yours == ours).all(axis=axes)
        largest = np.abs(yours).max(initial=0.0)
        if not math.isfinite(largest):
            largest = np.abs(yours[np.isfinite(yours)]).max(initial=0.0)
        is_near = np.abs(yours - ours) <= self.size * largest
        near = is_near.all(axis=axes)
        if near.all():
            return near
        is_near |= (yours == ours) | both_hide(stage, yours, ours) | (np.isnan(yours) & np.isnan(ours))
        return is_near.all(axis=axes)


def _spread(n: int, most: int) -> np.ndarray:
    """So many of n places at most, as far from each other as can be."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
