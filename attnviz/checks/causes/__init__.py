"""Causes: the mistakes that are looked for, each beside its wording, in the order in which they are tried."""

from attnviz.checks.causes import biases, block, masks, projections, rope, scores
from attnviz.checks.causes.cause import Causes, Mistake
from attnviz.checks.causes.libraries import Lines

CAUSES = Causes()
for part in (masks, rope, scores, projections, block, biases):
    CAUSES.update(part.CAUSES)


def cause(mistake: Mistake) -> str:
    """A mistake as a clause."""
    return CAUSES[mistake.id].clause.format(**mistake.slots)


def code(mistake: Mistake, true_hides: bool = False, lines: Lines | None = None) -> tuple[str, str]:
    """A mistake's wrong and right line of code, in the library's words if `lines` has it."""
    return CAUSES[mistake.id].code(mistake.slots, true_hides, (lines or {}).get(mistake.id))
