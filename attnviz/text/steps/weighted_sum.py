"""Weighted sum: each head mixes the values by the shares."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import Story


def _mixture(trace: Trace, entries: Mapping[str, Entry]) -> str:
    return (
        "Each query's result is a mixture of the :green[values] of all keys, each by its share of the attention. Here "
        f"tokens mix, and nowhere else in a layer: a row of ${entries['heads'].symbol}$ holds something of all that "
        "its query looked at."
    )


WEIGHTED_SUM = Step(
    id="weighted-sum",
    title="Weighted sum",
    headings=(Section("values", "Collect the values, in those shares"),),
    sections=(Section("mixture", _mixture),),
    stages=("heads",),
    entries={
        "heads": Entry(
            "H_i",
            "Head outputs",
            "each head's mixture of values",
            "v",
            stories=(
                Story("“{query}” sees no key in {head}, so nothing is mixed and its row is 0.", "unseeing"),
                Story(
                    "At place {column}, “{query}” collects {value}; the largest part, "
                    "{value:part}, comes from “{value:part.place}” ({value:part.sum})."
                ),
            ),
        )
    },
    arcs=True,
)
