"""Concatenation: the heads' outputs side by side."""

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.wording import counted


def _concat(trace: Trace, selection: Selection) -> str:
    n_heads, _, width = trace["heads"].shape
    unchanged = "" if trace["concat"].overridden else " No number changes."
    return (
        f"{counted(n_heads, 'head')} with {counted(width, 'number')}{' each' * (n_heads > 1)} "
        f"{'makes' if n_heads == 1 else 'make'} one row of {counted(n_heads * width, 'number')} for each query."
        f"{unchanged}"
    )


CONCATENATION = Step(
    id="concatenation",
    title="Concatenation",
    headings=(Section("side by side", "Put the heads side by side"),),
    sections=(
        Section(
            "side by side",
            "Each head has worked on its own, with its own queries, keys and values. Their results are written **side "
            "by side**, head 1 first, so that a row is as long as those of all heads together. Nothing is added or "
            "mixed yet.",
        ),
    ),
    stages=("concat",),
    entries={"concat": Entry("H", "Concatenation", "the heads' outputs side by side", "v", caption=_concat)},
)
