"""Search: the order of work, in each precision, the finest first: unmodified passes, rotations, mistakes, pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from attnviz.checks.explain.diagnosis import Diagnosis, SkippedCheck
from attnviz.checks.explain.mistake_search import likeliest_diagnosis, may_pair
from attnviz.checks.passes.candidates import Candidate, Candidates
from attnviz.checks.passes.comparison import Comparer, PassComparison
from attnviz.checks.passes.rotation_search import (
    MAX_SCORES,
    likeliest_rotated,
    rotatable_candidates,
    unrotated_candidates,
    with_fitted_rotation,
    with_known_rotation,
    with_usual_rotations,
)
from attnviz.checks.passes.unmodified_passes import (
    UnmodifiedPasses,
    compare_candidates,
    with_agreeing_pattern,
    with_cosines,
)
from attnviz.checks.read.formats import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Digits, Format
from attnviz.checks.read.layouts import score_stages, stages_after_scores
from attnviz.checks.read.rounding import Precision

_SPREAD = 0.25  # at least this part of a stage differs if it was computed in a coarser format
_SLACK = 8.0  # other code in float32 rounds more often than ours
_MANY = 2**13  # with so many scores no two explanations agree by chance
_LITTLE = 0.02  # the largest relative difference that 16-bit rounding explains


@dataclass(frozen=True, eq=False)
class PrecisionSearch:
    """The steps of the search in one precision; each is made once."""

    candidates: Candidates
    precision: Precision

    @cached_property
    def comparer(self) -> Comparer:
        return Comparer(self.candidates.arrays, self.precision)

    @cached_property
    def unmodified(self) -> UnmodifiedPasses:
        return compare_candidates(self.candidates, self.comparer)

    @cached_property
    def match(self) -> Diagnosis | None:
        """The unmodified pass that reproduces every array."""
        return _diagnosis(self.unmodified.agreeing)

    @cached_property
    def completed_match(self) -> Diagnosis | None:
        """The pass that reproduces every array with a mask or a rotation that the arrays don't tell."""
        if self.candidates.is_final:
            return None
        cosines = (with_cosines(self.comparer, each) for each in self.unmodified.nearest)
        patterned = (with_agreeing_pattern(self.comparer, each) for each in self.unmodified.nearest)
        rotated = (with_known_rotation(self.comparer, each) for each in self._unrotated)
        return _diagnosis(next(filter(None, chain(cosines, patterned, rotated)), None))

    @cached_property
    def single_mistakes(self) -> Diagnosis:
        """The best of the nearest passes with mistakes, tried one at a time."""
        return self._likeliest(self.unmodified.nearest)

    @property
    def nearest(self) -> Diagnosis:
        return self.match or Diagnosis.of(self.unmodified.nearest[0])

    def diagnosis(self, may_be_rotated: bool = True) -> Diagnosis:
        """The pass that explains most; the first of several that tie."""
        if match := self.match or self.completed_match:
            return match
        likeliest, rotatable = self.single_mistakes, []
        if not likeliest.explains_all and may_be_rotated and not self.candidates.is_final:
            rotatable = rotatable_candidates(self.comparer, self.unmodified.nearest)
            likeliest = self._rotated_or_in_pairs(rotatable)
        if likeliest.explains_all:
            return likeliest
        return replace(likeliest, skipped_checks=self._skipped(likeliest, rotatable))

    def _rotated_or_in_pairs(self, rotatable: list[Candidate]) -> Diagnosis:
        """The diagnosis with a fitted rotation, or with mistakes in rotated passes, or with pairs of mistakes."""
        nearest = self.unmodified.nearest
        if not rotatable:
            return self._likeliest(nearest, in_pairs=True)
        candidates = likeliest_rotated(self.comparer, rotatable)
        alone = (each for each in candidates if each in self._unrotated and each.n_scores <= MAX_SCORES)
        fitted = (with_fitted_rotation(self.comparer, each) for each in alone)
        if match := _diagnosis(next(filter(None, fitted), None)):
            return match
        rotated = with_usual_rotations(self.comparer, candidates[0])
        if rotated and (diagnosis := self._likeliest(rotated)).explains_all:
            return diagnosis
        pairs = self._likeliest(nearest, in_pairs=True)
        likeliest = max(self.single_mistakes, pairs, key=lambda each: each.likelihood)
        if rotated and not likeliest.explains_all:
            diagnosis = self._likeliest(rotated[:1], in_pairs=True)
            return diagnosis if diagnosis.explains_all else likeliest
        return likeliest

    @cached_property
    def _unrotated(self) -> list[Candidate]:
        return unrotated_candidates(self.comparer, self.unmodified)

    def _likeliest(self, passes: Sequence[PassComparison], in_pairs: bool = False) -> Diagnosis:
        return likeliest_diagnosis(self.comparer, passes, self.candidates.failed_searches, in_pairs)

    def _skipped(self, likeliest: Diagnosis, rotatable: list[Candidate]) -> tuple[SkippedCheck, ...]:
        first, later = likeliest.first_difference, stages_after_scores()
        assert first  # otherwise everything would be explained
        is_large = bool(rotatable) and self.unmodified.nearest[0].candidate.n_scores > MAX_SCORES
        examined = {each.candidate for each in self.unmodified.compared}
        skipped = {
            SkippedCheck.PAIRS: not may_pair(first, self.precision) and first.stage in (*score_stages(), *later),
            SkippedCheck.READINGS: not {*self.candidates.likely} <= examined,
            SkippedCheck.ROTATED: is_large,
            SkippedCheck.BASES: is_large and bool(self._unrotated),
            SkippedCheck.SIZES: first.stage in later and not {"attention", *score_stages()} & {*self.candidates.arrays},
        }
        return tuple(check for check, is_skipped in skipped.items() if is_skipped)


