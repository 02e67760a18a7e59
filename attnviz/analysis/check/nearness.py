"""Nearness: whether a pass may make someone's arrays, by a few rows in float32. Mistakes are many, and most don't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from attnviz.analysis.check.agreement import beside, both_hide, targets
from attnviz.analysis.check.arrays import OwnArrays
from attnviz.analysis.check.candidates import Candidate
from attnviz.analysis.check.formats import FLOAT32
from attnviz.analysis.check.nodes import Nodes
from attnviz.analysis.check.rounding import Precision, Rounded
from attnviz.analysis.check.stages import stages

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
        values = self._made(nodes)
        seeing = self._seeing(values)
        return all(self._agrees(stage, values, seeing) for stage in (self.differs, *self.agree))

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
                    some[name] = all_of(name).map(self._some) if _is_of_queries(name) else all_of(name)
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

    def _seeing(self, values: Mapping[str, Rounded]) -> np.ndarray | None:
        """Which of the queries see a key, as what others get is anybody's; None if all do."""
        if "masked" not in values:
            return None
        unseeing = np.isneginf(values["masked"].value).all(axis=-1)
        return ~unseeing.reshape(-1, unseeing.shape[-1]).any(axis=0) if unseeing.any() else None

    def _agrees(self, stage: str, values: Mapping[str, Rounded], seeing: np.ndarray | None) -> bool:
        """Whether an array is near one of the stages that it may be, in one of its layouts."""
        if stage != self.differs and all(values.get(each) is self._before.get(each) for each in targets(stage)):
            return True
        for target, _, _, read, expected in beside(self.own[stage], stage, values, self.candidate):
            yours, ours = read, expected.value
            if _is_of_queries(target):
                yours = self._some(yours)
                if seeing is not None and yours.ndim > 1 and yours.shape[-2] == len(seeing):
                    yours, ours = yours[..., seeing, :], ours[..., seeing, :]
            if target == "output" and self._ends_with_output:
                some = _spread(yours.shape[-1], _COLUMNS)
                yours, ours = yours[..., some], ours if ours.shape[-1] == len(some) else ours[..., some]
            if yours.shape == ours.shape and self._are_near(yours, ours, target):
                return True
        return False

    def _are_near(self, yours: np.ndarray, ours: np.ndarray, stage: str) -> bool:
        if yours.dtype == bool != ours.dtype or ours.dtype == bool != yours.dtype:
            yours, ours = (np.where(each, 0.0, -np.inf) if each.dtype == bool else each for each in (yours, ours))
        if yours.dtype == bool:
            return bool((yours == ours).all())
        is_near = np.abs(yours - ours) <= self.size * np.abs(yours[np.isfinite(yours)]).max(initial=0.0)
        if is_near.all():
            return True
        yours, ours = yours[~is_near], ours[~is_near]
        alike = (yours == ours) | both_hide(stage, yours, ours) | (np.isnan(yours) & np.isnan(ours))
        return bool(alike.all())


def _is_of_queries(stage: str) -> bool:
    """Whether a stage has a row for each query."""
    return stage == "mask" or stages().get(stage, ())[-2:-1] in (("query",), ("token",))


def _spread(n: int, most: int) -> np.ndarray:
    """So many of n places at most, as far from each other as can be."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
