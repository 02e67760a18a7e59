"""Prefilter: compare a few rows in float32, which rules out most mistakes quickly."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from weakref import proxy

import numpy as np

from attnviz.checks.explain.agreement import (
    Form,
    as_numbers,
    both_hide,
    forms_of,
    is_of_queries,
    rows_that_see,
    seeing_in,
    targets,
)
from attnviz.checks.explain.candidates import Candidate
from attnviz.checks.explain.nodes import Node, Nodes
from attnviz.checks.read.arrays import OwnArrays
from attnviz.checks.read.formats import FLOAT32
from attnviz.checks.read.masks import HIDES
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.checks.read.stages import score_stages

_ROUNDINGS = 1e5  # no correct number is off by so many rounding errors
ROWS = 8  # how many rows are compared
_COLUMNS = 32  # how many columns of the output are compared, as each is a large sum
_SCORED = ("scores", "scaled", "capped", "masked", "attention", "heads", "concat")
_AFTER_OUTPUT = {"residual", "mlp_norm", "hidden", "active", "mlp", "mlp_residual"}
# Stages whose rows depend on the same query's rows alone, and on all keys
_ROW_BY_ROW = {*_SCORED, "output", *_AFTER_OUTPUT}


@dataclass(frozen=True, eq=False)
class Prefilter:
    """A quick test whether changed passes come near the arrays.

    Attributes
    ----------
    nodes : mapping of stages to Node
        The pass before it is changed.
    agree : set of str
        The arrays that agree with it.
    differs : str
        The first array that doesn't, which a changed pass has to come near.
    """

    own: OwnArrays
    candidate: Candidate
    precision: Precision
    nodes: Nodes
    agree: set[str]
    differs: str
    _columns: dict[Rounded, Rounded] = field(default_factory=dict, repr=False)
    _read: dict[str, list[tuple[Form, float]]] = field(default_factory=dict, repr=False)
    _last: dict[str, tuple[Node, list[Rounded], Rounded]] = field(default_factory=dict, repr=False)

    def of(self, nodes: Nodes) -> bool:
        """Whether a pass comes near."""
        return bool(self.of_each(nodes).all())

    def of_each(self, nodes: Nodes) -> np.ndarray:
        """Which of several passes, stacked on a leading axis, come near."""
        rows = _Rows(self, nodes)
        seeing = self._before.seeing if rows.hide_as_before else rows.seeing
        near = np.ones((), dtype=bool)
        for stage in (self.differs, *self.agree):
            near = near & self._agrees(stage, rows, seeing)
            if not near.any():
                break
        return near

    @cached_property
    def size(self) -> float:
        """The allowed difference relative to the largest number: angles in float32 are imprecise."""
        return min(_ROUNDINGS * max(self.precision.epsilon, FLOAT32.epsilon), self.precision.rough_tolerance)

    @cached_property
    def _rough(self) -> Precision:
        return replace(self.precision, is_rough=True, is_single=True)

    @cached_property
    def _before(self) -> _Rows:
        return _Rows(self, self.nodes)

    @cached_property
    def _made_of(self) -> Mapping[str, set[str]]:
        """Each stage with everything it is computed from."""
        made_of: dict[str, set[str]] = {}
        for name, node in self.nodes.items():
            made_of[name] = {name}.union(*(made_of[each] for each in node.inputs))
        return made_of

    @cached_property
    def _queries(self) -> np.ndarray:
        """The queries whose rows are compared."""
        return _spread(self.candidate.sizes.get("t", 1), ROWS)

    def _some(self, rows: np.ndarray) -> np.ndarray:
        n = self.candidate.sizes.get("t")
        return rows[..., self._queries, :] if rows.ndim > 1 and rows.shape[-2] == n else rows

    @cached_property
    def _ends_with_output(self) -> bool:
        """Whether no stage after the output is compared."""
        return _AFTER_OUTPUT.isdisjoint(name for stage in (self.differs, *self.agree) for name in targets(stage))

    def _with_some_columns(self, parameter: Rounded) -> Rounded:
        if parameter not in self._columns:
            some = _spread(parameter.value.shape[-1], _COLUMNS)
            self._columns[parameter] = parameter.map(lambda array: np.ascontiguousarray(array[..., some]))
        return self._columns[parameter]

    def _agrees(self, stage: str, rows: _Rows, seeing: np.ndarray | None) -> np.ndarray | bool:
        """Whether an array is near one of the stages that it may be, in any layout."""
        if stage != self.differs and all(rows.are_as_before(each) for each in targets(stage)):
            return True
        near = np.zeros((), dtype=bool)
        for form, largest in self._forms(stage):
            if form.target not in rows:
                continue
            ours = form.align(rows[form.target], self.candidate).value
            if is_of_queries(form.target):
                ours = rows_that_see(ours, seeing)
            for yours in form.reads:
                if is_of_queries(form.target):
                    yours = rows_that_see(yours, seeing)
                if form.target == "output" and self._ends_with_output and ours.shape[-1] != yours.shape[-1]:
                    ours = ours[..., _spread(ours.shape[-1], _COLUMNS)]
                if yours.shape == ours.shape[-yours.ndim :] and ours.ndim <= yours.ndim + 1:
                    near = near | self._are_near(yours, ours, form.target, largest)
                    if near.all():
                        return near
        return near

    def _forms(self, stage: str) -> list[tuple[Form, float]]:
        """The ways to read the compared rows of an array, with their largest number."""
        if stage not in self._read:
            self._read[stage] = [self._looked_at(each) for each in forms_of(self.own[stage], stage, self.candidate)]
        return self._read[stage]

    def _looked_at(self, form: Form) -> tuple[Form, float]:
        reads = tuple(self._some(each) if is_of_queries(form.target) else each for each in form.reads)
        if form.target == "output" and self._ends_with_output:
            reads = tuple(each[..., _spread(each.shape[-1], _COLUMNS)] for each in reads)
        numbers = reads[0][np.isfinite(reads[0])]
        return replace(form, reads=reads), float(np.abs(numbers, dtype=float).max(initial=0.0))

    def _are_near(self, yours: np.ndarray, ours: np.ndarray, stage: str, largest: float) -> np.ndarray:
        yours, ours = as_numbers(yours, ours)
        axes = tuple(range(-yours.ndim, 0))
        if yours.dtype == bool:
            return (yours == ours).all(axis=axes)
        off, allowed = np.abs(yours - ours), self.size * largest
        most = off.max(axis=axes, initial=0.0)
        if (most <= allowed).all():
            return most <= allowed
        if (stage in (*score_stages(), "mask") and largest >= -HIDES / 2) or not np.isfinite(most).all():
            is_near = (off <= allowed) | both_hide(stage, yours, ours)
            is_near |= (yours == ours) | (np.isnan(yours) & np.isnan(ours))
            return is_near.all(axis=axes)
        return most <= allowed


class _Rows:
    """The compared rows of a changed pass, computed on demand.

    Stages that mix rows are computed whole. Stages that nothing changed are taken from the unchanged pass.
    """

    def __init__(self, prefilter: Prefilter, nodes: Nodes):
        self._of, self._nodes = proxy(prefilter), nodes  # which keeps rows itself: a cycle would hold all of a search
        self._changed = {name for name, node in nodes.items() if node is not prefilter.nodes.get(name)}
        self._whole: dict[str, Rounded] = {}
        self._some: dict[str, Rounded] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._nodes

    def __getitem__(self, name: str) -> Rounded:
        if name not in self._some:
            self._some[name] = self._of._before[name] if self.are_as_before(name) else self._made(name)
        return self._some[name]

    @property
    def seeing(self) -> np.ndarray | None:
        """Which queries see a key."""
        is_hidden = "masked" in self._nodes and "attention" in self._of.nodes
        return seeing_in({"masked": self["masked"]}) if is_hidden else None

    @property
    def hide_as_before(self) -> bool:
        """Whether the mask and the masked scores are unchanged."""
        return bool(self._changed) and self._changed.isdisjoint(("mask", "masked"))

    def are_as_before(self, name: str) -> bool:
        """Whether no change affects a stage."""
        made_of = self._of._made_of.get(name)
        return bool(self._changed) and (name not in self._nodes or (made_of or {name}).isdisjoint(self._changed))

    def _made(self, name: str) -> Rounded:
        node = self._nodes[name]
        if name not in _ROW_BY_ROW or not node.operation or "running_output" in node.inputs:
            whole = self._as_a_whole(name)
            return whole.map(self._of._some) if is_of_queries(name) else whole
        read = [self[each] for each in node.inputs]
        if name == "output" and self._of._ends_with_output:
            read = [read[0], *map(self._of._with_some_columns, read[1:])]
        before = self._of._last.get(name)
        if before is None or before[0] is not node or not all(map(operator.is_, before[1], read)):
            before = self._of._last[name] = node, read, node.make(read, self._of._rough)
        return before[2]

    def _as_a_whole(self, name: str) -> Rounded:
        if name not in self._whole:
            if self.are_as_before(name):
                self._whole[name] = self._of._before._as_a_whole(name)
            else:
                node = self._nodes[name]
                self._whole[name] = node.made([self._as_a_whole(each) for each in node.inputs], self._of._rough)
        return self._whole[name]


@lru_cache(maxsize=16)
def _spread(n: int, most: int) -> np.ndarray:
    """At most `most` of n indices, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