def _diagnosis(agreeing: PassComparison | None) -> Diagnosis | None:
    return Diagnosis.of(agreeing) if agreeing else None


# --- All precisions


@dataclass(frozen=True, eq=False)
class Search:
    """The search in the precisions that arrays are stored in, then in coarser ones that may have computed them."""

    candidates: Candidates

    @cached_property
    def stored_precisions(self) -> list[PrecisionSearch]:
        """The searches in the stored precisions, the finest first; the one of a stated tolerance."""
        formats, digits = self._stored_formats
        if self.candidates.tolerance:
            coarsest = min(formats, key=lambda each: each.bits)
            return [self._in(Precision(coarsest, tolerance=self.candidates.tolerance))]
        return [self._in(Precision(each, digits)) for each in sorted(formats, key=lambda each: -each.bits)]

    @cached_property
    def coarser_precisions(self) -> list[PrecisionSearch]:
        if self.candidates.tolerance:
            return []
        arrays, (formats, digits) = self.candidates.arrays, self._stored_formats
        bits = min(each.bits for each in formats)
        floats = {each.format_and_digits[0] for each in arrays.values() if each.dtype.kind == "f"}
        precisions = [Precision(FLOAT32, digits)] if bits > FLOAT32.bits else []
        if bits == FLOAT32.bits:
            precisions.append(Precision(FLOAT32, digits, slack=_SLACK))
        elif bits < FLOAT32.bits:
            coarsest = min(formats, key=lambda each: each.bits)
            precisions.append(Precision(coarsest, digits, rounds_sums=True))
        if FLOAT16 in floats | self.candidates.likely[0].formats and bits >= FLOAT32.bits:
            precisions.append(Precision(FLOAT16, digits))
        if bits == FLOAT32.bits:
            precisions.append(Precision(FLOAT32, digits, is_tf32=True))
        return [*map(self._in, precisions)]

    @property
    def _stored_formats(self) -> tuple[set[Format], Digits | None]:
        """The formats of the compared arrays, and the fewest digits that they were rounded to."""
        arrays, compares = self.candidates.arrays, self.candidates.likely[0].compares
        compared = [a.format_and_digits for stage, a in arrays.items() if a.dtype.kind == "f" and compares(stage)]
        digits = min((digits for _, digits in compared if digits), key=lambda each: each.n, default=None)
        return {each for each, _ in compared} or {FLOAT64}, digits

    def _in(self, precision: Precision) -> PrecisionSearch:
        return PrecisionSearch(self.candidates, precision)

    @cached_property
    def match(self) -> Diagnosis | None:
        """The unmodified pass that reproduces every array."""
        return _first(each.match for each in self.stored_precisions)

    @cached_property
    def completed_match(self) -> Diagnosis | None:
        return _first(each.completed_match for each in self.stored_precisions)

    @cached_property
    def quick_diagnosis(self) -> Diagnosis | None:
        """A pass with a mistake that reproduces so many numbers that the slower searches can't beat it."""
        if self.match or self.candidates.likely[0].n_scores < _MANY:
            return None
        fine = (each.single_mistakes for each in self.stored_precisions if each.precision.is_fine)
        return _first(each for each in fine if each.explains_all)

    @cached_property
    def coarse_match(self) -> Diagnosis | None:
        """The unmodified pass that reproduces every array if it was computed in a coarser precision."""
        if self.match:
            return None
        differing = [each.first_difference for each in self.stored_precisions[-1].unmodified.nearest]
        if any(each.spread < _SPREAD for each in differing if each):
            return None
        return _first(each.match for each in self.coarser_precisions)

    @property
    def nearest(self) -> Diagnosis:
        return max((each.nearest for each in self.stored_precisions), key=lambda each: each.rank)

    @property
    def best_so_far(self) -> Diagnosis | None:
        """The best result when a search is stopped; None if there is none yet."""
        finished = (each.nearest for each in self.stored_precisions if "unmodified" in vars(each))
        return max(finished, key=lambda each: each.rank, default=None)

    @property
    def best(self) -> Diagnosis:
        for each in self.stored_precisions:
            diagnosis = each.diagnosis(may_be_rotated=not self.coarse_match)
            if diagnosis.explains_all:
                return diagnosis
        if self.coarse_match:
            return self.coarse_match
        first = diagnosis.first_difference
        for each in self.coarser_precisions if first and first.spread >= _SPREAD else ():
            is_lenient = each.precision.slack > 1 or each.precision.rounds_sums
            other = (each.match or each.completed_match) if is_lenient else each.diagnosis()
            if other and other.explains_all:
                return other
        return diagnosis if diagnosis.mistakes else replace(diagnosis, within=self._within(diagnosis))

    def _within(self, diagnosis: Diagnosis) -> str:
        """The 16-bit format whose rounding would explain a small difference, or ""."""
        first = diagnosis.first_difference
        if first is None or first.expected is None or first.spread < _SPREAD or self.candidates.tolerance:
            return ""
        if first.off > _LITTLE * np.abs(first.expected[np.isfinite(first.expected)]).max(initial=0):
            return ""
        coarser = (each for each in (FLOAT16, BFLOAT16) if each.bits < diagnosis.precision.format.bits)
        return next((each.name for each in coarser if self._in(Precision(each)).match), "")

    def forget(self) -> None:
        """Drop the passes of large arrays while other readings are tried."""
        if not self.candidates.likely[0].is_small:
            vars(self).pop("stored_precisions", None)
            vars(self).pop("coarser_precisions", None)
            self.candidates.forget()


def _first(diagnoses: Iterator[Diagnosis | None]) -> Diagnosis | None:
    return next(filter(None, diagnoses), None)
