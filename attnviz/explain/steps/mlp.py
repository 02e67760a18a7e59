"""The residual stream and the MLP."""

from attnviz.core.operations.activations import ReLU
from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Section, Step, Term, either
from attnviz.explain.story import (
    LARGEST_PART,
    PARTS,
    PRODUCT,
    ROW_BY_ROW,
    SET_IN_BAND,
    SUM,
    Story,
    has,
    selection_story,
    unless,
)


def is_relu(trace: Trace) -> bool:
    """Whether the MLP uses the ReLU."""
    return isinstance(trace["active"].operation, ReLU)


def _hidden_text(trace: Trace, entries: Entries) -> str:
    read, *_ = trace["hidden"].inputs
    bias = ", plus a **bias**," * ("b_hidden" in trace)
    return (
        f"An **MLP** works on each token by itself: a row of ${entries[read].symbol}$ times a column of "
        f"${entries['w_hidden'].symbol}${bias} is what one of {trace['hidden'].shape[-1]} **neurons** gets."
    )


def _fires(trace: Trace, entries: Entries) -> str:
    squared = " and squares it" * trace["active"].operation.squared
    return f"The **ReLU** keeps what is positive{squared}, and makes 0 of all else: such a neuron does not **fire**."


_GETS = "Neuron {column} gets {value} from “{row}”"
_FIRING = selection_story(Story("For “{query}”, {active:positive} fire."), of="active")

NEURONS = Step(
    id="neurons",
    title="Neurons",
    heading="Which neurons fire?",
    why=either(
        is_relu,
        "Each neuron looks for one pattern in the {unit}’s row, and is silent where it does not find it; without "
        "the ReLU between them two matrices could do no more than one.",
        "Each neuron looks for one pattern in the {unit}’s row, and is nearly silent far from it; without the GELU "
        "between them two matrices could do no more than one.",
    ),
    text=(
        Section("got", _hidden_text),
        Section("relu", _fires, is_relu),
        Section("firing", [_FIRING], is_relu),
        Section(
            "gelu",
            "The **GELU** multiplies it by the part of a normal distribution that lies below it: what is large stays, "
            "and what is far below 0 becomes almost nothing.",
            unless(is_relu),
        ),
    ),
    stages=("hidden", "active"),
    entries={
        "w_hidden": Entry("W^F", "Hidden parameters", "a column for each neuron", one="parameter", kind="parameter"),
        "b_hidden": Entry("b^F", "Hidden bias", "what is added to what each neuron gets", kind="parameter"),
        "hidden": Entry("F", "Neurons", "what each neuron gets", one="neuron"),
        "active": Entry("F^{+}", "Firing", "what each neuron passes on", one="firing neuron"),
    },
    stories={
        "w_hidden": (
            Story("Dimension {row} of what the MLP reads is multiplied by {value} on its way to neuron {column}."),
        ),
        "b_hidden": (Story("Neuron {column} gets {value} more from every token."),),
        "hidden": (
            Story(f"{_GETS}; {PARTS}."),
            Story(f"{_GETS}; its bias is the largest part of that.", of=has("b_hidden")),
            Story(f"{_GETS}."),
        ),
        "active": (Story("Neuron {column} gets {hidden} from “{row}” and passes on {value}."),),
    },
    arcs=True,
    band_texts={
        "w_hidden": (
            "What the MLP reads of “{word}”, times a column for each **neuron**: {story}",
            (Story(f"for neuron {{column}}, {LARGEST_PART}"), ROW_BY_ROW),
        ),
        "hidden": (
            "**Added up**: {story}",
            (
                Story("neuron {column} gets {value}, as it is set by hand.", "set"),
                Story("neuron {column} gets {value}."),
            ),
        ),
        "active": (
            "**Fire**: {story}",
            (
                Story("neuron {column} passes on {value}, as it is set by hand.", "set"),
                Story("{value:positive} neurons pass something on.", of=is_relu),
                Story("neuron {column} passes on {value}."),
            ),
        ),
    },
    terms=(
        Term(
            "neuron",
            r"\bneurons?\b",
            "One number in the middle of the MLP, which fires where it finds its pattern.",
            "Here {active:positive} are above 0.",
        ),
        Term(
            "fire",
            r"\bfires?\b|\bfiring\b",
            "A neuron fires where what it passes on is not 0.",
            "Here {active:positive} are above 0.",
        ),
        Term(
            "ReLU",
            r"\bReLU\b",
            "Keeps what is above 0, and makes 0 of the rest.",
            "Here it makes {active} of {hidden}.",
            "ReLU",
        ),
        Term(
            "GELU",
            r"\bGELU\b",
            "Like the ReLU with a round corner: each number times the part of a normal distribution below it.",
            "Here it makes {active} of {hidden}.",
            "GELU",
        ),
    ),
)


