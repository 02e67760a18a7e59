"""Tokens: words become vectors."""

from attnviz.text.condition import both, has, lacks
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import Story

_DRAWN = Story(
    "“{row}” enters with {value} at place {column}: a random number, always the same for the same word and seed."
)

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
            "Attention cannot read: each token, a word or a punctuation mark, enters as a row of `d_model` numbers, "
            "its **embedding** $E$. A real model has learnt these rows; here each is drawn from the word and the seed.",
            has("embeddings"),
        ),
        Section(
            "no positions",
            "Nothing is added to them here, so they are also the input $X$ of the next step: $X = E$.",
            both(has("embeddings"), lacks("positions")),
            stages=("x", "context"),
        ),
        Section(
            "given",
            "Each token enters as a row of numbers, the input $X$. Here the rows are **given**: someone chose them for "
            "an example; in a model they would be the words' embeddings.",
            lacks("embeddings"),
        ),
    ),
    stages=("embeddings", "context_embeddings", "x", "context"),
    entries={
        "embeddings": Entry("E", "Embeddings", "a vector for each word", kind="input", stories=(_DRAWN,)),
        "context_embeddings": Entry(
            "E^C", "Context embeddings", "a vector for each word of the context", kind="input", stories=(_DRAWN,)
        ),
    },
)
