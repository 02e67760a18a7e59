"""Vocabulary: what each axis is called, and which stories a stage has, under the names of its layer."""

from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.explain.steps import entry
from attnviz.explain.story import Story, applicable

AXES = {
    "token": "tokens",
    "context token": "context tokens",
    "query": "queries",
    "key": "keys",
    "head": "heads",
    "group": "groups",
    "neuron": "neurons",
    "answer": "answers",
    "d_model": "d_model",
    "d_k": "d_k",
    "d_v": "d_v",
    "d_c": "d_c",
    "d_cq": "d_cq",
    "d_n": "d_n",
    "d_r": "d_r",
    "heads * d_k": "heads · d_k",
    "heads * d_v": "heads · d_v",
}
"""The names of axes on the screen."""


def symbol(stage: Stage) -> str:
    """The symbol of a stage, in which `_i` stands for the head, and `_g` for the group of heads that share it."""
    text = entry(stage.name).symbol
    return text.replace("_i", "_g") if stage.axes[0] == "group" else text


def stories_of(trace: Trace, name: str) -> tuple[Story, ...]:
    """The stories of a stage's numbers; of those that hold for a number the first is told."""
    layer = trace.layer_of(name)
    by = trace[name].overridden_by
    of_all = (Story(f"This number, {{value}}, is {by}; what follows is recomputed from it.", "set"),) if by else ()
    stories = applicable(layer.trace, (*of_all, *entry(name).stories))
    return stories if layer.trace is trace else tuple(story.renamed(layer.names) for story in stories)
