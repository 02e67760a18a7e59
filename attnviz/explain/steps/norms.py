"""Norms: rows are scaled to one size, after the embeddings, before attention and the MLP; and queries and keys."""

from dataclasses import replace

from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Role, Section, Step, Term, Writer
from attnviz.explain.story import NORMED, Condition, Story, both, computed_from, has, lacks, unless
from attnviz.explain.texts import crosses, query_noun, sides


def _qk_norm_stories(role: Role, one: str) -> dict[str, tuple[Story, ...]]:
    gain = f"g_{role}_norm"
    normed = f"The norm makes {{value}} of {{{role}}} in dimension {{column}} of the {one} of “{{row}}”"
    return {
        f"{role}_normed": (
            Story(f"{normed}, with the gain {{{gain}}}.", of=has(gain)),
            Story(f"{normed}.", of=lacks(gain)),
        ),
        gain: (Story(f"In dimension {{column}}, every normed {one} is multiplied by {{value}}."),),
    }


QK_NORM = Step(
    id="qk-norm",
    title="QK-norm",
    heading="Queries and keys are compared at one size",
    why=(
        "A long :blue[**query**] or :orange[**key**] makes all its scores large; at one size only its direction "
        "counts, and no score grows beyond bounds in training."
    ),
    text=(
        Section(
            "rms",
            "**RMSNorm** divides each :blue[query] and each :orange[key] by the root of the mean of its squares. It "
            "keeps its direction, and a score depends on the directions alone.",
        ),
        Section("gain", "Then each dimension has a **gain** that it is multiplied by.", has("g_q_norm")),
    ),
    stages=("q_normed", "k_normed"),
    entries={
        "q_normed": Entry("Q^N_i", "Normed queries", "the queries at one size", "q", one="normed query"),
        "g_q_norm": Entry("g^Q", "Query gain", "a factor for each dimension of a normed query", kind="parameter"),
        "k_normed": Entry("K^N_i", "Normed keys", "the keys at one size", "k", one="normed key"),
        "g_k_norm": Entry("g^K", "Key gain", "a factor for each dimension of a normed key", kind="parameter"),
    },
    stories={**_qk_norm_stories("q", "query"), **_qk_norm_stories("k", "key")},
    band_texts={
        **dict.fromkeys(
            ("q_normed", "k_normed"),
            ("**Norm**: each number over the root of the mean of the squares: {story}", NORMED),
        )
    },
)


def _is_rms(name: str) -> Condition:
    return lambda trace: name in trace and isinstance(trace[name].operation, RMSNorm)


def _text(name: str) -> Writer:
    def written(trace: Trace, entries: Entries) -> str:
        source = trace[name].inputs[0]
        read, made = (f"${entries[each].symbol}$" for each in (source, name))
        if _is_rms(name)(trace):
            text = (
                f"**RMSNorm** divides each row of {read} by the root of the mean of its squares, which makes {made}. A "
                "row keeps its direction: what follows sees which of its numbers are large beside the others, and not "
                "how large they all are."
            )
        else:
            text = (
                f"**LayerNorm** takes its mean from each row of {read}, and divides what remains by the root of the "
                f"mean of its squares, which makes {made}. What follows sees which of its numbers are above the "
                "others, and not how large they all are."
            )
        if f"g_{name}" in trace:
            bias = ", and a **bias** that is added" * (f"b_{name}" in trace)
            return f"{text} Then each dimension has a **gain** that it is multiplied by{bias}."
        if _is_rms(name)(trace) and source == "x" and _is_rms("x")(trace):
            return (
                f"{text} Here they are normed already, so this changes next to nothing, unless all numbers of a token "
                "were close to 0 before."
            )
        return text

    return written


def _norm(id: str, title: str, heading: str | Writer, name: str, **more: object) -> Step:
    return Step(
        id=id,
        title=title,
        heading=heading,
        why=(
            "Each row is brought to the same size, so what follows sees which of its numbers stand out, not how "
            "large they have grown on the way."
        ),
        text=_text(name),
        stages=(name,),
        band_texts={
            "#square": ("**Square** each number of “{word}”, and add up.", ()),
            "#square of LayerNorm": ("**Subtract** the mean, **square**, and add up.", ()),
            "LayerNorm": ("**Norm**: less the mean, and over the root of the mean of the squares: {story}", NORMED),
            name: ("**Norm**: each number over the root of the mean of the squares: {story}", NORMED),
        },
        **more,
    )


