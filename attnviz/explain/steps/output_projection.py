"""Output: the heads side by side, and one more matrix that mixes them."""

from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Section, Step, Term, either
from attnviz.explain.story import PARTS, PRODUCT, SUM, Story, has, several_heads

CONCATENATION = Step(
    id="concatenation",
    title="Concatenation",
    heading=either(several_heads, "Put the heads side by side", "One head, so nothing to concatenate"),
    why=either(
        several_heads,
        "Each head looked on its own; side by side, nothing of what any of them found is lost.",
        "With one head there is nothing to concatenate, so what it found is passed on as it is.",
    ),
    text=either(
        several_heads,
        "Each head has worked on its own, with its own queries, keys and values. Their results are written **side "
        "by side**, head 1 first, so that a row is as long as the rows of all heads together. Nothing is added or "
        "mixed yet.",
        "With several heads their results would be written **side by side** here. There is one head, so its "
        "result is passed on as it is.",
    ),
    stages=("concat",),
    entries={"concat": Entry("H", "Concatenation", "the heads' outputs side by side", "v", one="found")},
    stories={"concat": (Story("In dimension {column} of its row, “{query}” has {value}, copied from {head}."),)},
    arcs=True,
    band_texts={
        "concat": (
            "**Each head** looked on its own: {story} Side by side, what they found is one row for “{word}”.",
            (Story("{head} gives “{key}” {attention:percent} and finds {value} in dimension {column}."),),
        )
    },
    terms=(
        Term(
            "concatenation",
            r"\bconcatenation\b|\bside by side\b",
            "Rows written one after the other as one longer row, without adding anything up.",
            "The length of the row is {concat:length} here.",
            "Concatenation",
        ),
        Term(
            "unchanged",
            r"\bas (?:it is|they are)\b",
            "Nothing is computed: the same numbers are passed on.",
            operation="Identity",
        ),
    ),
)


_ADDS = "In dimension {column} of the output of “{query}”, {head} adds {value}"
_AFTER_HEADS = ("concat", "contributions", "output")


def adds_up(trace: Trace) -> bool:
    """Whether the heads' contributions add up to the output, as they do unless a number after the heads is set."""
    return "contributions" in trace and not any(trace[name].overridden for name in _AFTER_HEADS)


def is_set_by_hand(trace: Trace) -> bool:
    """Whether a number set by hand keeps the contributions from adding up to the output."""
    return "contributions" in trace and not adds_up(trace)


def _heading(trace: Trace, entries: Entries) -> str:
    w_o = f"${entries['w_o'].symbol}$"
    return f"{w_o} mixes the heads" if several_heads(trace) else f"{w_o} makes the output of what the head collected"


def _mixed(trace: Trace, entries: Entries) -> str:
    w_o = entries["w_o"].symbol
    if not several_heads(trace):
        return (
            f"One more matrix of parameters, ${w_o}$, makes the :violet[**output**] of what the head collected. Each "
            f"number is a row of the concatenation times a column of ${w_o}$."
        )
    return (
        f"One more matrix of parameters, ${w_o}$, brings the heads together into the :violet[**output**]: one new row "
        "for each query. As the heads stand side by side, this is the same as sending each head through its own rows "
        f"of ${w_o}$ and **adding up** what comes out."
    )


def _bias(trace: Trace, entries: Entries) -> str:
    return f"The bias ${entries['b_o'].symbol}$ is added once."


OUTPUT = Step(
    id="output",
    title="Output",
    heading=_heading,
    why=either(
        several_heads,
        "The output parameters mix what the heads found, so that any dimension of the :violet[**output**] can draw "
        "on every head.",
        "The output parameters decide how much of what the head found goes to each dimension of the "
        ":violet[**output**], so that what follows can read it there.",
    ),
    text=(Section("mixed", _mixed), Section("bias", _bias, has("b_o"))),
    stages=("contributions", "output"),
    entries={
        "w_o": Entry(
            "W^O", "Output parameters", "the matrix that mixes the heads", "output", one="parameter", kind="parameter"
        ),
        "b_o": Entry("b^O", "Output bias", "what is added to every output", "output", kind="parameter"),
        "contributions": Entry("O_i", "Contributions", "each head's own part of the output", "output"),
        "output": Entry("O", "Output", "what leaves: one vector for each query", "output"),
    },
    stories={
        "w_o": (
            Story(
                "Dimension {row} of the heads side by side, which is {head}’s, is multiplied by {value} on its way "
                "to dimension {column} of the output."
            ),
        ),
        "b_o": (Story("{value} is added in dimension {column} of every output."),),
        "contributions": (Story(f"{_ADDS}; of what it found, {PARTS}."), Story(f"{_ADDS}.")),
        "output": (
            Story(
                "“{query}” leaves with {value} in dimension {column}; {head} adds {contributions} to this number.",
                of=adds_up,
            ),
            Story("“{query}” leaves with {value} in dimension {column}."),
        ),
    },
    notes=(
        Section(
            "set by hand",
            "Numbers between the heads and the output are set here, not computed, so the heads' contributions do not "
            "add up to the output.",
            is_set_by_hand,
        ),
    ),
    arcs=True,
    band_texts={
        "output from": ("What the :violet[**output**] of “{word}” takes from each head", ()),
        "w_o of heads": ("What the heads found, side by side, times the **output parameters**: {story}", PRODUCT),
        "contributions": (
            "**Each head** goes through its own rows of the output parameters: {story}",
            (
                Story("{head} adds {value} in dimension {column}, as it is set by hand.", "set"),
                Story("{head} adds {value} in dimension {column}."),
            ),
        ),
        "w_o": ("What the head found, times the **output parameters**: {story}", PRODUCT),
        "output": ("**Added up**: the :violet[**output**] of “{word}”, {story}", SUM),
    },
    terms=(
        Term(
            "W_O",
            r"\bW_O\b|\boutput parameters\b",
            "The matrix of parameters that makes the output of what the heads found.",
            "Here it is {w_o:rows} × {w_o:length}.",
        ),
        Term(
            "contribution",
            r"\bcontributions?\b",
            "What one head adds to the output: what it found, times its own rows of W_O.",
            "Of the selected head it begins with {contributions}.",
            "Contributions",
        ),
    ),
)
