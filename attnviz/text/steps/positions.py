"""Positions: places become vectors too, and are added."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.text.condition import both, has, lacks, of_model, of_no_model, origin
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.steps.norms import EMBEDDED, ENTERS_NORMED
from attnviz.text.story import Story

_WAVE = Story("{value} is added at place {column} of “{row}”, because of where the word stands.")


def _entering(prefix: str) -> tuple[Story, ...]:
    """What is said of what enters: of the stages whose names begin with `prefix`."""
    word, place = f"{prefix}embeddings", f"{prefix}positions"
    enters = "“{row}” enters with {value} at place {column}"
    return (
        Story(f"{enters}: {{{word}}} from the word and {{{place}}} from where it stands.", of=has(word, place)),
        Story(f"{enters}: its embedding, to which nothing is added.", of=both(has(word), lacks(place))),
        Story(f"{enters}, as it is given.", of=lacks(word)),
    )


def _added(trace: Trace, entries: Mapping[str, Entry]) -> str:
    made = entries["embedded" if "embedded" in trace else "x"].symbol
    return (
        "By itself a score does not depend on where the words stand, so a vector for the **place** is added to each "
        f"row: ${made} = E + P$."
    )


POSITIONS = Step(
    id="positions",
    title="Positions",
    headings=(Section("places", "Places become vectors too"),),
    sections=(
        Section(
            "places",
            _added,
        ),
        Section(
            "waves",
            "This vector is made of sines and cosines, the later ones of longer waves, so that each place gets a "
            "vector of its own.",
            of_no_model,
        ),
        Section(
            "not learnt yet",
            "Training changes these vectors; before training each is drawn at random.",
            both(origin("drawn"), of_model),
        ),
        Section(
            "learnt",
            "Each place's vector was learnt in training, so the model knows no more places than it was trained on.",
            origin("learnt"),
        ),
        Section(
            "built",
            "This vector is made of cosines and sines of the place, so that one rotation turns the vector of any place "
            "into the vector of the next.",
            origin("built"),
        ),
    ),
    stages=("embedded", "x", "context"),
    entries={
        "positions": Entry("P", "Positions", "a vector for each place in the sentence", kind="input", stories=(_WAVE,)),
        "context_positions": Entry(
            "P^C", "Context positions", "a vector for each place in the context", kind="input", stories=(_WAVE,)
        ),
        "embedded": Entry("E^P", "Embedded", "embeddings, with positions added if there are any", stories=EMBEDDED),
        "x": Entry(
            "X",
            "Input",
            "what is projected: embeddings, with positions added if there are any",
            stories=(*ENTERS_NORMED, *_entering("")),
        ),
        "context": Entry("C", "Context", "what keys and values are projected from", stories=_entering("context_")),
    },
    when=has("positions"),
)
