"""Positions: they become vectors too, and are added."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.steps.norms import EMBEDDED, ENTERS_NORMED
from attnviz.explain.story import Story, both, has, lacks, of_model, origin, unless

_WAVE = Story("{value} is added in dimension {column} of “{row}”, because of its position.")


def _entering(prefix: str) -> tuple[Story, ...]:
    """The stories of the input, or of the context with the prefix `context_`."""
    word, position = f"{prefix}embeddings", f"{prefix}positions"
    enters = "“{row}” enters with {value} in dimension {column}"
    return (
        Story(f"{enters}: {{{word}}} from its embedding and {{{position}}} from its position.", of=has(word, position)),
        Story(f"{enters}: its embedding, to which nothing is added.", of=both(has(word), lacks(position))),
        Story(f"{enters}, as it is given.", of=lacks(word)),
    )


def _added(trace: Trace, entries: Mapping[str, Entry]) -> str:
    made = entries["embedded" if "embedded" in trace else "x"].symbol
    return (
        f"By itself a score does not depend on where the {trace.origin.unit}s stand, so a vector for the **position** "
        f"is added to each row: ${made} = E + P$."
    )


POSITIONS = Step(
    id="positions",
    title="Positions",
    heading="Positions become vectors too",
    why=(
        "A score alone does not depend on where the {unit}s stand; a vector for the position, added to each row, "
        "lets it."
    ),
    text=(
        Section("positions", _added),
        Section(
            "waves",
            "This vector is made of sines and cosines, the later ones of longer waves, so that each position gets a "
            "vector of its own.",
            unless(of_model),
        ),
        Section(
            "not learnt yet",
            "Training changes these vectors; before training each is drawn at random.",
            both(origin("drawn"), of_model),
        ),
        Section(
            "learnt",
            "Each position's vector was learnt in training, so the model knows no more positions than it was trained "
            "on.",
            origin("learnt"),
        ),
        Section(
            "built",
            "This vector is made of cosines and sines of the position, so that one rotation turns the vector of any "
            "position into the vector of the next.",
            origin("built"),
        ),
    ),
    stages=("embedded", "x", "context"),
    entries={
        "positions": Entry("P", "Positions", "a vector for each position in the sentence", kind="input"),
        "context_positions": Entry(
            "P^C", "Context positions", "a vector for each position in the context", kind="input"
        ),
        "embedded": Entry("E^P", "Embedded", "embeddings, with positions added if there are any"),
        "x": Entry("X", "Input", "what is projected: embeddings, with positions added if there are any"),
        "context": Entry("C", "Context", "what keys and values are projected from"),
    },
    stories={
        "positions": (_WAVE,),
        "context_positions": (_WAVE,),
        "embedded": EMBEDDED,
        "x": (*ENTERS_NORMED, *_entering("")),
        "context": _entering("context_"),
    },
    when=has("positions"),
    terms=(
        Term(
            "position", r"\bpositions?\b", "Where a {unit} stands, counted from 1.", "Here the last is {scores:length}."
        ),
        Term(
            "sinusoidal",
            r"\bsinusoidal\b|\bsines\b",
            "Made of sines and cosines of the position, in waves of many lengths.",
        ),
    ),
)
