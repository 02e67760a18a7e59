"""Weighted sum: each head mixes the values by the shares."""

from attnviz.text.condition import has, lacks
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import PARTS, Story

_COLLECTS = "In dimension {column}, “{query}” collects {value}"

WEIGHTED_SUM = Step(
    id="weighted-sum",
    title="Weighted sum",
    headings=(
        Section("values", "Collect the values, in those shares", lacks("running_output")),
        Section("quotient", "Divide what was collected by the sum", has("running_output")),
    ),
    why=(
        Section(
            "why",
            "Each :green[**value**] counts by its share, and they are added up: the only place in the layer where "
            "{unit}s exchange information.",
            lacks("running_output"),
        ),
        Section(
            "quotient",
            "Each :green[**value**] was counted by exp(score − maximum); divided by the sum of these it is counted by "
            "its share, though no share was kept.",
            has("running_output"),
        ),
    ),
    sections=(
        Section(
            "mixture",
            "Each query's result is a mixture of the :green[values] of all keys, each by its share of the attention. "
            "This is the only step in the layer where {unit}s exchange information.",
            lacks("running_output"),
        ),
        Section(
            "quotient",
            "Divided by the running sum, the running output after the last block is, to rounding, a mixture of the "
            ":green[values] of all keys, each by its share of the attention. None of these shares was kept on the way.",
            has("running_output"),
        ),
    ),
    stages=("heads",),
    entries={
        "heads": Entry(
            "H_i",
            "Head outputs",
            "each head's mixture of values",
            "v",
            stories=(
                Story(
                    "“{query}” sees no key in {head}, so it collects nothing: {value} in dimension {column}.",
                    "unseeing",
                ),
                Story(
                    f"{_COLLECTS}: its running output after the last block, over its running sum.",
                    of=has("running_output"),
                ),
                Story(f"{_COLLECTS}; {PARTS.replace('{value:part.place}', '“{value:part.place}”')}."),
                Story(f"{_COLLECTS}, all of it from “{{value:part.place}}” ({{value:part.sum}})."),
            ),
        )
    },
    arcs=True,
)
