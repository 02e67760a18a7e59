"""Diagnosis: the first stage in which someone's arrays part from a pass, and the mistakes with which they don't."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from attnviz.checks.agreement import Agreement
from attnviz.checks.arrays import NEAR_ONE
from attnviz.checks.candidates import Candidate
from attnviz.checks.causes.mistake import Mistake
from attnviz.checks.masks import MaskReading
from attnviz.checks.nodes import Nodes
from attnviz.checks.rounding import Precision
from attnviz.checks.stages import later_than_scores, score_stages
from attnviz.checks.unseeing import UNSEEING
from attnviz.checks.untried import Untried

_ALIKE = 0.02
"""How far lengths, or scores of a token with itself, may be apart, in parts of the largest, and be alike."""

OPEN = ("normalised", "turned", "biased")
"""Correct steps that attnviz doesn't know: of queries and keys, the same, and of scores."""


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Someone's arrays beside a pass.

    Attributes
    ----------
    candidate : Candidate
    precision : Precision
        In which they were compared.
    stages : tuple of Agreement
        One for each array that a stage of the pass is compared with, in the order of the pass, without any mistake.
    mistakes : tuple of Mistake
        With these, one after the other, more stages agree: each time the first that differed, and perhaps others.
    alternatives : tuple of tuple of Mistake
        Others than the first of them, or pairs of others than the first two, that explain as much.
    explained : tuple of Agreement
        The stages beside the pass with the mistakes.
    nodes : mapping of stages to Node
        The pass with the mistakes.
    mistaken : tuple of str
        The stages that these make otherwise.
    within : str
        The 16-bit format whose rounding would leave as much, where no mistake explains it; empty if none would.
    untried : tuple of Untried
        What was left out of the search, where nothing explains all.
    unseeing : str
        What a query that sees no key gets in their pass, one of UNSEEING.
    against : MaskReading, optional
        The mask with which all agrees, if it is read against the convention of its library: else it was inverted.
    """

    candidate: Candidate
    precision: Precision
    stages: tuple[Agreement, ...]
    mistakes: tuple[Mistake, ...] = ()
    alternatives: tuple[tuple[Mistake, ...], ...] = ()
    explained: tuple[Agreement, ...] = ()
    nodes: Nodes = field(default_factory=dict)
    mistaken: tuple[str, ...] = ()
    unseeing: str = UNSEEING[0]
    within: str = ""
    untried: tuple[Untried, ...] = ()
    against: MaskReading | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """How many stages agree before the first that differs, and how many in all, with the mistakes."""
        return rank_of(self.explained or self.stages)

    @property
    def explains_all(self) -> bool:
        """Whether all stages agree, if need be with the mistakes."""
        return is_perfect(self.explained or self.stages)

    @property
    def rest(self) -> float:
        """The magnitude of what the mistakes don't explain; 0 if they explain all."""
        return max((magnitude(each.off) for each in self.explained or self.stages if not each.agrees), default=0.0)

    @property
    def likelihood(self) -> tuple[tuple[int, int], float]:
        """How much it explains: as many stages as there are, and of what is left as little."""
        return self.rank, -self.rest

    @property
    def may_be_turned(self) -> bool:
        """Whether the first stage that differs does so as queries and keys do that are turned by their positions.

        They are as long as before, and the score of a token with itself is the same; the rest isn't.
        """
        first = self.first
        if first is None or first.value is None or self.candidate.reading is None:
            return False
        yours, ours = first.value, first.expected
        if first.off <= _ALIKE * np.abs(ours[np.isfinite(ours)]).max(initial=0):
            return False
        if first.stage in ("q", "k"):
            yours, ours = (np.linalg.norm(each, axis=-1) for each in (yours, ours))
        elif first.stage in score_stages() and yours.shape[-2] == yours.shape[-1] > 1:
            yours, ours = (np.diagonal(each, axis1=-2, axis2=-1) for each in (yours, ours))
        else:
            return False
        return bool((np.abs(yours - ours) <= _ALIKE * np.abs(ours).max()).all())

    @property
    def may_be(self) -> tuple[str, ...]:
        """Those of `OPEN` that these numbers leave open.

        Queries and keys that are normalised or turned change all that is made of them, and biases all that is made of
        scores. Where a stage agrees that would be changed, or a row of attention doesn't add up to 1, that isn't it.
        """
        later = set(later_than_scores())
        if self.candidate.reading is None or self.wrong_sum:
            return ()
        if self.first is None or self.first.stage not in {"q", "k", *score_stages(), *later}:
            return ()
        agree = {each.stage for each in self.stages if each.agrees}
        after = {each.stage for each in self.stages[self.stages.index(self.first) :] if each.agrees}
        if agree & {"masked", *later} or after.intersection(score_stages()):
            return ()
        if agree.intersection(score_stages()):
            return OPEN[2:]
        return OPEN[:2] if self.first.stage in ("q", "k") else OPEN

    @property
    def wrong_sum(self) -> tuple[tuple[int, ...], float] | None:
        """Where attention differs first, the row whose sum is furthest from 1, and that; None if all are 1."""
        first = self.first
        if first is None or first.stage != "attention" or first.value is None or not np.isfinite(first.value).all():
            return None
        sums = first.value.sum(axis=-1)
        off = np.where(first.expected.any(axis=-1), np.abs(sums - 1), 0)
        row = np.unravel_index(off.argmax(), off.shape)
        allowed = NEAR_ONE + first.value.shape[-1] * first.rounding
        return (tuple(map(int, row)), float(sums[row])) if off[row] > allowed else None

    @property
    def first(self) -> Agreement | None:
        """The first stage that differs."""
        return first_differing(self.stages)


def magnitude(off: float) -> float:
    """How large a difference is, alike for those that only rounding tells apart: more by 1 for each factor of e."""
    return round(math.log1p(min(off, 1e300) / np.finfo(float).eps), 3)


def rank_of(stages: tuple[Agreement, ...]) -> tuple[int, int]:
    """How many stages agree before the first that differs, and how many in all."""
    agree = [each.agrees for each in stages]
    return (agree.index(False) if False in agree else len(agree)), sum(agree)


def first_differing(stages: tuple[Agreement, ...]) -> Agreement | None:
    """The first stage that differs."""
    return next((each for each in stages if not each.agrees), None)


def is_perfect(stages: tuple[Agreement, ...]) -> bool:
    """Whether all stages agree."""
    return all(each.agrees for each in stages)
