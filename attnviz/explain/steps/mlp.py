"""MLP: what the neurons that fire add to a token."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.story import PARTS, PRODUCT, SET_IN_BAND, SUM, Story, has


def _mixed(trace: Trace, entries: Mapping[str, Entry]) -> str:
    return (
        f"Each neuron has a row of ${entries['w_mlp'].symbol}$. What it passes on is multiplied by that row, and the "
        f"products of all neurons add up to ${entries['mlp'].symbol}$."
    )


def _added(trace: Trace, entries: Mapping[str, Entry]) -> str:
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
    text=(Section("mixed", _mixed), Section("bias", "A **bias** is added once.", has("b_mlp"))),
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
    text=_added,
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
