"""What enters: words become vectors, to which positions may be added."""

from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Section, Step, Term, either
from attnviz.explain.steps.norms import EMBEDDED, ENTERS_NORMED
from attnviz.explain.story import Story, both, has, lacks, of_model, origin, unless
from attnviz.explain.styled_text import Runs, runs
from attnviz.explain.texts import encodes, of_two_texts, query_noun, sides, writes

_WAVE = Story("{value} is added in dimension {column} of “{row}”, because of its position.")


def _entering(prefix: str) -> tuple[Story, ...]:
    word, position = f"{prefix}embeddings", f"{prefix}positions"
    enters = "“{row}” enters with {value} in dimension {column}"
    return (
        Story(f"{enters}: {{{word}}} from its embedding and {{{position}}} from its position.", of=has(word, position)),
        Story(f"{enters}: its embedding, to which nothing is added.", of=both(has(word), lacks(position))),
        Story(f"{enters}, as it is given.", of=lacks(word)),
    )


def _is_drawn_here(trace: Trace) -> bool:
    """Whether a sentence's embeddings are drawn for it: neither a model's nor given."""
    return not of_model(trace) and not of_two_texts(trace)


def _added(trace: Trace, entries: Entries) -> str:
    made, word, place = (
        entries[name].symbol for name in ("embedded" if "embedded" in trace else "x", "embeddings", "positions")
    )
    return (
        f"By itself a score does not depend on where the {trace.origin.unit}s stand, so a vector for the **position** "
        f"is added to each row: ${made} = {word} + {place}$."
    )


def _positions_heading(trace: Trace, entries: Entries) -> str:
    return f"Positions of {query_noun(trace)}s become vectors too"


POSITIONS = Step(
    id="positions",
    title="Positions",
    heading=either(of_two_texts, _positions_heading, "Positions become vectors too"),
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
            _is_drawn_here,
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


_ENTERS = "The embedding of “{row}” has {value} in dimension {column}"
_EMBEDDED = (
    Story(f"{_ENTERS}, learnt in training.", of=origin("learnt")),
    Story(f"{_ENTERS}, written by hand.", of=origin("built")),
    Story(f"{_ENTERS}: a random number, as nothing has been learnt yet.", of=both(origin("drawn"), of_model)),
    Story(f"{_ENTERS}: a random number, always the same for the same token and seed.", of=_is_drawn_here),
    Story(f"{_ENTERS}, as it is given.", of=both(of_two_texts, unless(of_model))),
)


def _heading(trace: Trace, entries: Entries) -> str:
    called = query_noun(trace)
    return f"{called[0].upper()}{called[1:]}s become vectors"


def _tokens(trace: Trace, entries: Entries) -> str:
    unit = trace.origin.unit
    kinds = "a word or a punctuation mark" if unit == "word" else f"a {unit}"
    return (
        f"Attention cannot read: each token, {kinds}, enters as a row of `d_model` numbers, its **embedding** "
        f"${entries['embeddings'].symbol}$."
    )


def _encoder_input(trace: Trace, entries: Entries) -> Runs:
    """What enters of the text that an encoder reads."""
    end, (read, _) = _mark(trace, -1), sides(trace)
    return runs(
        f"The **encoder** reads the whole {read} text{', up to “{end}”' * bool(end)}: each token enters as a row of "
        f"`d_model` numbers, its **embedding** ${entries['embeddings'].symbol}$.",
        end=end,
    )


def _decoder_input(trace: Trace, entries: Entries) -> Runs:
    """What enters of the text that a decoder writes."""
    begin, (written, _) = _mark(trace, 0), sides(trace)
    if begin and len(trace["q"].value[0]) == 1:
        so_far = f"The **decoder** has not written any {written} yet, so “{{begin}}” stands for it: this token enters"
    else:
        after = ", after “{begin}”" * bool(begin)
        so_far = f"The **decoder** reads the {written} text that it has written so far{after}: each token enters"
    row = f"as a row of `d_model` numbers, too, its **embedding** ${entries['embeddings'].symbol}$."
    return runs(f"{so_far} {row}", begin=begin)


def _mark(trace: Trace, place: int) -> str:
    """The token that marks where a text begins or ends; empty if it has none."""
    label = (trace.words("q", "query") or ("",))[place]
    return label if label.startswith("<") else ""


def _no_positions(trace: Trace, entries: Entries) -> str:
    x = entries["x"].symbol
    return (
        f"No positions are added here, so the embeddings are also the input ${x}$ of the next step: "
        f"${x} = {entries['embeddings'].symbol}$."
    )


def _given(trace: Trace, entries: Entries) -> str:
    return (
        f"Each token enters as a row of numbers, the input ${entries['x'].symbol}$. Here the rows are **given** as "
        "they are; in a model they would be the words' embeddings, or what the layer before has made of them."
    )


TOKENS = Step(
    id="tokens",
    title="Tokens",
    heading=either(has("embeddings"), _heading, "What enters"),
    why="Attention multiplies and adds, so each {unit} must enter as a row of numbers.",
    text=(
        Section("words", _tokens, both(has("embeddings"), unless(of_two_texts))),
        Section("read", _encoder_input, both(has("embeddings"), encodes)),
        Section("written", _decoder_input, both(has("embeddings"), writes)),
        Section(
            "drawn",
            "A trained model has learnt these rows; here each is drawn from the {unit} and the seed.",
            both(has("embeddings"), _is_drawn_here),
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
            _no_positions,
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
            _given,
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
    band_texts={"x of a word": ("**Input**: {story}", ())},  # where no norm makes it
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