def _entries(name: str, symbol: str, title: str, meaning: str) -> dict[str, Entry]:
    return {
        name: Entry(symbol, title, meaning),
        f"g_{name}": Entry(f"g^{symbol[0]}", f"{title} gain", "a factor for each dimension", kind="parameter"),
        f"b_{name}": Entry(f"b^{symbol[0]}", f"{title} bias", "what is added in each dimension", kind="parameter"),
    }


def _stories(name: str, *sources: str) -> dict[str, tuple[Story, ...]]:
    makes = "In dimension {column} of “{row}”, the norm makes {value} of"
    return {
        name: tuple(Story(f"{makes} {{{source}}}.", of=computed_from(name, source)) for source in sources),
        f"g_{name}": (Story("In dimension {column}, every token is multiplied by {value} after it is normed."),),
        f"b_{name}": (Story("In dimension {column}, {value} is added to every token after it is normed."),),
    }


INPUT_NORM = replace(
    _norm("input-norm", "Input norm", "Every token gets the same size", "x"),
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


def _reads_memory(trace: Trace) -> bool:
    return crosses(trace) and isinstance(trace["context"].operation, RMSNorm | LayerNorm)


ATTN_NORM = _norm(
    "attn-norm",
    "Attention norm",
    "Attention reads every token at the same size",
    "attn_norm",
    entries=_entries("attn_norm", "N", "Normed for attention", "what attention reads"),
    stories=_stories("attn_norm", "x"),
    notes=(
        Section("memory", "The **memory**, of which keys and values are made here, is normed already.", _reads_memory),
    ),
)
MLP_NORM = _norm(
    "mlp-norm",
    "MLP norm",
    "The MLP reads every token at the same size",
    "mlp_norm",
    entries=_entries("mlp_norm", "U", "Normed for the MLP", "what the MLP reads"),
    stories=_stories("mlp_norm", "residual", "output"),
    arcs=True,
)


def _is_of_this_layer(trace: Trace) -> bool:
    """Whether this is the layer whose output the decoder reads."""
    return "memory" in trace and not split_layer(trace["memory"].inputs[0])[1]


def _read_by_decoder(trace: Trace, entries: Entries) -> str:
    return (
        f"These rows are the **memory**: the decoder makes its keys and values of them, one for each "
        f"{query_noun(trace)}, and reads nothing else of the {sides(trace)[0]} text."
    )


MEMORY = replace(
    _norm(
        "memory",
        "Memory",
        lambda trace, _: f"What the decoder reads of each {query_noun(trace)}",
        "memory",
        entries=_entries("memory", "C^N", "Memory", "what the decoder reads of the encoder’s text"),
        stories=_stories("memory", "mlp_residual", "residual"),
        arcs=True,
    ),
    when=_is_of_this_layer,
    why=_read_by_decoder,
    terms=(
        Term(
            "memory",
            r"(?<!less )\bmemory\b",
            "What an encoder has made of the text that it reads: a row for each {unit}, which the decoder reads.",
        ),
        Term("encoder", r"\bencoders?\b", "The layers that read a whole text, in which each {unit} sees all others."),
        Term(
            "decoder",
            r"\bdecoders?\b",
            "The layers that write a text, and read both what is written so far and the memory.",
        ),
        Term(
            "cross-attention",
            r"\bcross-attention\b",
            "Attention whose queries are of one text, and whose keys and values are of another.",
        ),
    ),
)

EMBEDDED = (  # the stories of the stage that the input norm reads
    Story(
        "“{row}” has {value} in dimension {column}: {embeddings} from its embedding and {positions} from its position.",
        of=has("positions"),
    ),
    Story(
        "“{row}” has {value} in dimension {column}: its embedding, to which nothing is added.", of=lacks("positions")
    ),
)

ENTERS_NORMED = (
    Story(
        "“{row}” enters with {value} in dimension {column}: {embedded}, over the root of the mean of the row’s "
        "squares.",
        of=both(has("embedded"), _is_rms("x")),
    ),
    Story(
        "“{row}” enters with {value} in dimension {column}, which the norm makes of {embedded}.",
        of=both(has("embedded"), unless(_is_rms("x"))),
    ),
)
