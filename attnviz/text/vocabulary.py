"""Vocabulary: one word, one symbol and one colour for each stage, wherever it is shown."""

from attnviz.text.entry import Entry
from attnviz.text.steps import ENTRIES

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


def entry(name: str) -> Entry:
    """What the vocabulary says of a stage."""
    return VOCABULARY[name]


def symbol(name: str, head: int | None = None) -> str:
    """The stage's symbol, for one head (counted from 0) if given."""
    text = VOCABULARY[name].symbol
    return text if head is None else text.replace("_i", f"_{{{head + 1}}}" if head >= 9 else f"_{head + 1}")
