"""Vocabulary: one word, one symbol and one colour for each stage, wherever it is shown."""

from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.steps import ENTRIES
from attnviz.text.story import Story, said_of

VOCABULARY = ENTRIES
"""What each stage is called and how it is explained, by its name; the steps' entries together."""

AXES = {
    "token": "tokens",
    "context token": "context tokens",
    "query": "queries",
    "key": "keys",
    "head": "heads",
    "d_model": "d_model",
    "d_k": "d_k",
    "d_v": "d_v",
    "heads * d_k": "heads · d_k",
    "heads * d_v": "heads · d_v",
}
"""What each axis is called on the screen."""


def axis_name(name: str) -> str:
    """What an axis is called over a box of its places: "Query", but "d_k" and "heads · d_v" as they are."""
    return name.replace("*", "·") if name.startswith(("d_", "heads *")) else name.capitalize()


def entry(name: str) -> Entry:
    """What the vocabulary says of a stage."""
    return VOCABULARY[name]


def stories(trace: Trace, name: str) -> tuple[Story, ...]:
    """What may be said of a number of the stage `name`; of those that hold the first is told."""
    return said_of(trace, entry(name).stories)


def symbol(name: str, head: int | None = None) -> str:
    """The stage's symbol, for one head (counted from 0) if given."""
    text = VOCABULARY[name].symbol
    return text if head is None else text.replace("_i", f"_{{{head + 1}}}" if head >= 9 else f"_{head + 1}")
