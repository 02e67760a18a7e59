"""Residual: what a layer's attention gives is added to what entered it."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Step, Term
from attnviz.explain.story import SET_IN_BAND, Story


def _added(trace: Trace, entries: Mapping[str, Entry]) -> str:
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
    text=_added,
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
