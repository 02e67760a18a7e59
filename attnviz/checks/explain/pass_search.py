"""Pass search: try each candidate pass as it is, rotated, and with mistakes, in each precision, the finest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, groupby

import numpy as np

from attnviz.checks.explain.candidates import Candidate, Candidates
from attnviz.checks.explain.diagnosis import (
    Diagnosis,
    PassComparison,
    SharedNodes,
    SkippedCheck,
    compare_pass,
    first_differing,
    is_perfect,
    magnitude,
    rank_of,
)
from attnviz.checks.explain.nodes import Node, nodes_of
from attnviz.checks.explain.prefilter import ROWS, Prefilter
from attnviz.checks.explain.rotation import usual_rotations
from attnviz.checks.explain.search import MistakeSearch, RotationSearch, may_pair
from attnviz.checks.read.arrays import OwnArrays
from attnviz.checks.read.budget import batches, select
from attnviz.checks.read.formats import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from attnviz.checks.read.readings import Reading, with_pattern
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.checks.read.stages import score_stages, stages_after_scores, stages_from_scores

MAX_CANDIDATES = 8  # how many readings are examined closely
MAX_SEARCHED = 2  # in how many readings a base, or in large passes how many rotations, are searched
_MAX_SCORES = 2**14
_MOST_KEPT = 2**22  # how many numbers the examined passes may hold together


@dataclass(frozen=True, eq=False)
class PassSearch:
    """The search for the pass that explains the arrays, in one precision."""

    candidates: Candidates
    precision: Precision

    @property
    def own(self) -> OwnArrays:
        return self.candidates.own

    @property
    def plain(self) -> Diagnosis | None:
        """The first unmodified pass that reproduces every array."""
        return self._nearest[0]

    @cached_property
    def nearest_candidates(self) -> list[tuple[Candidate, PassComparison]]:
        """The passes that come nearest, if none reproduces everything."""
        best = max((rank_of(state.stages) for _, state in self._nearest[1]), default=None)
        return [each for each in self._nearest[1] if rank_of(each[1].stages) == best]

    @property
    def nearest(self) -> Diagnosis:
        """The first of the nearest passes."""
        candidate, state = self.nearest_candidates[0]
        return Diagnosis(candidate, self.precision, state.stages, fully_masked=state.fully_masked)

    @cached_property
    def rotated(self) -> Diagnosis | None:
        """The first of them that reproduces every array with a known rotation, window or ALiBi."""
        patterned = (self._patterned(*each) for each in self.nearest_candidates)
        rotated = (self._rotations.known(each) for each in self._rotated_alone)
        return next(filter(None, chain(patterned, rotated)), None)

    @cached_property
    def single_mistakes(self) -> Diagnosis:
        """The best of the nearest passes with mistakes, tried one at a time."""
        return self._best(self.nearest_candidates)

    def diagnosis(self, may_be_rotated: bool = True) -> Diagnosis:
        """The pass that explains most; the first of several that tie."""
        likeliest = self._likeliest_of_all(may_be_rotated)
        if likeliest.explains_all:
            return likeliest
        return replace(likeliest, skipped_checks=tuple(self._skipped_checks(likeliest, may_be_rotated)))

    def _skipped_checks(self, likeliest: Diagnosis, may_be_rotated: bool) -> Iterator[SkippedCheck]:
        """The parts of the search that were left out, although something stays unexplained."""
        first, (nearest, _) = likeliest.first, self.nearest_candidates[0]
        if not may_pair(self.precision, first) and first.stage in stages_from_scores():
            yield SkippedCheck.PAIRS
        if len(self.candidates.likely) > MAX_CANDIDATES:
            yield SkippedCheck.READINGS
        if may_be_rotated and self._rotatable and _n_scores(nearest) > _MAX_SCORES:
            yield SkippedCheck.ROTATED
            if self._rotated_alone:
                yield SkippedCheck.BASES
        if first.stage in stages_after_scores() and not {"attention", *score_stages()} & set(self.own):
            yield SkippedCheck.SIZES

    def _likeliest_of_all(self, may_be_rotated: bool) -> Diagnosis:
        right = self.plain or self.rotated
        if right:
            return right
        likeliest = self.single_mistakes
        if likeliest.explains_all or not may_be_rotated:
            return likeliest
        if not self._rotatable:
            return self._best(self.nearest_candidates, in_pairs=True)
        nearest = self._rotatable
        if len(nearest) > 1:
            nearest = sorted(nearest, key=self._rotations.off_if_rotated)[:MAX_SEARCHED]
        alone = (each for each in nearest if each in self._rotated_alone and _n_scores(each) <= _MAX_SCORES)
        if right := next(filter(None, map(self._rotations.unknown, alone)), None):
            return right
        usual = sorted(usual_rotations(nearest[0].sizes["d"]), key=self._rotations.rest_by(nearest[0]))
        if _n_scores(nearest[0]) > _MAX_SCORES:
            usual = usual[:MAX_SEARCHED]
        rotated = [
            (each, self._kept(each, state)) for each, state in map(partial(self._rotations.rotated, nearest[0]), usual)
        ]
        for passes, in_pairs in ((rotated, False), (self.nearest_candidates, True), (rotated[:1], True)):
            wrong = self._best(passes, in_pairs) if passes else likeliest
            if wrong.explains_all:
                return wrong
            likeliest = (
                max(likeliest, wrong, key=lambda each: each.likelihood)
                if passes is self.nearest_candidates
                else likeliest
            )
        return likeliest

    def _best(self, passes: Iterable[tuple[Candidate, PassComparison]], in_pairs: bool = False) -> Diagnosis:
        """The first pass that explains everything, perhaps with mistakes; else the best."""
        explained, search = [], MistakeSearch(self.own, self.precision, in_pairs, self.candidates.failed_searches)
        for candidate, state in passes:
            diagnosis = search.explained(candidate, self._whole(candidate, state))
            if diagnosis.explains_all:
                return diagnosis
            if candidate.is_large:
                candidate.forget()
            explained.append(diagnosis)
        return max(explained, key=lambda each: each.likelihood)

    @cached_property
    def _nearest(self) -> tuple[Diagnosis | None, list[tuple[Candidate, PassComparison]]]:
        states = []
        for group in ("likely", "with_more_hidden"):
            for candidate in self._likeliest(getattr(self.candidates, group)):
                state = compare_pass(self.own, candidate, self._nodes.of(candidate), self.precision)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, fully_masked=state.fully_masked), []
                states.append((candidate, self._kept(candidate, state)))
        return None, states

    def _kept(self, candidate: Candidate, state: PassComparison) -> PassComparison:
        """What is kept of a comparison while others are made: of a large pass only its agreements."""
        if not candidate.is_large:
            return state
        candidate.forget()
        return replace(state, nodes={}, values={})

    def _whole(self, candidate: Candidate, state: PassComparison) -> PassComparison:
        """A comparison with its values, recomputed if they weren't kept."""
        if state.nodes:
            return state
        nodes = self._nodes.of(candidate)
        nodes = candidate.rotation.nodes(nodes) if candidate.rotation else nodes
        return compare_pass(self.own, candidate, nodes, self.precision)

    @cached_property
    def _rotatable(self) -> list[Candidate]:
        """The nearest passes whose queries and keys may be rotated."""
        return [
            candidate
            for candidate, state in self.nearest_candidates
            if self._rotations.leaves_what_agrees(candidate, state)
        ]

    @cached_property
    def _rotated_alone(self) -> list[Candidate]:
        """Those whose first differing stage a rotation would change.

        Coarse numbers may agree by chance with a pass that isn't rotated, so then all passes are tried.
        """
        changed = {"q", "k", *stages_from_scores()}
        near = self.nearest_candidates if self.precision.is_fine else self._nearest[1]
        may = [candidate for candidate, state in near if first_differing(state.stages).stage in changed]
        return [candidate for candidate in may if self._rotations.may_be_rotated(candidate)]

    def _patterned(self, plain: Candidate, before: PassComparison) -> Diagnosis | None:
        """The pass with the first sliding window, or ALiBi biases, that reproduces every array."""
        first = first_differing(before.stages).stage
        if first not in stages_from_scores():
            return None
        before = self._whole(plain, before)
        masked = {"mask", "masked", *stages_after_scores()}
        kept = {name: node for name, node in before.nodes.items() if name not in masked}
        near = Prefilter(self.own, plain, self.precision, before.nodes, set(), first)
        others = self.own["contributions"].value.size if "contributions" in self.own else 0
        for some in _alike(with_pattern(plain.reading), others) if plain.reading else ():
            ours = {**nodes_of(Candidate.of(some[0]).trace, self._nodes.given), **kept}
            masks = np.stack([each.mask.value[None] if each.mask.value.ndim < 3 else each.mask.value for each in some])
            is_near = near.of_each({**ours, "mask": Node.constant(Rounded.unrounded(masks))})
            for reading in select(some, is_near):
                candidate = Candidate.of(reading)
                nodes = {**nodes_of(candidate.trace, self._nodes.given), **kept}
                state = compare_pass(self.own, candidate, nodes, self.precision, before)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, fully_masked=state.fully_masked)
        return None

    @cached_property
    def _nodes(self) -> SharedNodes:
        return SharedNodes(self.own, self.precision)

    @cached_property
    def _rotations(self) -> RotationSearch:
        return RotationSearch(self._nodes)

    def _likeliest(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The passes that roughly explain most, in their original order where they tie."""
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
        """How many stages agree roughly, and by how much they differ; drops large passes afterwards."""
        is_kept = bool(candidate.kept)
        nodes = (self._nodes if is_kept else SharedNodes(self.own, self.precision)).of(candidate)
        stages = compare_pass(self.own, candidate, nodes, replace(self.precision, is_rough=True)).stages
        if not is_kept:
            candidate.forget()
        return rank_of(stages), magnitude(max((each.roundings for each in stages), default=0.0))


def _n_scores(candidate: Candidate) -> int:
    return candidate.trace["scores"].size if "scores" in candidate.trace else 0


def _alike(readings: Iterable[Reading], n_others: int) -> Iterator[Sequence[Reading]]:
    """Batches of readings whose masks have the same shape and type."""
    for _, alike in groupby(readings, lambda each: (each.mask.value.dtype, each.mask.value.ndim)):
        some = list(alike)
        yield from batches(some, max(some[0].sizes["h"] * some[0].sizes["t"] * ROWS, n_others))


_SPREAD = 0.25  # at least this part of a stage differs if it was computed in a coarser format
_SLACK = 8.0  # other code in float32 rounds more often than ours
_MANY = 2**13  # with so many scores no two explanations agree by chance
_LITTLE = 0.02  # the largest relative difference that 16-bit rounding explains


@dataclass(frozen=True, eq=False)
class PrecisionSearch:
    """The search for the pass that explains the arrays, in each precision that they may have.

    First in the formats they are stored in. Then, if most of a stage differs, in coarser ones they may have been
    computed in: float32, TF32, and float16 if an input is stored in it.
    """

    candidates: Candidates

    @cached_property
    def plain(self) -> Diagnosis | None:
        """The unmodified pass that reproduces every array in a stored precision."""
        return next(filter(None, (each.plain for each in self._stored)), None)

    @cached_property
    def quick_match(self) -> Diagnosis | None:
        """A pass with a mistake that reproduces so many numbers that the slower searches can't beat it."""
        trace = self.candidates.likely[0].trace
        if self.plain or "scores" not in trace or trace["scores"].size < _MANY:
            return None
        fine = [each for each in self._stored if each.precision.is_fine]
        return next((each.single_mistakes for each in fine if each.single_mistakes.explains_all), None)

    @cached_property
    def coarse(self) -> Diagnosis | None:
        """The unmodified pass that reproduces every array if it was computed in a coarser precision."""
        differing = [first_differing(state.stages) for _, state in self._stored[-1].nearest_candidates]
        if self.plain or any(each.spread < _SPREAD for each in differing):
            return None
        return next(filter(None, (each.plain for each in self._coarser)), None)

    @cached_property
    def rotated(self) -> Diagnosis | None:
        """The rotated pass without a mistake that reproduces every array."""
        return next(filter(None, (each.rotated for each in self._stored)), None)

    @property
    def nearest(self) -> Diagnosis:
        """The unmodified pass that agrees with most stages."""
        plain = [each.plain or each.nearest for each in self._stored]
        return max(plain, key=lambda each: each.rank)

    def forget(self) -> None:
        """Drop the passes of large arrays while other readings are tried."""
        if not self.candidates.likely[0].is_small:
            vars(self).pop("_searches", None)
            for each in (*self.candidates.likely, *vars(self.candidates).get("with_more_hidden", ())):
                each.forget()

    @property
    def best_so_far(self) -> Diagnosis | None:
        """The best result when a search is stopped; None if there is none yet."""
        looked_at = [each for each in self._stored if "_nearest" in vars(each)]
        return max((each.plain or each.nearest for each in looked_at), key=lambda each: each.rank, default=None)

    @property
    def best(self) -> Diagnosis:
        """The explanation of everything in the finest precision, perhaps with mistakes; else the best one."""
        for each in self._stored:
            diagnosis = each.diagnosis(may_be_rotated=not self.coarse)
            if diagnosis.explains_all:
                return diagnosis
        if self.coarse:
            return self.coarse
        for each in self._coarser:
            if diagnosis.first.spread < _SPREAD:
                break
            other = (each.plain or each.rotated) if each.precision.slack > 1 else each.diagnosis()
            if other and other.explains_all:
                return other
        return diagnosis if diagnosis.mistakes else replace(diagnosis, within=self._within(diagnosis))

    def _within(self, diagnosis: Diagnosis) -> str:
        """The 16-bit format whose rounding would explain a small difference, or ""."""
        first = diagnosis.first
        if first is None or first.expected is None or first.spread < _SPREAD:
            return ""
        if first.off > _LITTLE * np.abs(first.expected[np.isfinite(first.expected)]).max(initial=0):
            return ""
        coarser = (each for each in (FLOAT16, BFLOAT16) if each.bits < diagnosis.precision.format.bits)
        return next((each.name for each in coarser if PassSearch(self.candidates, Precision(each)).plain), "")

    @property
    def _stored(self) -> list[PassSearch]:
        return self._searches[0]

    @property
    def _coarser(self) -> list[PassSearch]:
        return self._searches[1]

    @cached_property
    def _searches(self) -> list[list[PassSearch]]:
        return [[PassSearch(self.candidates, each) for each in group] for group in _precisions(self.candidates)]


def _precisions(candidates: Candidates) -> tuple[list[Precision], list[Precision]]:
    """The precisions that the arrays are stored in, the finest first; and the coarser ones to try."""
    floats = {stage: each for stage, each in candidates.own.items() if each.dtype.kind == "f"}
    compared = [each.format_and_digits for stage, each in floats.items() if not candidates.likely[0].begins_with(stage)]
    digits = min((digits for _, digits in compared if digits), key=lambda each: each.n, default=None)
    held = {each for each, _ in compared} or {FLOAT64}
    coarsest = min(each.bits for each in held)
    entering = {each.format_and_digits[0] for each in floats.values()} | candidates.likely[0].formats
    finest_first = [Precision(each, digits) for each in sorted(held, key=lambda each: -each.bits)]
    looser = [Precision(FLOAT32, digits)] if coarsest > FLOAT32.bits else []
    if coarsest == FLOAT32.bits:
        looser.append(Precision(FLOAT32, digits, slack=_SLACK))
    if FLOAT16 in entering and coarsest >= FLOAT32.bits:
        looser.append(Precision(FLOAT16, digits))
    if coarsest == FLOAT32.bits:
        looser.append(Precision(FLOAT32, digits, is_tf32=True))
    return finest_first, looser
