"""Positions: places become vectors too, and are added."""

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step, has
from attnviz.text.steps.tokens import OTHER_SENTENCE, entering
from attnviz.text.wording import length, number, word


def lengths(trace: Trace, prefix: str, place: int) -> tuple[float, float]:
    """How far a place moves its word, and how long the word's embedding is."""
    moved, size = (length(trace[f"{prefix}{name}"].value[place]) for name in ("positions", "embeddings"))
    return moved, size


def _x(trace: Trace, selection: Selection) -> str:
    if "embeddings" not in trace:
        return entering(trace, "x", selection.query)
    return _placed(trace, "", word(trace, "token", selection.query), selection.query)


def _context(trace: Trace, selection: Selection) -> str:
    if "context_embeddings" not in trace:
        return entering(trace, "context", selection.key) + OTHER_SENTENCE
    return _placed(trace, "context_", word(trace, "context token", selection.key), selection.key)


def _placed(trace: Trace, prefix: str, who: str, place: int) -> str:
    if f"{prefix}positions" not in trace:
        return (
            f"Nothing is added to the embeddings, so {who} would enter as the same vector at any place in the sentence."
        )
    moved, size = lengths(trace, prefix, place)
    return (
        f"Place {place + 1} moves {who} by {number(moved)}, where its embedding is {number(size)} long: "
        "the same word elsewhere enters as another vector."
    )


POSITIONS = Step(
    id="positions",
    title="Positions",
    headings=(Section("places", "Places become vectors too"),),
    sections=(
        Section(
            "places",
            "Nothing in attention knows the order of the words, so a vector for the **place** is added to each row. It "
            "is made of sines and cosines, the later ones of longer waves, so that each place gets a vector of its "
            "own. What is passed on is the sum, $X = E + P$.",
        ),
    ),
    stages=("x", "context"),
    entries={
        "positions": Entry("P", "Positions", "a vector for each place in the sentence", kind="input"),
        "context_positions": Entry("P^C", "Context positions", "a vector for each place in the context", kind="input"),
        "x": Entry("X", "Input", "what is projected: embeddings, with positions added if there are any", caption=_x),
        "context": Entry("C", "Context", "what keys and values are projected from", caption=_context),
    },
    when=has("positions"),
)
