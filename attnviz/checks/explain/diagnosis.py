"""Diagnosis: the result of a search: the pass that the arrays belong to, and the mistakes made in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from attnviz.checks.causes.cause import Mistake
from attnviz.checks.passes.candidates import Candidate
from attnviz.checks.passes.comparison import Agreement, Agreements, PassComparison, first_differing, magnitude, rank_of
from attnviz.checks.passes.nodes import FULLY_MASKED, Nodes
from attnviz.checks.passes.rotation_search import MAX_ROTATED
from attnviz.checks.read.masks import MaskReading
from attnviz.checks.read.rounding import Precision

Mistakes = tuple[Mistake, ...]


class SkippedCheck(Enum):
    """Parts of the search that were left out."""

    PAIRS = "two mistakes at once, of which numbers as coarse as yours show too little"
    READINGS = "less likely readings of your arrays"
    BASES = "RoPE with another base than those of known models, as there are so many scores"
    ROTATED = f"mistakes in passes rotated otherwise than in the {MAX_ROTATED} likeliest ways"
    REST = "most mistakes and readings, as the arrays are so large: compare fewer heads or tokens"
    SIZES = "scales, caps, dropout and orders of heads of any size, which only scores or attention show"


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """A user's arrays compared with a pass, and the mistakes that explain the first stage that differs."""

    candidate: Candidate
    precision: Precision
    stages: Agreements  # one for each compared array, in the order of the pass, without any mistake
    fully_masked: str = FULLY_MASKED[0]  # what a fully masked query gets in the user's pass
    mistakes: Mistakes = ()  # cumulative, each makes at least the first differing stage agree
    alternatives: tuple[Mistakes, ...] = ()  # other mistakes that explain as much
    explained: Agreements = ()  # the stages compared with the pass with the mistakes
    nodes: Nodes = field(default_factory=dict)  # the nodes of the pass with the mistakes
    changed_stages: tuple[str, ...] = ()  # the stages that the mistakes change
    within: str = ""  # the 16-bit format whose rounding would explain an unexplained difference
    skipped_checks: tuple[SkippedCheck, ...] = ()
    unconventional_mask: MaskReading | None = None  # the one that agrees, against its library's convention

    @classmethod
    def of(cls, unmodified: PassComparison) -> Diagnosis:
        return cls(unmodified.candidate, unmodified.precision, unmodified.stages, unmodified.fully_masked)

    def with_mistakes(self, mistakes: Mistakes, mistaken: PassComparison, unmodified: Nodes, **more: Any) -> Diagnosis:
        """The diagnosis with mistakes, which turn the unmodified nodes into those of the mistaken pass."""
        changed = tuple(name for name, node in mistaken.nodes.items() if node is not unmodified.get(name))
        more |= {"explained": mistaken.stages, "nodes": mistaken.nodes, "fully_masked": mistaken.fully_masked}
        return replace(self, mistakes=mistakes, changed_stages=changed, **more)

    @property
    def first_difference(self) -> Agreement | None:
        return first_differing(self.stages)

    @property
    def rank(self) -> tuple[int, int]:
        """How many stages agree before the first that differs, and in total, with the mistakes."""
        return rank_of(self.explained or self.stages)

    @property
    def explains_all(self) -> bool:
        """Whether all stages agree, with the mistakes if there are any."""
        return first_differing(self.explained or self.stages) is None

    @property
    def likelihood(self) -> tuple[tuple[int, int], float]:
        """A sort key: more stages explained, then a smaller unexplained difference."""
        off = [magnitude(each.off) for each in self.explained or self.stages if not each.agrees]
        return self.rank, -max(off, default=0.0)
