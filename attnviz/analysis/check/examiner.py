"""Examiner: someone's arrays beside passes, turned ones and mistaken ones, in one precision, until one agrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby, islice

import numpy as np

from attnviz.analysis.check.arrays import OwnArrays
from attnviz.analysis.check.basesearch import rotations_near
from attnviz.analysis.check.batches import batches, chosen
from attnviz.analysis.check.candidates import Candidate, Candidates
from attnviz.analysis.check.causes.fit import Fit
from attnviz.analysis.check.diagnosis import Diagnosis, first_differing, is_perfect, magnitude, rank_of
from attnviz.analysis.check.distance import distances
from attnviz.analysis.check.nearness import ROWS, Nearness
from attnviz.analysis.check.nodes import Node, Nodes, nodes_of
from attnviz.analysis.check.readings import Reading, with_pattern
from attnviz.analysis.check.rotation import (
    Rotation,
    known_rotations,
    may_be_rotated,
    nodes_of_each,
    shapes_of_rotations,
    usual_rotations,
)
from attnviz.analysis.check.rounding import Precision, Rounded
from attnviz.analysis.check.search import Search, may_pair
from attnviz.analysis.check.stages import from_scores_on, later_than_scores, score_stages
from attnviz.analysis.check.state import State, state_of
from attnviz.analysis.check.untried import Untried
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

MAX_CANDIDATES = 8
"""So many readings are looked at closely."""

MAX_SEARCHED = 2
"""In so many readings a base is looked for, where a pass has at most `_MAX_SCORES` scores; of more, in so many rotated
passes a mistake."""

_MAX_SCORES = 2**14

_ANYTHING = 1e9
"""Beyond this, how far a number is off tells nothing."""


@dataclass(frozen=True, eq=False)
class Examiner:
    """A comparison of arrays with passes, in one precision.

    Attributes
    ----------
    candidates : Candidates
    precision : Precision
    """

    candidates: Candidates
    precision: Precision
    _kept: dict[Trace, Nodes] = field(default_factory=dict, repr=False)
    _shared: dict[Hashable, Node] = field(default_factory=dict, repr=False)

    @property
    def own(self) -> OwnArrays:
        """The arrays."""
        return self.candidates.own

    @property
    def plain(self) -> Diagnosis | None:
        """Of the first pass as it is that makes all of the numbers."""
        return self._nearest[0]

    @cached_property
    def tied(self) -> list[tuple[Candidate, State]]:
        """The passes that come nearest, if none makes all of the numbers."""
        best = max((rank_of(state.stages) for _, state in self._nearest[1]), default=None)
        return [each for each in self._nearest[1] if rank_of(each[1].stages) == best]

    @cached_property
    def turned(self) -> Diagnosis | None:
        """Of the first of these, with what positions change in some models, that makes all of the numbers.

        They hide keys or lower their scores, or turn queries and keys.
        """
        patterned = (self._patterned(*each) for each in self.tied)
        turned = (self._first_perfect(each, [[*known_rotations(each.sizes["d"])]]) for each in self._turned_alone)
        return next(filter(None, chain(patterned, turned)), None)

    @cached_property
    def singly(self) -> Diagnosis:
        """Of the nearest passes with mistakes, one at a time."""
        return self._best(self.tied)

    def diagnosis(self, may_be_turned: bool = True) -> Diagnosis:
        """Of the pass that explains most of the arrays; of several that do, the first."""
        likeliest = self._likeliest_of_all(may_be_turned)
        if likeliest.explains_all:
            return likeliest
        return replace(likeliest, untried=tuple(self._untried(likeliest, may_be_turned)))

    def _untried(self, likeliest: Diagnosis, may_be_turned: bool) -> Iterator[Untried]:
        """The parts of the search that were left out before nothing was found that explains all."""
        first, (nearest, _) = likeliest.first, self.tied[0]
        n_scores = nearest.trace["scores"].value.size if "scores" in nearest.trace else 0
        if not may_pair(self.precision, first) and first.stage in from_scores_on():
            yield Untried.PAIRS
        if len(self.candidates.likely) > MAX_CANDIDATES:
            yield Untried.READINGS
        if may_be_turned and self._turnable and n_scores > _MAX_SCORES:
            yield Untried.ROTATED
            if self._turned_alone:
                yield Untried.BASES
        if first.stage in later_than_scores() and not {"attention", *score_stages()} & set(self.own):
            yield Untried.SIZES

    def _likeliest_of_all(self, may_be_turned: bool) -> Diagnosis:
        right = self.plain or self.turned
        if right:
            return right
        likeliest = self.singly
        if likeliest.explains_all or not may_be_turned:
            return likeliest
        if not self._turnable:
            return self._best(self.tied, in_pairs=True)
        nearest = self._turnable
        if len(nearest) > 1:
            nearest = sorted(nearest, key=self._off_if_turned)[:MAX_SEARCHED]
        searched = (self._first_perfect(each, self._searched(each)) for each in nearest if each in self._turned_alone)
        if right := next(filter(None, searched), None):
            return right
        usual = sorted(usual_rotations(nearest[0].sizes["d"]), key=self._rest_by(nearest[0]))
        if nearest[0].trace["scores"].value.size > _MAX_SCORES:
            usual = usual[:MAX_SEARCHED]
        rotated = [self._rotated(nearest[0], each) for each in usual]
        for passes, in_pairs in ((rotated, False), (self.tied, True), (rotated[:1], True)):
            wrong = self._best(passes, in_pairs) if passes else likeliest
            if wrong.explains_all:
                return wrong
            likeliest = max(likeliest, wrong, key=lambda each: each.likelihood) if passes is self.tied else likeliest
        return likeliest

    def _best(self, passes: Iterable[tuple[Candidate, State]], in_pairs: bool = False) -> Diagnosis:
        """Of the passes the first that explains all, perhaps with mistakes; else what explains most."""
        explained, search = [], Search(self.own, self.precision, in_pairs, self.candidates.hopeless)
        for candidate, state in passes:
            diagnosis = search.explained(candidate, state)
            if diagnosis.explains_all:
                return diagnosis
            explained.append(diagnosis)
        return max(explained, key=lambda each: each.likelihood)

    @cached_property
    def _nearest(self) -> tuple[Diagnosis | None, list[tuple[Candidate, State]]]:
        states = []
        for group in ("likely", "with_more_hidden"):
            for candidate, nodes in self._likeliest(getattr(self.candidates, group)):
                state = state_of(self.own, candidate, nodes, self.precision)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing), []
                states.append((candidate, state))
        return None, states

    @cached_property
    def _turnable(self) -> list[Candidate]:
        """Those of the nearest passes whose queries and keys may be turned."""
        return [candidate for candidate, state in self.tied if self._may_be_turned(candidate, state)]

    def _may_be_turned(self, candidate: Candidate, state: State) -> bool:
        """Whether a rotation leaves what agrees as it is, as it does a share of the only key that is seen."""
        if not self._may_be_rotated(candidate):
            return False
        d = candidate.sizes["d"]
        rotations = [*usual_rotations(d)] or [*islice(known_rotations(d), 1)]
        agreeing = {each.stage for each in state.stages if each.agrees}.intersection(from_scores_on())
        if not agreeing:
            return bool(rotations)
        turned = (self._rotated(candidate, each)[1] for each in rotations)
        return any(agreeing <= {each.stage for each in way.stages if each.agrees} for way in turned)

    @cached_property
    def _turned_alone(self) -> list[Candidate]:
        """Those of them in which this would change the first stage that differs.

        Of coarse numbers others may agree by chance with a pass that isn't turned, and so all passes are looked at.
        """
        changed = {"q", "k", *from_scores_on()}
        near = self.tied if self.precision.is_fine else self._nearest[1]
        may = [candidate for candidate, state in near if first_differing(state.stages).stage in changed]
        return [candidate for candidate in may if self._may_be_rotated(candidate)]

    def _patterned(self, plain: Candidate, before: State) -> Diagnosis | None:
        """Of the pass with the first sliding window, or ALiBi's biases, that makes all of the numbers."""
        first = first_differing(before.stages).stage
        if first not in from_scores_on():
            return None
        masked = {"mask", "masked", *later_than_scores()}
        kept = {name: node for name, node in before.nodes.items() if name not in masked}
        near = Nearness(self.own, plain, self.precision, before.nodes, set(), first)
        for some in _alike(with_pattern(plain.reading)) if plain.reading else ():
            ours = {**nodes_of(Candidate.of(some[0]).trace, self._given), **kept}
            masks = np.stack([each.mask.value[None] if each.mask.value.ndim < 3 else each.mask.value for each in some])
            is_near = near.of_each({**ours, "mask": Node.constant(Rounded.unrounded(masks))})
            for reading in chosen(some, is_near):
                candidate = Candidate.of(reading)
                nodes = {**nodes_of(candidate.trace, self._given), **kept}
                state = state_of(self.own, candidate, nodes, self.precision, before)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)
        return None

    def _first_perfect(self, plain: Candidate, rotations: Iterable[Sequence[Rotation]]) -> Diagnosis | None:
        """Of the pass with the first of some rotations that makes all of the numbers."""
        nodes = self._nodes(plain)
        before = state_of(self.own, plain, nodes, self._rough)
        compared = [stage for stage in self.own if stage in nodes and not plain.begins_with(stage)]
        differing = [name for name, each in zip(compared, before.stages, strict=True) if not each.agrees]
        near = Nearness(self.own, plain, self.precision, nodes, set(), (differing or compared)[0])
        for some in chain.from_iterable(batches(each, _n_turned(plain)) for each in rotations):
            for rotation in chosen(some, near.of_each(nodes_of_each(some, nodes))):
                candidate, state = self._rotated(plain, rotation)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)
        return None

    def _rotated(self, plain: Candidate, rotation: Rotation, rough: State | None = None) -> tuple[Candidate, State]:
        """The pass with queries and keys that are turned by their positions; roughly, on top of a rough one."""
        nodes, precision = (rough.nodes, self._rough) if rough else (self._nodes(plain), self.precision)
        candidate = replace(plain, rotation=rotation)
        return candidate, state_of(self.own, candidate, rotation.nodes(nodes), precision, rough)

    def _may_be_rotated(self, plain: Candidate) -> bool:
        return plain.reading is not None and may_be_rotated(self._nodes(plain), plain.sizes.get("d", 1))

    def _searched(self, plain: Candidate) -> Iterator[Sequence[Rotation]]:
        """Rotations with other bases than the known ones, or stretched otherwise."""
        if plain.trace["scores"].value.size <= _MAX_SCORES:
            for shape, varied in shapes_of_rotations(plain.sizes["d"]):
                yield from rotations_near(shape, varied, self._off_by(plain))

    def _off_by(self, plain: Candidate) -> Callable[[Sequence[Rotation]], np.ndarray]:
        """How far a pass is off, by how its queries and keys are turned."""
        nodes = self._nodes(plain)

        def off(rotations: Sequence[Rotation]) -> np.ndarray:
            ways = [(nodes_of_each(some, nodes), len(some)) for some in batches(rotations, _n_turned(plain))]
            return np.concatenate([distances(self.own, plain, way, self._rough, n) for way, n in ways])

        return off

    def _rest_by(self, plain: Candidate) -> Callable[[Rotation], tuple[float, float]]:
        """How far a pass is off by its rotation: the part that no scale or cap takes away, and all of it."""
        before = state_of(self.own, plain, self._nodes(plain), self._rough)

        def rest(rotation: Rotation) -> tuple[float, float]:
            _, state = self._rotated(plain, rotation, before)
            fits = (Fit.of(each, state.values.get("scaled")) for each in state.stages)
            fit = next(filter(None, fits), None)
            return fit.rest() if fit else 1.0, sum(min(each.off, _ANYTHING) for each in state.stages)

        return rest

    def _off_if_turned(self, plain: Candidate) -> float:
        usual = [*usual_rotations(plain.sizes["d"])]
        return float(self._off_by(plain)(usual).min()) if usual else math.inf

    @cached_property
    def _rough(self) -> Precision:
        return replace(self.precision, is_rough=True)

    def _likeliest(self, candidates: Sequence[Candidate]) -> list[tuple[Candidate, Nodes]]:
        """The passes that roughly explain most, and are nearest, with their nodes; in their order, where they tie."""
        passes = [(each, self._nodes(each)) for each in candidates]
        if len(passes) < 2:
            return passes
        rough = [state_of(self.own, *each, self._rough).stages for each in passes]
        ranks = [rank_of(stages) for stages in rough]
        off = [magnitude(max((each.roundings for each in stages), default=0.0)) for stages in rough]
        blind = [each.hides_all_keys for each, _ in passes]
        nearest = sorted(range(len(passes)), key=lambda i: ((-ranks[i][0], -ranks[i][1]), blind[i], off[i]))
        nearest = nearest[:MAX_CANDIDATES]
        return [passes[i] for i in sorted(sorted(nearest), key=lambda i: ranks[i], reverse=True)]

    def _nodes(self, candidate: Candidate) -> Nodes:
        """The stages of its pass, before it is turned; those that passes have in common are the same nodes."""
        if candidate.trace not in self._kept:
            made, read = {}, candidate.reading.arrays if candidate.reading else {}
            for name, node in nodes_of(candidate.trace, self._given).items():
                inputs = tuple(id(made[each]) for each in node.inputs)
                own = node.operation or id(read.get(name, candidate.trace))
                made[name] = self._shared.setdefault((name, own, inputs), node)
            self._kept[candidate.trace] = made
        return self._kept[candidate.trace]

    def _given(self, stage: Stage) -> Rounded:
        """A stage that was given, with what it may have lost when it was written."""
        own, fewest = self.own.get(stage.name), self.precision.digits
        digits = own.digits if own and fewest and own.digits and own.digits.n >= fewest.n else None
        return Rounded.given(stage.value, self.precision, digits)


def _n_turned(plain: Candidate) -> int:
    """How many numbers the largest stage has that turned queries and keys change."""
    return max(plain.trace[each].value.size for each in ("scores", *plain.trace["scores"].inputs))


def _alike(readings: Iterable[Reading]) -> Iterator[Sequence[Reading]]:
    """Readings whose masks are alike, one group after the other."""
    for _, alike in groupby(readings, lambda each: (each.mask.value.dtype, each.mask.value.ndim)):
        some = list(alike)
        yield from batches(some, some[0].sizes["h"] * some[0].sizes["t"] * ROWS)
