"""Concatenation: the heads' outputs side by side."""

from attnviz.explain.condition import one_head, several_heads
from attnviz.explain.entry import Entry
from attnviz.explain.step import Section, Step
from attnviz.explain.story import Story

CONCATENATION = Step(
    id="concatenation",
    title="Concatenation",
    headings=(
        Section("side by side", "Put the heads side by side", several_heads),
        Section("one head", "One head: nothing stands beside it", one_head),
    ),
    why=(
        Section(
            "several heads",
            "Each head looked on its own; side by side, nothing of what any of them found is lost.",
            several_heads,
        ),
        Section("one head", "One head has nothing to stand beside, so what it found is passed on as it is.", one_head),
    ),
    sections=(
        Section(
            "side by side",
            "Each head has worked on its own, with its own queries, keys and values. Their results are written **side "
            "by side**, head 1 first, so that a row is as long as the rows of all heads together. Nothing is added or "
            "mixed yet.",
            several_heads,
        ),
        Section(
            "one head",
            "With several heads their results would be written **side by side** here. There is one head, so its "
            "result is passed on as it is.",
            one_head,
        ),
    ),
    stages=("concat",),
    entries={
        "concat": Entry(
            "H",
            "Concatenation",
            "the heads' outputs side by side",
            "v",
            one="found",
            stories=(Story("In dimension {column} of its row, “{query}” has {value}, copied from {head}."),),
        )
    },
    arcs=True,
)
