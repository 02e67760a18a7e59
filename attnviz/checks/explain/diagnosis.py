"""Diagnosis: the first stage in which a user's arrays differ from a pass, and the mistakes that explain it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from attnviz.checks.causes.cause import Mistake
from attnviz.checks.explain.agreement import Agreement, agreement, targets
from attnviz.checks.explain.candidates import Candidate
from attnviz.checks.explain.nodes import FULLY_MASKED, Node, Nodes, evaluated, filled, nodes_of
from attnviz.checks.read.arrays import NEAR_ONE, OwnArrays
from attnviz.checks.read.budget import spend
from attnviz.checks.read.masks import MaskReading
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.checks.read.stages import score_stages, stages_after_scores
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

_ALIKE = 0.02  # relative difference at which lengths count as equal

# Correct things that attnviz doesn't know: of q and k, of q and k, of scores
OPEN = ("normalised", "rotated", "biased")


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """A user's arrays compared with a pass.

    Attributes
    ----------
    stages : tuple of Agreement
        One for each compared array, in the order of the pass, without any mistake.
    mistakes : tuple of Mistake
        Cumulative mistakes, each of which makes at least the first differing stage agree.
    alternatives : tuple of tuple of Mistake
        Other mistakes, or pairs of them, that explain as much as the first.
    explained : tuple of Agreement
        The stages compared with the pass after the mistakes.
    nodes : mapping of stages to Node
        The pass with the mistakes.
    mistaken : tuple of str
        The stages that the mistakes change.
    within : str
        The 16-bit format whose rounding would explain an unexplained difference, or "".
    skipped_checks : tuple of SkippedCheck
        What the search left out, if something stays unexplained.
    fully_masked : str
        What a fully masked query gets in the user's pass, one of FULLY_MASKED.
    against : MaskReading, optional
        The reading that agrees, if it contradicts the library's convention for masks.
    """

    candidate: Candidate
    precision: Precision
    stages: tuple[Agreement, ...]
    mistakes: tuple[Mistake, ...] = ()
    alternatives: tuple[tuple[Mistake, ...], ...] = ()
    explained: tuple[Agreement, ...] = ()
    nodes: Nodes = field(default_factory=dict)
    mistaken: tuple[str, ...] = ()
    fully_masked: str = FULLY_MASKED[0]
    within: str = ""
    skipped_checks: tuple[SkippedCheck, ...] = ()
    against: MaskReading | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """How many stages agree before the first that differs, and in total, with the mistakes."""
        return rank_of(self.explained or self.stages)

    @property
    def explains_all(self) -> bool:
        """Whether all stages agree, with the mistakes if there are any."""
        return is_perfect(self.explained or self.stages)

    @property
    def rest(self) -> float:
        """The magnitude of the unexplained difference; 0 if there is none."""
        return max((magnitude(each.off) for each in self.explained or self.stages if not each.agrees), default=0.0)

    @property
    def likelihood(self) -> tuple[tuple[int, int], float]:
        """A sort key: more stages explained, then a smaller unexplained difference."""
        return self.rank, -self.rest

    @property
    def may_be_rotated(self) -> bool:
        """Whether the first differing stage looks like rotated queries or keys.

        Rotations keep lengths, and the score of a token with itself.
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
        """Which of `OPEN` could still explain these numbers.

        Normalised or rotated queries and keys change everything after them, and biases everything after the scores. A
        later stage that agrees, or a row of attention that doesn't sum to 1, rules them out.
        """
        later = set(stages_after_scores())
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
        """If attention differs first: the row whose sum is furthest from 1, and the sum; None if all are 1."""
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
    """The log of a difference, rounded so that rounding errors don't break ties."""
    return round(math.log1p(min(off, 1e300) / np.finfo(float).eps), 3)


def rank_of(stages: tuple[Agreement, ...]) -> tuple[int, int]:
    """How many stages agree before the first that differs, and in total."""
    agree = [each.agrees for each in stages]
    return (agree.index(False) if False in agree else len(agree)), sum(agree)


def first_differing(stages: tuple[Agreement, ...]) -> Agreement | None:
    """The first stage that differs."""
    return next((each for each in stages if not each.agrees), None)


def is_perfect(stages: tuple[Agreement, ...]) -> bool:
    """Whether all stages agree."""
    return all(each.agrees for each in stages)


