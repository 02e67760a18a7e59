"""Norms: rows are scaled to one size, after the embeddings, before attention and before the MLP."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from attnviz.core.operations.norms import RMSNorm
from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.story import NORMED, Condition, Story, both, has, lacks


def _is_rms(name: str) -> Condition:
    return lambda trace: name in trace and isinstance(trace[name].operation, RMSNorm)


def _is_layer_norm(name: str) -> Condition:
    return lambda trace: name in trace and not _is_rms(name)(trace)


def _read(name: str, text: str) -> Callable[[Trace, Mapping[str, Entry]], str]:
    """A text with the symbols of a norm's input and result."""

    def written(trace: Trace, entries: Mapping[str, Entry]) -> str:
        read, *_ = trace[name].inputs
        return text.format(read=f"${entries[read].symbol}$", made=f"${entries[name].symbol}$")

    return written


def _norm(
    id: str,
    title: str,
    heading: str,
    name: str,
    entries: Mapping[str, Entry],
    *,
    arcs: bool = False,
    twice: bool = False,
) -> Step:
    """The step of the norm that makes the stage `name`."""
    return Step(
        id=id,
        title=title,
        headings=(Section("normed", heading),),
        why=(
            Section(
                "why",
                "Each row is brought to the same size, so what follows sees which of its numbers stand out, not how "
                "large they have grown on the way.",
            ),
        ),
        sections=(
            Section(
                "rms",
                _read(
                    name,
                    "**RMSNorm** divides each row of {read} by the root of the mean of its squares, which makes "
                    "{made}. A row keeps its direction: what follows sees which of its numbers are large beside the "
                    "others, and not how large they all are.",
                ),
                _is_rms(name),
            ),
            Section(
                "layer",
                _read(
                    name,
                    "**LayerNorm** takes its mean from each row of {read}, and divides what remains by the root of the "
                    "mean of its squares, which makes {made}. What follows sees which of its numbers are above the "
                    "others, and not how large they all are.",
                ),
                _is_layer_norm(name),
            ),
            *([Section("gain", _affine(name), has(f"g_{name}"))] if entries else []),
            *([Section("again", _AGAIN, both(_is_rms(name), _is_rms("x"), lacks(f"g_{name}")))] if twice else []),
        ),
        stages=(name,),
        entries=entries,
        arcs=arcs,
        band_texts={
            "#square": ("**Square** each number of “{word}”, and add up.", ()),
            "#square of LayerNorm": ("**Subtract** the mean, **square**, and add up.", ()),
            "LayerNorm": ("**Norm**: less the mean, and over the root of the mean of the squares: {story}", NORMED),
            name: ("**Norm**: each number over the root of the mean of the squares: {story}", NORMED),
        },
    )


_AGAIN = (
    "Here they are normed already, so this changes next to nothing, unless all numbers of a token were close to 0 "
    "before."
)
"""For a norm of rows that are normed already; “they” are the rows of the sentences before."""


def _affine(name: str) -> Callable[[Trace, Mapping[str, Entry]], str]:
    """The sentence on a norm's gain and bias."""

    def written(trace: Trace, entries: Mapping[str, Entry]) -> str:
        bias = ", and a **bias** that is added" * (f"b_{name}" in trace)
        return f"Then each dimension has a **gain** that it is multiplied by{bias}."

    return written


def _entries(name: str, symbol: str, title: str, what: str, *sources: str) -> dict[str, Entry]:
    """The entries of a norm's result, by the stage that it reads, and of its gain and bias."""
    makes = (
        Story(
            f"In dimension {{column}} of “{{row}}”, the norm makes {{value}} of {{{source}}}.", of=_reads(name, source)
        )
        for source in sources
    )
    gains = Story("In dimension {column}, every token is multiplied by {value} after it is normed.")
    adds = Story("In dimension {column}, {value} is added to every token after it is normed.")

    def parameter(letter: str, called: str, meaning: str, story: Story) -> dict[str, Entry]:
        entry = Entry(f"{letter}^{symbol}", f"{title} {called}", meaning, kind="parameter", stories=(story,))
        return {f"{letter}_{name}": entry}

    return {
        name: Entry(symbol, title, what, stories=tuple(makes)),
        **parameter("g", "gain", "a factor for each dimension", gains),
        **parameter("b", "bias", "what is added in each dimension", adds),
    }


def _reads(name: str, source: str) -> Condition:
    return lambda trace: source in trace[name].inputs


INPUT_NORM = replace(
    _norm("input-norm", "Input norm", "Every token gets the same size", "x", {}),
    when=has("embedded"),
    terms=(
        Term(
            "RMSNorm",
            r"\bRMSNorm\b|\bnorm(?:s|ed)?\b",
            "Divides each row by its size, the root of the mean of its squares.",
            "The length of a row is {x:length} here.",
            "RMSNorm",
        ),
        Term(
            "LayerNorm",
            r"\bLayerNorm\b",
            "Takes its mean from each row, and divides what is left by its size.",
            "The length of a row is {x:length} here.",
            "LayerNorm",
        ),
        Term("gain", r"\bgain\b(?! the)", "A parameter for each dimension, which a norm multiplies by."),
    ),
)
ATTN_NORM = _norm(
    "attn-norm",
    "Attention norm",
    "Attention reads every token at the same size",
    "attn_norm",
    _entries("attn_norm", "N", "Normed for attention", "what attention reads", "x"),
    twice=True,
)
MLP_NORM = _norm(
    "mlp-norm",
    "MLP norm",
    "The MLP reads every token at the same size",
    "mlp_norm",
    _entries("mlp_norm", "U", "Normed for the MLP", "what the MLP reads", "residual", "output"),
    arcs=True,
)

EMBEDDED = (
    Story(
        "“{row}” has {value} in dimension {column}: {embeddings} from its embedding and {positions} from its position.",
        of=has("positions"),
    ),
    Story(
        "“{row}” has {value} in dimension {column}: its embedding, to which nothing is added.", of=lacks("positions")
    ),
)
"""The stories of the stage that the input norm reads."""

ENTERS_NORMED = (
    Story(
        "“{row}” enters with {value} in dimension {column}: {embedded}, over the root of the mean of the row’s "
        "squares.",
        of=both(has("embedded"), _is_rms("x")),
    ),
    Story(
        "“{row}” enters with {value} in dimension {column}, which the norm makes of {embedded}.",
        of=both(has("embedded"), _is_layer_norm("x")),
    ),
)