def _residual_text(trace: Trace, entries: Entries) -> str:
    x, output, residual = (entries[name].symbol for name in ("x", "output", "residual"))
    return (
        f"The :violet[**output**] is added to what entered the layer: ${residual} = {x} + {output}$. So each token "
        "keeps what it held, and what comes later can read both. This running sum is the **residual stream**."
    )


RESIDUAL = Step(
    id="residual",
    title="Residual",
    heading="Attention adds to a token, and replaces nothing",
    why="What attention found is added, so the {unit} keeps what it held, and what comes later can read both.",
    text=_residual_text,
    stages=("residual",),
    entries={"residual": Entry("R", "Residual", "what entered a layer, with its output added")},
    stories={
        "residual": (
            Story(
                "“{row}” goes on with {value} in dimension {column}: {x} entered the layer, attention adds {output}."
            ),
        )
    },
    arcs=True,
    band_texts={
        "residual": (
            "**Added**: {story}",
            (SET_IN_BAND, Story("“{query}” came with {left} in dimension {column} and gets {right}.")),
        )
    },
    terms=(
        Term(
            "residual stream",
            r"\bresidual(?: stream)?\b",
            "What a {unit} holds from layer to layer: each step adds to it, and nothing is put in its place.",
            "Its width is {residual:length} here.",
            "Addition",
        ),
    ),
)


def _mlp_text(trace: Trace, entries: Entries) -> str:
    return (
        f"Each neuron has a row of ${entries['w_mlp'].symbol}$. What it passes on is multiplied by that row, and the "
        f"products of all neurons add up to ${entries['mlp'].symbol}$."
    )


def _mlp_residual_text(trace: Trace, entries: Entries) -> str:
    residual, mlp, made = (entries[name].symbol for name in (*trace["mlp_residual"].inputs, "mlp_residual"))
    return (
        f"What the neurons make is added to what the token held: ${made} = {residual} + {mlp}$. So it stands beside "
        "what attention found, and what comes later can read both."
    )


MLP = Step(
    id="mlp",
    title="MLP",
    heading="What the neurons write",
    why=(
        "Each neuron has a row that it writes, as strongly as it fires, so that what it found can be read by what "
        "comes later."
    ),
    text=(Section("mixed", _mlp_text), Section("bias", "A **bias** is added once.", has("b_mlp"))),
    stages=("mlp",),
    entries={
        "w_mlp": Entry("W^G", "MLP parameters", "a row for each neuron", one="parameter", kind="parameter"),
        "b_mlp": Entry("b^G", "MLP bias", "what is added to what the neurons make", kind="parameter"),
        "mlp": Entry("G", "MLP output", "what the neurons make of each token"),
    },
    stories={
        "w_mlp": (Story("What neuron {row} passes on is multiplied by {value} and added in dimension {column}."),),
        "b_mlp": (Story("{value} is added in dimension {column} of every token."),),
        "mlp": (
            Story(f"In dimension {{column}} of “{{row}}”, the neurons add {{value}}; {PARTS}."),
            Story(
                "In dimension {column} of “{row}”, the MLP adds {value}; its bias is the largest part of that.",
                of=has("b_mlp"),
            ),
            Story("In dimension {column} of “{row}”, the neurons add {value}."),
        ),
    },
    arcs=True,
    band_texts={
        "w_mlp": ("What each neuron passes on, times its row: {story}", PRODUCT),
        "mlp": ("**Added up**: what the MLP adds to “{word}”, {story}", SUM),
    },
    terms=(
        Term(
            "MLP",
            r"\bMLP\b",
            "Two matrices with neurons between them, applied to each {unit} by itself.",
            "Its neurons here: {hidden:length}.",
        ),
    ),
)

MLP_RESIDUAL = Step(
    id="mlp-residual",
    title="MLP residual",
    heading="The MLP adds to a token, and replaces nothing",
    why="What the neurons write is added, so the {unit} keeps what it held, and what comes later can read both.",
    text=_mlp_residual_text,
    stages=("mlp_residual",),
    entries={"mlp_residual": Entry("R^G", "Residual after the MLP", "what a layer passes on")},
    stories={
        "mlp_residual": (
            Story("“{row}” goes on with {value} in dimension {column}: {residual} was there, the MLP adds {mlp}."),
        )
    },
    arcs=True,
    band_texts={
        "mlp_residual": (
            "**Added**: {story}",
            (SET_IN_BAND, Story("“{query}” had {left} in dimension {column}, and the MLP adds {right}.")),
        )
    },
)
