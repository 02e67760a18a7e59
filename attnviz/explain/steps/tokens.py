"""Tokens: words become vectors."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term, either
from attnviz.explain.story import Story, both, has, lacks, of_model, origin, unless

_ENTERS = "The embedding of “{row}” has {value} in dimension {column}"
_EMBEDDED = (
    Story(f"{_ENTERS}, learnt in training.", of=origin("learnt")),
    Story(f"{_ENTERS}, written by hand.", of=origin("built")),
    Story(f"{_ENTERS}: a random number, as nothing has been learnt yet.", of=both(origin("drawn"), of_model)),
    Story(f"{_ENTERS}: a random number, always the same for the same token and seed.", of=unless(of_model)),
)


def _heading(trace: Trace, entries: Mapping[str, Entry]) -> str:
    return f"{trace.origin.unit.capitalize()}s become vectors"


def _tokens(trace: Trace, entries: Mapping[str, Entry]) -> str:
    unit = trace.origin.unit
    kinds = "a word or a punctuation mark" if unit == "word" else f"a {unit}"
    return f"Attention cannot read: each token, {kinds}, enters as a row of `d_model` numbers, its **embedding** $E$."


TOKENS = Step(
    id="tokens",
    title="Tokens",
    heading=either(has("embeddings"), _heading, "What enters"),
    why="Attention multiplies and adds, so each {unit} must enter as a row of numbers.",
    text=(
        Section("words", _tokens, has("embeddings")),
        Section(
            "drawn",
            "A trained model has learnt these rows; here each is drawn from the {unit} and the seed.",
            both(has("embeddings"), unless(of_model)),
        ),
        Section(
            "not learnt yet",
            "Training changes these rows; before training each is drawn at random.",
            both(origin("drawn"), of_model),
        ),
        Section("learnt", "These rows were learnt in training, as all parameters were.", origin("learnt")),
        Section(
            "built",
            "These rows were written by hand: a 1 in the dimension of the {unit}, and 0 elsewhere.",
            origin("built"),
        ),
        Section(
            "no positions",
            "No positions are added here, so the embeddings are also the input $X$ of the next step: $X = E$.",
            both(has("embeddings"), lacks("positions", "embedded")),
            stages=("x", "context"),
        ),
        Section(
            "no positions, normed",
            "No positions are added here, so the embeddings are what is normed: $E^P = E$.",
            both(has("embeddings", "embedded"), lacks("positions")),
            stages=("embedded",),
        ),
        Section(
            "given",
            "Each token enters as a row of numbers, the input $X$. Here the rows are **given** as they "
            "are; in a model they would be the words' embeddings, or what the layer before has made of them.",
            lacks("embeddings"),
        ),
    ),
    stages=("embeddings", "context_embeddings", "x", "context"),
    entries={
        "embeddings": Entry("E", "Embeddings", "a vector for each token", kind="input"),
        "context_embeddings": Entry(
            "E^C", "Context embeddings", "a vector for each token of the context", kind="input"
        ),
    },
    stories={"embeddings": _EMBEDDED, "context_embeddings": _EMBEDDED},
    terms=(
        Term("token", r"\btokens?\b", "What a text is cut into: here a {unit}.", "There are {scores:length}."),
        Term(
            "embedding",
            r"\bembeddings?\b",
            "The row of numbers that stands for a {unit}.",
            "Its length is {embeddings:length} here.",
        ),
        Term(
            "d_model",
            r"\bd_model\b",
            "How many numbers stand for a {unit} between the layers.",
            "d_model = {x:length} here.",
        ),
    ),
)
