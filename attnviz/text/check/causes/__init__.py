"""Causes: each mistake in words, and a line of code that is wrong and one that is right, as PyTorch has them."""

from attnviz.analysis.check.causes.mistake import Mistake
from attnviz.text.check.causes import block, heads, layers, masking, matrices, scale, softmax, turns
from attnviz.text.check.causes.cause import Cause

CAUSES: dict[str, Cause] = {
    id: said
    for part in (scale, masking, turns, softmax, matrices, heads, block, layers)
    for id, said in part.CAUSES.items()
}
"""By the ids of their mistakes."""


def cause(mistake: Mistake) -> str:
    """A mistake as a clause."""
    return CAUSES[mistake.id].clause(mistake.about)


def code(mistake: Mistake) -> tuple[str, str]:
    """The wrong line of code, and the right one."""
    return CAUSES[mistake.id].code(mistake.about)