class SkippedCheck(Enum):
    """Parts of the search that were left out."""

    PAIRS = "two mistakes at once, in numbers too coarse to tell them apart"
    READINGS = "readings of the arrays after the likeliest ones"
    BASES = "other bases of a rotation than those of models, where there are many scores"
    ROTATED = "mistakes in passes that are rotated otherwise than in the likeliest ways"
    REST = "whatever takes more work than a comparison may take"
    SIZES = "numbers and orders that are read off scores or shares, where neither was given"


@dataclass(frozen=True, eq=False)
class SharedNodes:
    """The unmodified stages of several passes in one precision, each computed once."""

    own: OwnArrays
    precision: Precision
    _of_traces: dict[Trace, Nodes] = field(default_factory=dict, repr=False)
    _known: dict[Hashable, Node] = field(default_factory=dict, repr=False)

    def of(self, candidate: Candidate) -> Nodes:
        """The nodes of a pass; passes share common nodes, unless they are large."""
        if candidate.is_large:
            return nodes_of(candidate.trace, self.given)
        if candidate.trace not in self._of_traces:
            nodes, read = {}, candidate.reading.arrays if candidate.reading else {}
            for name, node in nodes_of(candidate.trace, self.given).items():
                inputs = tuple(id(nodes[each]) for each in node.inputs)
                own = node.operation or id(read.get(name, candidate.trace))
                nodes[name] = self._known.setdefault((name, own, inputs), node)
            self._of_traces[candidate.trace] = nodes
        return self._of_traces[candidate.trace]

    def given(self, stage: Stage) -> Rounded:
        """A given stage, with the rounding error of its format or digits."""
        spend(stage.size)
        own, fewest = self.own.get(stage.name), self.precision.digits
        digits = own.digits if own and fewest and own.digits and own.digits.n >= fewest.n else None
        return Rounded.given(stage.value, self.precision, digits)


@dataclass(frozen=True, eq=False)
class PassComparison:
    """A user's arrays compared with one pass.

    Attributes
    ----------
    nodes : mapping of stages to Node
    values : mapping of stages to Rounded
        The computed stages.
    stages : tuple of Agreement
        One for each compared array.
    fully_masked : str
        What a fully masked query gets in the user's pass, one of FULLY_MASKED.
    """

    nodes: Nodes
    values: Mapping[str, Rounded]
    stages: tuple[Agreement, ...]
    fully_masked: str


def compare_pass(
    own: OwnArrays,
    candidate: Candidate,
    nodes: Nodes,
    precision: Precision,
    before: PassComparison | None = None,
    until: set[str] | None = None,
) -> PassComparison:
    """Compare the arrays with a pass, whose fully masked rows are filled as fits them best.

    If `until` is given, only with those stages. Stages that `before` holds are not computed again.
    """
    stages = [each for each in own if each in nodes and (until is None or until.intersection(targets(each)))]
    wanted = {name for each in stages for name in targets(each)} & set(nodes)
    wanted |= {"masked"} & set(nodes) if "attention" in nodes else set()
    old = (before.nodes, before.values) if before else None
    values = evaluated(nodes, precision, wanted, old)
    best = PassComparison(nodes, values, _agreements(own, candidate, values, stages, precision), FULLY_MASKED[0])
    if is_perfect(best.stages) or "masked" not in values or not nodes["masked"].inputs or "attention" not in nodes:
        return best
    fully_masked = np.isneginf(values["masked"].value).all(axis=-1)
    if not fully_masked.any():
        return best
    for nature in FULLY_MASKED[1:-1] if fully_masked.all() else FULLY_MASKED[1:]:
        other = {**nodes, "attention": filled(nodes["attention"], nature, nodes["masked"].inputs[0])}
        others = evaluated(other, precision, wanted, (nodes, values))
        agreements = _agreements(own, candidate, others, stages, precision)
        if rank_of(agreements) > rank_of(best.stages):
            best = PassComparison(other, others, agreements, nature)
    return best


def _agreements(
    own: OwnArrays, candidate: Candidate, values: Mapping[str, Rounded], stages: list[str], precision: Precision
) -> tuple[Agreement, ...]:
    return tuple(
        agreement(own[stage], stage, values, candidate, precision)
        for stage in stages
        if not candidate.begins_with(stage)
    )
