"""Nearness: whether a pass may make someone's arrays, by a few rows in float32. Mistakes are many, and most don't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attnviz.analysis.check.agreement import beside, both_hide, targets
from attnviz.analysis.check.arrays import OwnArrays
from attnviz.analysis.check.candidates import Candidate
from attnviz.analysis.check.formats import FLOAT32
from attnviz.analysis.check.nodes import Nodes, evaluated
from attnviz.analysis.check.rounding import Precision, Rounded
from attnviz.analysis.check.stages import later_than_scores

_ROUNDINGS = 1e5
"""By so many roundings no correct number is off."""

_ROWS = 16
"""So many rows are looked at."""


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
    def _late(self) -> set[str]:
        """The stages after the heads side by side, of which each row is made of the same row: only some are made."""
        names = later_than_scores()
        return set(names[names.index("concat") + 1 :]) & set(self.nodes)

    @cached_property
    def _queries(self) -> np.ndarray:
        """Those whose rows are looked at."""
        n = self.candidate.sizes.get("t", 1)
        return np.unique(np.linspace(0, n - 1, min(n, _ROWS)).astype(int))

    def _made(self, nodes: Nodes) -> Mapping[str, Rounded]:
        changed = {}
        for name in self._late:
            for read in {"concat", "x"}.intersection(nodes[name].inputs):
                changed[name] = changed.get(name, nodes[name]).with_input(read, self._some)
        return evaluated({**nodes, **changed}, self._rough, self._wanted.intersection(nodes))

    def _some(self, rows: np.ndarray) -> np.ndarray:
        return rows[..., self._queries, :]

    def _seeing(self, values: Mapping[str, Rounded]) -> np.ndarray | None:
        """Which of the queries see a key, as what others get is anybody's; None if all do."""
        if "masked" not in values or "attention" not in self._wanted | self._late:
            return None
        unseeing = np.isneginf(self._some(values["masked"].value)).all(axis=-1)
        return ~unseeing.reshape(-1, unseeing.shape[-1]).any(axis=0) if unseeing.any() else None

    def _agrees(self, stage: str, values: Mapping[str, Rounded], seeing: np.ndarray | None) -> bool:
        """Whether an array is near one of the stages that it may be, in one of its layouts."""
        if stage != self.differs and all(values.get(each) is self._before.get(each) for each in targets(stage)):
            return True
        for target, _, _, read, expected in beside(self.own[stage], stage, values, self.candidate):
            n = self.candidate.sizes.get("t")
            yours, ours = read, expected.value
            if n and yours.ndim > 1 and yours.shape[-2] == n:
                yours = self._some(yours)
                ours = ours if target in self._late else self._some(ours)
                if seeing is not None:
                    yours, ours = yours[..., seeing, :], ours[..., seeing, :]
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
