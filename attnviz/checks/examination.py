"""Examination: someone's arrays beside passes in each precision that they may be of, the finest first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attnviz.checks.candidates import Candidates
from attnviz.checks.diagnosis import Diagnosis, first_differing
from attnviz.checks.examiner import Examiner
from attnviz.checks.formats import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from attnviz.checks.rounding import Precision

_SPREAD = 0.25
"""The part of a stage's numbers that differ where it was computed in a coarser format than it was written in."""


_SLACK = 8.0
"""So many times as much as rounding leaves of ours other code in float32 may leave, that rounds more often."""

_MANY = 2**13
"""So many scores, in which no two explanations agree by chance."""

_LITTLE = 0.02
"""The part of the largest number by which 16 bits may leave others off."""


@dataclass(frozen=True, eq=False)
class Examination:
    """A comparison of arrays with passes, in each of the precisions that they may be of.

    They are compared in the formats that they were written in, and where much of a stage differs in coarser ones that
    it may have been computed in: float32, float16 where something that enters is of it, and TF32. First with
    passes as they are, which takes the least, then with turned ones, then with mistaken ones.

    Attributes
    ----------
    candidates : Candidates
    """

    candidates: Candidates

    @cached_property
    def plain(self) -> Diagnosis | None:
        """Of a pass as it is that makes all of the numbers, in a precision that they were written in."""
        return next(filter(None, (each.plain for each in self._held)), None)

    @cached_property
    def soon(self) -> Diagnosis | None:
        """Of a pass with mistakes that make all of so many numbers that nothing else does: the rest takes longer."""
        trace = self.candidates.likely[0].trace
        if self.plain or "scores" not in trace or trace["scores"].size < _MANY:
            return None
        fine = [each for each in self._held if each.precision.is_fine]
        return next((each.singly for each in fine if each.singly.explains_all), None)

    @cached_property
    def coarse(self) -> Diagnosis | None:
        """Of a pass as it is that makes all of the numbers if they were computed in a coarser precision."""
        differing = [first_differing(state.stages) for _, state in self._held[-1].tied]
        if self.plain or any(each.spread < _SPREAD for each in differing):
            return None
        return next(filter(None, (each.plain for each in self._looser)), None)

    @cached_property
    def turned(self) -> Diagnosis | None:
        """Of a turned pass without a mistake that makes all of the numbers, as they were written."""
        return next(filter(None, (each.turned for each in self._held)), None)

    @property
    def nearest(self) -> Diagnosis:
        """Of the pass as it is that makes most of the numbers."""
        plain = [each.plain or each.nearest for each in self._held]
        return max(plain, key=lambda each: each.rank)

    def forget(self) -> None:
        """Keep the passes of large arrays no longer, while other ways of reading them are looked at."""
        if not self.candidates.likely[0].is_small:
            vars(self).pop("_examiners", None)
            for each in (*self.candidates.likely, *vars(self.candidates).get("with_more_hidden", ())):
                each.forget()

    @property
    def so_far(self) -> Diagnosis | None:
        """What was found before a search was given up; None if it was given up before anything was."""
        looked_at = [each for each in self._held if "_nearest" in vars(each)]
        return max((each.plain or each.nearest for each in looked_at), key=lambda each: each.rank, default=None)

    @property
    def best(self) -> Diagnosis:
        """Of what explains all in the finest precision, perhaps with mistakes; else of what explains most."""
        for each in self._held:
            diagnosis = each.diagnosis(may_be_turned=not self.coarse)
            if diagnosis.explains_all:
                return diagnosis
        if self.coarse:
            return self.coarse
        for each in self._looser:
            if diagnosis.first.spread < _SPREAD:
                break
            other = (each.plain or each.turned) if each.precision.slack > 1 else each.diagnosis()
            if other and other.explains_all:
                return other
        return diagnosis if diagnosis.mistakes else replace(diagnosis, within=self._within(diagnosis))

    def _within(self, diagnosis: Diagnosis) -> str:
        """The 16-bit format whose rounding on the way would leave what differs, if that is little."""
        first = diagnosis.first
        if first is None or first.expected is None or first.spread < _SPREAD:
            return ""
        if first.off > _LITTLE * np.abs(first.expected[np.isfinite(first.expected)]).max(initial=0):
            return ""
        coarser = (each for each in (FLOAT16, BFLOAT16) if each.bits < diagnosis.precision.format.bits)
        return next((each.name for each in coarser if Examiner(self.candidates, Precision(each)).plain), "")

    @property
    def _held(self) -> list[Examiner]:
        return self._examiners[0]

    @property
    def _looser(self) -> list[Examiner]:
        return self._examiners[1]

    @cached_property
    def _examiners(self) -> list[list[Examiner]]:
        return [[Examiner(self.candidates, each) for each in group] for group in _precisions(self.candidates)]


def _precisions(candidates: Candidates) -> tuple[list[Precision], list[Precision]]:
    """Those that the compared arrays were written in, the finest first; and coarser ones."""
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
