"""Concatenation: the heads' outputs side by side."""

from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import Story


def _one_head(trace: Trace) -> bool:
    return len(trace["heads"].value) == 1


def _several_heads(trace: Trace) -> bool:
    return not _one_head(trace)


CONCATENATION = Step(
    id="concatenation",
    title="Concatenation",
    headings=(
        Section("side by side", "Put the heads side by side", _several_heads),
        Section("one head", "One head has nothing to stand beside", _one_head),
    ),
    sections=(
        Section(
            "side by side",
            "Each head has worked on its own, with its own queries, keys and values. Their results are written **side "
            "by side**, head 1 first, so that a row is as long as those of all heads together. Nothing is added or "
            "mixed yet.",
            _several_heads,
        ),
        Section(
            "one head",
            "With several heads their results would be written **side by side** here. There is one, so its result is "
            "passed on as it is.",
            _one_head,
        ),
    ),
    stages=("concat",),
    entries={
        "concat": Entry(
            "H",
            "Concatenation",
            "the heads' outputs side by side",
            "v",
            stories=(Story("At place {column} of its row, “{query}” has {value}, copied from {head}."),),
        )
    },
    arcs=True,
)
