"""Mask: which keys a query may see."""

from typing import NamedTuple

import numpy as np

from attnviz.core.selection import Selection
from attnviz.core.trace import Stage, Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.wording import counted, number, word, words


class Visible(NamedTuple):
    """What a mask leaves of one head.

    Attributes
    ----------
    hidden : int
        How many pairs of a query and a key are hidden.
    pairs : int
        How many there are.
    seen : ndarray of int
        The keys that the selected query sees.
    added : (float, float) or None
        The least and the most that a mask of numbers adds to a score that stays.
    """

    hidden: int
    pairs: int
    seen: np.ndarray
    added: tuple[float, float] | None


def visible(trace: Trace, head: int, query: int) -> Visible:
    """What the mask leaves of one head, and to one query in it."""
    sees = np.isfinite(trace["masked"].value[head])
    return Visible(int(np.count_nonzero(~sees)), sees.size, np.flatnonzero(sees[query]), _added(trace, head, sees))


def _added(trace: Trace, head: int, sees: np.ndarray) -> tuple[float, float] | None:
    mask = trace["mask"].value
    numbers = np.broadcast_to(mask, trace["masked"].shape)[head][sees]
    if mask.dtype == bool or not numbers.any():
        return None
    return float(numbers.min()), float(numbers.max())


def masks(trace: Trace) -> bool:
    """Whether the trace's mask does anything."""
    mask = trace["mask"].value
    return bool(not mask.all() if mask.dtype == bool else np.any(mask != 0))


def hides(trace: Trace) -> bool:
    """Whether a key is hidden from a query: by the mask, or by hand."""
    return bool(np.isneginf(trace["masked"].value).any())


def before(trace: Trace) -> Stage:
    """The scores that the mask is laid on."""
    return trace.inputs("masked")[0]


def moves(trace: Trace) -> bool:
    """Whether the masked scores are other numbers than those before the mask: by the mask, or set by hand."""
    return masks(trace) or not np.array_equal(trace["masked"].value, before(trace).value)


def others_fully_masked(trace: Trace, selection: Selection) -> list[int]:
    """The other queries that see no key in the selected head."""
    return [query for head, query in trace.fully_masked if head == selection.head and query != selection.query]


def others_see_nothing(trace: Trace, selection: Selection) -> str:
    """A sentence on the other queries that see no key, if there are any."""
    rows = others_fully_masked(trace, selection)
    if not rows:
        return ""
    return f" {words(trace, 'query', rows)} {'sees' if len(rows) == 1 else 'see'} no key there: attention is zeros."


def _masked(trace: Trace, selection: Selection) -> str:
    hidden, pairs, seen, added = visible(trace, selection.head, selection.query)
    adds = f" To the scores that stay it adds from {number(added[0])} to {number(added[1])}." if added else ""
    if not hidden:
        return f"Nothing is hidden in head {selection.head + 1}: every query sees every key.{adds}"
    return (
        f"{hidden} of {counted(pairs, 'pair')} {'is' if hidden == 1 else 'are'} hidden in head {selection.head + 1}; "
        f"{word(trace, 'query', selection.query)} sees {words(trace, 'key', seen) if len(seen) else 'no key'}."
        f"{others_see_nothing(trace, selection)}{adds}"
    )


def _selects(trace: Trace) -> bool:
    return trace["mask"].value.dtype == bool


def _adds(trace: Trace) -> bool:
    return not _selects(trace)


MASK = Step(
    id="mask",
    title="Mask",
    headings=(Section("hide", "Hide what may not be seen"),),
    sections=(
        Section(
            "selects",
            "A hidden key's score becomes $-\\infty$, so that its share of the attention will be exactly 0; in the "
            "picture of the mask 0 is hidden and 1 is visible.",
            _selects,
        ),
        Section(
            "added",
            "This mask is **added** to the scores: 0 leaves a score as it is, and $-\\infty$ hides the key, so that "
            "its share of the attention will be exactly 0.",
            _adds,
        ),
        Section(
            "kinds",
            "A **causal** mask hides the future, as a model that writes the next word must not read it; a **padding** "
            "mask hides fillers at the end; a **window** hides what is far away.",
        ),
    ),
    stages=("masked",),
    entries={
        "mask": Entry("M", "Mask", "which keys a query sees", scale="flag", kind="input"),
        "masked": Entry(
            "Z^M_i",
            "Masked scores",
            "the scores that attention is made from, -inf where a key is hidden",
            caption=_masked,
        ),
    },
    when=moves,
)
