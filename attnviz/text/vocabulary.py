"""Vocabulary: one word, one symbol and one colour for each stage, wherever it is shown."""

from attnviz.core.trace import Trace
from attnviz.text.steps import entry
from attnviz.text.story import Story, said_of

AXES = {
    "token": "tokens",
    "context token": "context tokens",
    "query": "queries",
    "key": "keys",
    "head": "heads",
    "neuron": "neurons",
    "answer": "answers",
    "d_model": "d_model",
    "d_k": "d_k",
    "d_v": "d_v",
    "heads * d_k": "heads · d_k",
    "heads * d_v": "heads · d_v",
}
"""What each axis is called on the screen."""


def symbol(name: str, head: int | None = None) -> str:
    """The stage's symbol, for one head (counted from 0) if given."""
    text = entry(name).symbol
    return text if head is None else text.replace("_i", f"_{{{head + 1}}}" if head >= 9 else f"_{head + 1}")


def stories_of(trace: Trace, name: str) -> tuple[Story, ...]:
    """What may be said of the numbers of a stage; of those that hold for a number the first is told."""
    layer = trace.layer_of(name)
    stories = said_of(layer.trace, entry(name).stories)
    return stories if layer.trace is trace else tuple(story.renamed(layer.names) for story in stories)
