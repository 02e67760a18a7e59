"""Weighted sum: each head mixes the values by the shares."""

from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import PARTS, Story

_COLLECTS = "In dimension {column}, “{query}” collects {value}"

WEIGHTED_SUM = Step(
    id="weighted-sum",
    title="Weighted sum",
    headings=(Section("values", "Collect the values, in those shares"),),
    why=(
        Section(
            "why",
            "Each :green[**value**] counts by its share, and they are added up: the only place in the layer where "
            "{unit}s exchange information.",
        ),
    ),
    sections=(
        Section(
            "mixture",
            "Each query's result is a mixture of the :green[values] of all keys, each by its share of the attention. "
            "This is the only step in the layer where {unit}s exchange information.",
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
                Story(f"{_COLLECTS}; {PARTS.replace('{value:part.place}', '“{value:part.place}”')}."),
                Story(f"{_COLLECTS}, all of it from “{{value:part.place}}” ({{value:part.sum}})."),
            ),
        )
    },
    arcs=True,
)
