"""Causes: each mistake in words, and a line of code that is wrong and one that is right, as PyTorch has them."""

import re

from attnviz.checks.causes.mistake import Mistake
from attnviz.checks.wording.causes import block, heads, layers, masking, matrices, scale, softmax, turns
from attnviz.checks.wording.causes.cause import Cause

CAUSES: dict[str, Cause] = {
    id: said
    for part in (scale, masking, turns, softmax, matrices, heads, block, layers)
    for id, said in part.CAUSES.items()
}
"""By the ids of their mistakes."""


def cause(mistake: Mistake) -> str:
    """A mistake as a clause."""
    return CAUSES[mistake.id].clause(mistake.about)


def code(mistake: Mistake, true_hides: bool = False) -> tuple[str, str]:
    """The wrong line of code, and the right one, for a mask of which True is visible, or hides."""
    wrong, right = CAUSES[mistake.id].code(mistake.about)
    return (_turned(wrong), _turned(right)) if true_hides else (wrong, right)


def _turned(line: str) -> str:
    """A line for a mask of which True hides, where it was for one of which True is visible."""
    if line.startswith("mask = "):
        return line.replace("mask = ", "mask = ~", 1)
    return re.sub(r"(~?)\b(masks?)\b", lambda found: found[2] if found[1] else f"~{found[2]}", line)
