"""Rotation search: the rotations of queries and keys with which a pass makes someone's arrays, in one precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice

import numpy as np

from attnviz.checks.arrays import OwnArrays
from attnviz.checks.basesearch import rotations_near
from attnviz.checks.batches import batches, chosen
from attnviz.checks.candidates import Candidate
from attnviz.checks.causes.fit import Fit
from attnviz.checks.diagnosis import Diagnosis, is_perfect
from attnviz.checks.distance import ANYTHING, distances
from attnviz.checks.nearness import Nearness
from attnviz.checks.rotation import (
    Rotation,
    known_rotations,
    may_be_rotated,
    nodes_of_each,
    shapes_of_rotations,
    usual_rotations,
)
from attnviz.checks.rounding import Precision
from attnviz.checks.sharednodes import SharedNodes
from attnviz.checks.stages import from_scores_on
from attnviz.checks.state import State, state_of


@dataclass(frozen=True, eq=False)
class RotationSearch:
    """A search for the rotations of passes.

    Attributes
    ----------
    nodes : SharedNodes
        Those of the passes before they are turned; it says the arrays and the precision.
    """

    nodes: SharedNodes

    @property
    def own(self) -> OwnArrays:
        """The arrays."""
        return self.nodes.own

    @property
    def precision(self) -> Precision:
        """The precision of the comparison."""
        return self.nodes.precision

    def may_be_rotated(self, plain: Candidate) -> bool:
        """Whether queries and keys may be turned before a pass multiplies them."""
        return plain.reading is not None and may_be_rotated(self.nodes.of(plain), plain.sizes.get("d", 1))

    def leaves_what_agrees(self, plain: Candidate, state: State) -> bool:
        """Whether a rotation leaves what agrees as it is, as it does a share of the only key that is seen."""
        if not self.may_be_rotated(plain):
            return False
        d = plain.sizes["d"]
        rotations = [*usual_rotations(d)] or [*islice(known_rotations(d), 1)]
        agreeing = {each.stage for each in state.stages if each.agrees}.intersection(from_scores_on())
        if not agreeing:
            return bool(rotations)
        turned = (self.rotated(plain, each)[1] for each in rotations)
        return any(agreeing <= {each.stage for each in way.stages if each.agrees} for way in turned)

    def rotated(self, plain: Candidate, rotation: Rotation) -> tuple[Candidate, State]:
        """The pass with queries and keys that are turned by their positions."""
        candidate = replace(plain, rotation=rotation)
        return candidate, state_of(self.own, candidate, rotation.nodes(self.nodes.of(plain)), self.precision)

    def known(self, plain: Candidate) -> Diagnosis | None:
        """Of the pass with the first rotation that is known of models that makes all of the numbers."""
        return self._first_perfect(plain, [[*known_rotations(plain.sizes["d"])]])

    def unknown(self, plain: Candidate) -> Diagnosis | None:
        """Of the pass with another base than the known ones, or stretched otherwise, that makes all of the numbers."""
        shapes = shapes_of_rotations(plain.sizes["d"])
        near = (rotations_near(shape, varied, self._off_by(plain)) for shape, varied in shapes)
        return self._first_perfect(plain, chain.from_iterable(near))

    def off_if_turned(self, plain: Candidate) -> float:
        """How far a pass is off with the usual rotation that is nearest."""
        usual = [*usual_rotations(plain.sizes["d"])]
        return float(self._off_by(plain)(usual).min()) if usual else math.inf

    def rest_by(self, plain: Candidate) -> Callable[[Rotation], tuple[float, float]]:
        """How far a pass is off by its rotation: the part that no scale or cap takes away, and all of it."""
        before = state_of(self.own, plain, self.nodes.of(plain), self._rough)

        def rest(rotation: Rotation) -> tuple[float, float]:
            turned = replace(plain, rotation=rotation)
            state = state_of(self.own, turned, rotation.nodes(before.nodes), self._rough, before)
            fits = (Fit.of(each, state.values.get("scaled")) for each in state.stages)
            fit = next(filter(None, fits), None)
            return fit.rest() if fit else 1.0, sum(min(each.off, ANYTHING) for each in state.stages)

        return rest

    def _first_perfect(self, plain: Candidate, rotations: Iterable[Sequence[Rotation]]) -> Diagnosis | None:
        """Of the pass with the first of some rotations that makes all of the numbers."""
        nodes = self.nodes.of(plain)
        before = state_of(self.own, plain, nodes, self._rough)
        compared = [stage for stage in self.own if stage in nodes and not plain.begins_with(stage)]
        differing = [name for name, each in zip(compared, before.stages, strict=True) if not each.agrees]
        near = Nearness(self.own, plain, self.precision, nodes, set(), (differing or compared)[0])
        for some in chain.from_iterable(_in_batches(each, plain) for each in rotations):
            for rotation in chosen(some, near.of_each(nodes_of_each(some, nodes))):
                candidate, state = self.rotated(plain, rotation)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)
        return None

    def _off_by(self, plain: Candidate) -> Callable[[Sequence[Rotation]], np.ndarray]:
        """How far a pass is off, by how its queries and keys are turned."""
        nodes = self.nodes.of(plain)

        def off(rotations: Sequence[Rotation]) -> np.ndarray:
            ways = [(nodes_of_each(some, nodes), len(some)) for some in _in_batches(rotations, plain)]
            return np.concatenate([distances(self.own, plain, way, self._rough, n) for way, n in ways])

        return off

    @cached_property
    def _rough(self) -> Precision:
        return replace(self.precision, is_rough=True)


def _in_batches(rotations: Sequence[Rotation], plain: Candidate) -> Iterator[Sequence[Rotation]]:
    """So many at a time as have few numbers in the largest stage that turned queries and keys change."""
    return batches(rotations, max(plain.trace[each].size for each in ("scores", *plain.trace["scores"].inputs)))
