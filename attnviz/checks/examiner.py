"""Examiner: someone's arrays beside passes, turned ones and mistaken ones, in one precision, until one agrees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, groupby

import numpy as np

from attnviz.checks.arrays import OwnArrays
from attnviz.checks.batches import batches, chosen
from attnviz.checks.candidates import Candidate, Candidates
from attnviz.checks.diagnosis import Diagnosis, first_differing, is_perfect, magnitude, rank_of
from attnviz.checks.nearness import ROWS, Nearness
from attnviz.checks.nodes import Node, nodes_of
from attnviz.checks.readings import Reading, with_pattern
from attnviz.checks.rotation import usual_rotations
from attnviz.checks.rotationsearch import RotationSearch
from attnviz.checks.rounding import Precision, Rounded
from attnviz.checks.search import Search, may_pair
from attnviz.checks.sharednodes import SharedNodes
from attnviz.checks.stages import from_scores_on, later_than_scores, score_stages
from attnviz.checks.state import State, state_of
from attnviz.checks.untried import Untried

MAX_CANDIDATES = 8
"""So many readings are looked at closely."""

MAX_SEARCHED = 2
"""In so many readings a base is looked for, where a pass has at most `_MAX_SCORES` scores; of more, in so many rotated
passes a mistake."""

_MAX_SCORES = 2**14

_MOST_KEPT = 2**22
"""So many numbers the passes may have together that are kept for a closer look, which are `MAX_CANDIDATES` at most."""


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

    @cached_property
    def tied(self) -> list[tuple[Candidate, State]]:
        """The passes that come nearest, if none makes all of the numbers."""
        best = max((rank_of(state.stages) for _, state in self._nearest[1]), default=None)
        return [each for each in self._nearest[1] if rank_of(each[1].stages) == best]

    @property
    def nearest(self) -> Diagnosis:
        """Of the first of these."""
        candidate, state = self.tied[0]
        return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)

    @cached_property
    def turned(self) -> Diagnosis | None:
        """Of the first of these, with what positions change in some models, that makes all of the numbers.

        They hide keys or lower their scores, or turn queries and keys.
        """
        patterned = (self._patterned(*each) for each in self.tied)
        turned = (self._rotations.known(each) for each in self._turned_alone)
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
        if not may_pair(self.precision, first) and first.stage in from_scores_on():
            yield Untried.PAIRS
        if len(self.candidates.likely) > MAX_CANDIDATES:
            yield Untried.READINGS
        if may_be_turned and self._turnable and _n_scores(nearest) > _MAX_SCORES:
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
            nearest = sorted(nearest, key=self._rotations.off_if_turned)[:MAX_SEARCHED]
        alone = (each for each in nearest if each in self._turned_alone and _n_scores(each) <= _MAX_SCORES)
        if right := next(filter(None, map(self._rotations.unknown, alone)), None):
            return right
        usual = sorted(usual_rotations(nearest[0].sizes["d"]), key=self._rotations.rest_by(nearest[0]))
        if _n_scores(nearest[0]) > _MAX_SCORES:
            usual = usual[:MAX_SEARCHED]
        rotated = [
            (each, self._kept(each, state)) for each, state in map(partial(self._rotations.rotated, nearest[0]), usual)
        ]
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
            diagnosis = search.explained(candidate, self._whole(candidate, state))
            if diagnosis.explains_all:
                return diagnosis
            if candidate.is_large:
                candidate.forget()
            explained.append(diagnosis)
        return max(explained, key=lambda each: each.likelihood)

    @cached_property
    def _nearest(self) -> tuple[Diagnosis | None, list[tuple[Candidate, State]]]:
        states = []
        for group in ("likely", "with_more_hidden"):
            for candidate in self._likeliest(getattr(self.candidates, group)):
                state = state_of(self.own, candidate, self._nodes.of(candidate), self.precision)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing), []
                states.append((candidate, self._kept(candidate, state)))
        return None, states

    def _kept(self, candidate: Candidate, state: State) -> State:
        """What is kept of a state while others are looked at: of a large pass only how far it agrees."""
        if not candidate.is_large:
            return state
        candidate.forget()
        return replace(state, nodes={}, values={})

    def _whole(self, candidate: Candidate, state: State) -> State:
        """A state with its numbers, which are made again where they weren't kept."""
        if state.nodes:
            return state
        nodes = self._nodes.of(candidate)
        nodes = candidate.rotation.nodes(nodes) if candidate.rotation else nodes
        return state_of(self.own, candidate, nodes, self.precision)

    @cached_property
    def _turnable(self) -> list[Candidate]:
        """Those of the nearest passes whose queries and keys may be turned."""
        return [candidate for candidate, state in self.tied if self._rotations.leaves_what_agrees(candidate, state)]

    @cached_property
    def _turned_alone(self) -> list[Candidate]:
        """Those of them in which this would change the first stage that differs.

        Of coarse numbers others may agree by chance with a pass that isn't turned, and so all passes are looked at.
        """
        changed = {"q", "k", *from_scores_on()}
        near = self.tied if self.precision.is_fine else self._nearest[1]
        may = [candidate for candidate, state in near if first_differing(state.stages).stage in changed]
        return [candidate for candidate in may if self._rotations.may_be_rotated(candidate)]

    def _patterned(self, plain: Candidate, before: State) -> Diagnosis | None:
        """Of the pass with the first sliding window, or ALiBi's biases, that makes all of the numbers."""
        first = first_differing(before.stages).stage
        if first not in from_scores_on():
            return None
        before = self._whole(plain, before)
        masked = {"mask", "masked", *later_than_scores()}
        kept = {name: node for name, node in before.nodes.items() if name not in masked}
        near = Nearness(self.own, plain, self.precision, before.nodes, set(), first)
        others = self.own["contributions"].value.size if "contributions" in self.own else 0
        for some in _alike(with_pattern(plain.reading), others) if plain.reading else ():
            ours = {**nodes_of(Candidate.of(some[0]).trace, self._nodes.given), **kept}
            masks = np.stack([each.mask.value[None] if each.mask.value.ndim < 3 else each.mask.value for each in some])
            is_near = near.of_each({**ours, "mask": Node.constant(Rounded.unrounded(masks))})
            for reading in chosen(some, is_near):
                candidate = Candidate.of(reading)
                nodes = {**nodes_of(candidate.trace, self._nodes.given), **kept}
                state = state_of(self.own, candidate, nodes, self.precision, before)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)
        return None

    @cached_property
    def _nodes(self) -> SharedNodes:
        return SharedNodes(self.own, self.precision)

    @cached_property
    def _rotations(self) -> RotationSearch:
        return RotationSearch(self._nodes)

    def _likeliest(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The passes that roughly explain most, and are nearest; in their order, where they tie."""
        if len(candidates) < 2:
            return [*candidates]
        ranks, off = zip(*map(self._roughly, candidates), strict=True)
        blind = [each.hides_all_keys for each in candidates]
        nearest = sorted(range(len(candidates)), key=lambda i: ((-ranks[i][0], -ranks[i][1]), blind[i], off[i]))
        first = candidates[nearest[0]]
        compared = [each.value.size for stage, each in self.own.items() if not first.begins_with(stage)]
        size = max(first.size, 8 * max(compared, default=0))
        most = max(min(MAX_CANDIDATES, _MOST_KEPT // size), 2)
        nearest = sorted(sorted(nearest[:most]), key=lambda i: ranks[i], reverse=True)
        return [candidates[i] for i in nearest]

    def _roughly(self, candidate: Candidate) -> tuple[tuple[int, int], float]:
        """How many stages agree roughly with a pass, and how far they are off; nothing of a large one is kept."""
        is_kept = bool(candidate.kept)
        nodes = (self._nodes if is_kept else SharedNodes(self.own, self.precision)).of(candidate)
        stages = state_of(self.own, candidate, nodes, replace(self.precision, is_rough=True)).stages
        if not is_kept:
            candidate.forget()
        return rank_of(stages), magnitude(max((each.roundings for each in stages), default=0.0))


def _n_scores(candidate: Candidate) -> int:
    return candidate.trace["scores"].size if "scores" in candidate.trace else 0


def _alike(readings: Iterable[Reading], n_others: int) -> Iterator[Sequence[Reading]]:
    """Readings whose masks are alike, one group after the other, where a stage may have so many numbers for each."""
    for _, alike in groupby(readings, lambda each: (each.mask.value.dtype, each.mask.value.ndim)):
        some = list(alike)
        yield from batches(some, max(some[0].sizes["h"] * some[0].sizes["t"] * ROWS, n_others))
