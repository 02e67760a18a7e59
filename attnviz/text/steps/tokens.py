"""Tokens: words become vectors."""

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step, both, has, lacks
from attnviz.text.wording import alike, counted, each, number, word, words

OTHER_SENTENCE = " It is a word of another sentence than the queries: keys and values come from there."


def twins(trace: Trace, query: int) -> list[int]:
    """The other places in the sentence at which the same vector stands."""
    rows = trace["embeddings"].value
    return [place for place in range(len(rows)) if place != query and (rows[place] == rows[query]).all()]


def entering(trace: Trace, name: str, place: int) -> str:
    """What enters at a place: how many numbers, and between which."""
    stage = trace[name]
    row = stage.value[place]
    span = f": {each(row)}" if alike(row) else f" between {number(row.min())} and {number(row.max())}"
    return f"{word(trace, stage.axes[0], place)} enters as {counted(len(row), 'number')}{span}."


def _embeddings(trace: Trace, selection: Selection) -> str:
    enters = entering(trace, "embeddings", selection.query)
    others = twins(trace, selection.query)
    if not others:
        return enters
    return (
        f"{enters} It is the same vector as that of {words(trace, 'token', others)}: "
        "a word's embedding depends on the word and the seed alone."
    )


def _context_embeddings(trace: Trace, selection: Selection) -> str:
    return entering(trace, "context_embeddings", selection.key) + OTHER_SENTENCE


TOKENS = Step(
    id="tokens",
    title="Tokens",
    headings=(
        Section("words", "Words become vectors", has("embeddings")),
        Section("given", "What enters", lacks("embeddings")),
    ),
    sections=(
        Section(
            "words",
            "Attention cannot read: each token - a word or a punctuation mark - enters as a row of `d_model` numbers, "
            "its **embedding** $E$. A real model has learnt these rows; here each is drawn from the word and the seed, "
            "so the same word always gets the same row, and changing the seed is like picking another untrained model.",
            has("embeddings"),
        ),
        Section(
            "no positions",
            "Without positions this is also the input $X$ of the next step.",
            both(has("embeddings"), lacks("positions")),
        ),
        Section(
            "given",
            "Each token enters as a row of numbers. Here they are **given**: someone chose them for an example; in a "
            "model they would be the words' embeddings.",
            lacks("embeddings"),
        ),
    ),
    stages=("embeddings", "context_embeddings", "x", "context"),
    entries={
        "embeddings": Entry("E", "Embeddings", "a vector for each word", kind="input", caption=_embeddings),
        "context_embeddings": Entry(
            "E^C",
            "Context embeddings",
            "a vector for each word of the context",
            kind="input",
            caption=_context_embeddings,
        ),
    },
)
