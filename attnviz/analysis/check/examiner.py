"""Examiner: someone's arrays beside passes, turned ones and mistaken ones, in one precision, until one agrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from attnviz.analysis.check.agreement import Agreement, targets
from attnviz.analysis.check.arrays import OwnArrays
from attnviz.analysis.check.basesearch import rotations_near
from attnviz.analysis.check.candidates import Candidate, Candidates
from attnviz.analysis.check.causes.mistake import Mistake, Setting
from attnviz.analysis.check.diagnosis import Diagnosis, first_differing, is_perfect, magnitude, rank_of
from attnviz.analysis.check.formats import FLOAT32
from attnviz.analysis.check.mistakes import mistaken
from attnviz.analysis.check.nodes import Nodes, nodes_of
from attnviz.analysis.check.rotation import (
    Rotation,
    known_rotations,
    may_be_rotated,
    shapes_of_rotations,
    usual_rotations,
)
from attnviz.analysis.check.rounding import Precision, Rounded
from attnviz.analysis.check.stages import from_scores_on, later_than_scores, score_stages
from attnviz.analysis.check.state import State, state_of
from attnviz.core.stage import Stage

_MAX_MISTAKES = 3
"""So many are looked for, one on top of the other."""

_MAX_CANDIDATES = 8
"""So many readings are looked at closely."""

_MAX_SEARCHED = 2
"""In so many readings a base is looked for, where a pass has at most `_MAX_SCORES` scores; of more, in so many rotated
passes a mistake."""

_MAX_SCORES = 2**14

MAX_PAIRED = 2**16
"""Where a pass has at most so many scores, pairs of mistakes are tried."""

_ROUNDINGS = 1e5
"""By so many roundings no correct number is off."""

_FAR = 4.0
"""By so many times the least difference others are less likely."""

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

    @property
    def own(self) -> OwnArrays:
        """The arrays."""
        return self.candidates.own

    @property
    def plain(self) -> Diagnosis | None:
        """Of the first pass as it is that makes all of the numbers."""
        return self._nearest[0]

    @property
    def tied(self) -> list[tuple[Candidate, State]]:
        """The passes that come nearest, if none makes all of the numbers."""
        return self._nearest[1]

    @cached_property
    def turned(self) -> Diagnosis | None:
        """Of the first of these, with what positions change in some models, that makes all of the numbers.

        They hide keys or lower their scores, or turn queries and keys.
        """
        patterned = (self._patterned(*each) for each in self.tied)
        turned = (self._first_perfect(each, known_rotations(each.sizes["d"])) for each in self._turned_alone)
        return next(filter(None, chain(patterned, turned)), None)

    @cached_property
    def singly(self) -> Diagnosis:
        """Of the nearest passes with mistakes, one at a time."""
        return self._best(self.tied)

    def diagnosis(self, may_be_turned: bool = True) -> Diagnosis:
        """Of the pass that explains most of the arrays; of several that do, the first."""
        right = self.plain or self.turned
        if right:
            return right
        found = self.singly
        if found.explains_all or not may_be_turned or not self._turnable:
            return found if found.explains_all else self._best(self.tied, in_pairs=True)
        nearest = sorted(self._turnable, key=self._off_if_turned)[:_MAX_SEARCHED]
        rotated = [self._rotated(nearest[0], each) for each in usual_rotations(nearest[0].sizes["d"])]
        rotated.sort(key=lambda each: first_differing(each[1].stages).off)
        if nearest[0].trace["scores"].value.size > _MAX_SCORES:
            rotated = rotated[:_MAX_SEARCHED]
        for passes, in_pairs in ((rotated, False), (self.tied, True), (rotated[:1], True)):
            wrong = self._best(passes, in_pairs) if passes else found
            if wrong.explains_all:
                return wrong
            found = max(found, wrong, key=lambda each: each.likelihood) if passes is self.tied else found
        rotated = (self._first_perfect(each, self._searched(each)) for each in nearest if each in self._turned_alone)
        return next(filter(None, rotated), found)

    def _best(self, passes: Iterable[tuple[Candidate, State]], in_pairs: bool = False) -> Diagnosis:
        """Of the passes the first that explains all, perhaps with mistakes; else what explains most."""
        explained = []
        for candidate, state in passes:
            found = self._explained(candidate, state, in_pairs)
            if found.explains_all:
                return found
            explained.append(found)
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
        best = max(rank_of(state.stages) for _, state in states)
        return None, [each for each in states if rank_of(each[1].stages) == best]

    @cached_property
    def _turnable(self) -> list[Candidate]:
        """Those of the nearest passes whose queries and keys may be turned."""
        return [candidate for candidate, state in self.tied if self._may_be_turned(candidate, state)]

    def _may_be_turned(self, candidate: Candidate, state: State) -> bool:
        """Whether it leaves what agrees as it is, as it does a share of the only key that is seen."""
        agreeing = {each.stage for each in state.stages if each.agrees}.intersection(from_scores_on())
        one = next(known_rotations(candidate.sizes["d"]), None) if self._may_be_rotated(candidate) else None
        if one is None or not agreeing:
            return one is not None
        _, turned = self._rotated(candidate, one)
        return agreeing <= {each.stage for each in turned.stages if each.agrees}

    @cached_property
    def _turned_alone(self) -> list[Candidate]:
        """Those of them in which this would change the first stage that differs."""
        changed = {"q", "k", *from_scores_on()}
        first = {candidate: first_differing(state.stages) for candidate, state in self.tied}
        return [candidate for candidate in self._turnable if first[candidate].stage in changed]

    def _patterned(self, plain: Candidate, before: State) -> Diagnosis | None:
        """Of the pass with the first sliding window, or ALiBi's biases, that makes all of the numbers."""
        first = first_differing(before.stages).stage
        if first not in from_scores_on():
            return None
        masked = {"mask", "masked", *later_than_scores()}
        kept = {name: node for name, node in before.nodes.items() if name not in masked}
        for candidate in plain.patterned:
            nodes = {**nodes_of(candidate.trace, self._given), **kept}
            if is_perfect(state_of(self.own, candidate, nodes, self.precision, before, {first}).stages):
                state = state_of(self.own, candidate, nodes, self.precision, before)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)
        return None

    def _first_perfect(self, plain: Candidate, rotations: Iterator[Rotation]) -> Diagnosis | None:
        """Of the pass with the first of some rotations that makes all of the numbers."""
        before = state_of(self.own, plain, nodes_of(plain.trace, self._given), self._rough)
        differing = [each.stage for each in before.stages if not each.agrees]
        first = {*differing[:1]} or None  # most rotations fail there already, and all stages take thrice as long
        for rotation in rotations:
            _, rough = self._rotated(plain, rotation, before, first)
            if is_perfect(rough.stages):
                candidate, state = self._rotated(plain, rotation)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)
        return None

    def _rotated(
        self, plain: Candidate, rotation: Rotation, rough: State | None = None, until: set[str] | None = None
    ) -> tuple[Candidate, State]:
        """The pass with queries and keys that are turned by their positions; roughly, on top of a rough one."""
        nodes = rough.nodes if rough else nodes_of(plain.trace, self._given)
        candidate, precision = replace(plain, rotation=rotation), self._rough if rough else self.precision
        return candidate, state_of(self.own, candidate, rotation.nodes(nodes), precision, rough, until)

    def _may_be_rotated(self, plain: Candidate) -> bool:
        return plain.reading is not None and may_be_rotated(nodes_of(plain.trace, self._given), plain.sizes.get("d", 1))

    def _searched(self, plain: Candidate) -> Iterator[Rotation]:
        """Rotations with other bases than the known ones, or stretched otherwise."""
        if plain.trace["scores"].value.size <= _MAX_SCORES:
            for shape, varied in shapes_of_rotations(plain.sizes["d"]):
                yield from rotations_near(shape, varied, self._off_by(plain))

    def _off_by(self, plain: Candidate) -> Callable[[Rotation], float]:
        """How far a pass is off, by how its queries and keys are turned."""
        before = state_of(self.own, plain, nodes_of(plain.trace, self._given), self._rough)
        return lambda rotation: sum(min(e.off, _ANYTHING) for e in self._rotated(plain, rotation, before)[1].stages)

    def _off_if_turned(self, plain: Candidate) -> float:
        return min(map(self._off_by(plain), usual_rotations(plain.sizes["d"])), default=math.inf)

    @cached_property
    def _rough(self) -> Precision:
        return replace(self.precision, is_rough=True)

    @cached_property
    def _near(self) -> Precision:
        """As precise as the result of a mistake is at least, angles in float32 included."""
        nearness = min(_ROUNDINGS * max(self.precision.epsilon, FLOAT32.epsilon), self.precision.nearness)
        return replace(self.precision, is_rough=True, nearness=nearness)

    def _likeliest(self, candidates: Sequence[Candidate]) -> list[tuple[Candidate, Nodes]]:
        """The passes that roughly explain most, and are nearest, with their nodes; in their order, where they tie."""
        found = [(each, nodes_of(each.trace, self._given)) for each in candidates]
        if len(found) < 2:
            return found
        rough = [state_of(self.own, *each, self._rough).stages for each in found]
        ranks = [rank_of(stages) for stages in rough]
        off = [magnitude(max((each.roundings for each in stages), default=0.0)) for stages in rough]
        nearest = sorted(range(len(found)), key=lambda i: ((-ranks[i][0], -ranks[i][1]), off[i]))[:_MAX_CANDIDATES]
        return [found[i] for i in sorted(sorted(nearest), key=lambda i: ranks[i], reverse=True)]

    def _explained(self, candidate: Candidate, state: State, in_pairs: bool) -> Diagnosis:
        plain, mistakes, alternatives = state, [], ()
        while len(mistakes) < _MAX_MISTAKES and not is_perfect(state.stages):
            found = self._with_a_mistake(candidate, state, in_pairs)
            if not found:
                break
            if not mistakes:
                alternatives = tuple(each for each, _ in found[1:])
            made, state = found[0]
            mistakes += made
        mistaken = tuple(name for name, node in state.nodes.items() if node is not plain.nodes.get(name))
        return Diagnosis(
            candidate,
            self.precision,
            plain.stages,
            tuple(mistakes),
            alternatives,
            explained=state.stages if mistakes else (),
            nodes=state.nodes,
            mistaken=mistaken,
            unseeing=state.unseeing,
        )

    def _with_a_mistake(
        self, candidate: Candidate, state: State, in_pairs: bool
    ) -> list[tuple[tuple[Mistake, ...], State]]:
        """The mistakes, or pairs, with which most agrees, at least the first stage that differs; and the pass."""
        agreeing = rank_of(state.stages)[0]
        until = {each.stage for each in state.stages[: agreeing + 1]}
        first = state.stages[agreeing]
        known = {each.stage for each in state.stages[:agreeing] if not (each.layout and each.layout.is_averaged)}
        setting = Setting(candidate.trace, state.nodes, candidate.other_masks, set(self.own), candidate.sizes, first)
        in_pairs = in_pairs and _may_pair(self.precision, candidate, first)
        best, found = (agreeing + 1, 0), []
        for ways in mistaken(
            setting, set(targets(first.stage)), known, in_pairs and _may_pair(self.precision, candidate, first)
        ):
            for mistakes, nodes in ways:
                rough = state_of(self.own, candidate, nodes, self._near, state, until)
                if not is_perfect(rough.stages):
                    continue
                made = state_of(self.own, candidate, nodes, self.precision, state)
                rank = rank_of(made.stages)
                if not made.stages[agreeing].is_nearer_than(first):
                    continue
                if rank > best:
                    best, found = rank, []
                if rank == best:
                    found.append((mistakes, made))
            if found:
                break
        least = min((made.stages[agreeing].off for _, made in found), default=0.0)
        return sorted(found, key=lambda each: each[1].stages[agreeing].off > _FAR * least)

    def _given(self, stage: Stage) -> Rounded:
        """A stage that was given, with what it may have lost when it was written."""
        own, fewest = self.own.get(stage.name), self.precision.digits
        digits = own.digits if own and fewest and own.digits and own.digits.n >= fewest.n else None
        return Rounded.given(stage.value, self.precision, digits)


def _may_pair(precision: Precision, candidate: Candidate, first: Agreement) -> bool:
    """Whether pairs of mistakes are tried: numbers must tell so many apart, and not be too many themselves."""
    if precision.epsilon > FLOAT32.epsilon or precision.digits or precision.is_tf32:
        return False
    n_scores = candidate.trace["scores"].value.size if "scores" in candidate.trace else math.inf
    return first.stage in (*score_stages(), "attention") and n_scores <= MAX_PAIRED
