"""Untried: what the search for a mistake left out, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.checks.examiner import MAX_CANDIDATES, MAX_SEARCHED
from attnviz.checks.untried import Untried

_SAID = {
    Untried.PAIRS: "two mistakes at once, of which numbers as coarse as yours show too little",
    Untried.READINGS: f"readings of your arrays after the likeliest {MAX_CANDIDATES}",
    Untried.BASES: "RoPE with another base than those of known models, as there are so many scores",
    Untried.ROTATED: f"mistakes in passes rotated otherwise than in the {MAX_SEARCHED} likeliest ways",
    Untried.REST: "most mistakes and readings, as the arrays are so large: compare fewer heads or tokens",
    Untried.SIZES: "scales, caps, dropout and orders of heads of any size, which only scores or attention show",
}


def not_tried(untried: Sequence[Untried]) -> list[str]:
    """The sentence; none where nothing was left out."""
    return [f"Not tried: {'; '.join(_SAID[each] for each in untried)}."] if untried else []
