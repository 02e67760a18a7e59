"""Stages: which stages of a layer someone's arrays may be, read off the order of stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from attnviz.core import order
from attnviz.core.arrays import real
from attnviz.core.assembly import Builder, add_layer
from attnviz.core.order import StageSpec
from attnviz.core.parameters import ALL_AXES, Parameters
from attnviz.core.stage import Stage

Axes = tuple[str, ...]
ROTATED = "_rotated"
"""The end of the name of a stage whose rows are turned by their positions."""

PROJECTIONS = ("w_q", "w_k", "w_v")
GAINS = tuple(name for name in ALL_AXES if name.startswith("g_"))
_ENTERING: Mapping[str, Axes] = {
    "x": ("token", "d_model"),
    "context": ("context token", "d_model"),
    "embeddings": ("token", "d_model"),
    "positions": ("token", "d_model"),
    **ALL_AXES,
}


def stages() -> Mapping[str, Axes]:
    """The axes of each stage: of those that enter a layer, of its parameters, and of its own.

    >>> stages()["scores"]
    ('head', 'query', 'key')
    """
    return _stages(order.LAYER)


def last_stages() -> set[str]:
    """The stages that no pass begins with: what x is the sum of, and what follows the heads side by side."""
    names = later_than_scores()
    return {"embeddings", "positions", *names[names.index("concat") + 1 :]}


def score_stages() -> tuple[str, ...]:
    """The stages from scores to those that the softmax reads.

    >>> score_stages()
    ('scores', 'scaled', 'capped', 'biased', 'masked')
    """
    return _score_stages(order.LAYER)


def later_than_scores() -> tuple[str, ...]:
    """The stages from the softmax on."""
    names = [step.name for step in order.LAYER]
    return tuple(names[names.index("attention") :])


def from_scores_on() -> tuple[str, ...]:
    """The stages that are made of queries multiplied with keys."""
    return (*score_stages(), *later_than_scores())


def made_of(given: set[str]) -> set[str]:
    """The stages that can be made of others, beginning with the given ones."""
    block = replace(order.layer_configs(given)[0], d_k=1)  # of whichever length
    present, made = {*given, "mask"}, set()
    for step in order.LAYER:
        if step.is_in(block) and step.inputs(present):
            made.add(step.name)
            present.add(step.name)
    return made


def beginnings(given: set[str]) -> set[str]:
    """Those of the given stages that aren't recomputed from other ones: where the pass begins.

    >>> sorted(beginnings({"x", "w_q", "q", "k", "attention"}))
    ['k', 'w_q', 'x']
    """
    return given - made_of(given)


@lru_cache(maxsize=8)
def _score_stages(layer: tuple[StageSpec, ...]) -> tuple[str, ...]:
    names = [step.name for step in layer]
    return tuple(each for each in names[names.index("scores") : names.index("attention")] if each in stages())


@lru_cache(maxsize=8)
def _stages(layer: tuple[StageSpec, ...]) -> Mapping[str, Axes]:
    """Those of a pass of one token and one head, with all that a layer may have; a rotation needs two dimensions."""
    build = Builder()
    for name in ("x", "context"):
        build.give(Stage.given(name, real(name, np.ones((1, 2)), _ENTERING[name]), _ENTERING[name]))
    lengths = {"head": 1, "group": 1}
    parameters = Parameters(
        **{name: np.ones([lengths.get(axis, 2) for axis in axes]) for name, axes in ALL_AXES.items()}
    )
    for stage in parameters.stages.values():
        build.give(stage)
    add_layer(build, order.LayerConfig(1, d_k=2, **{option: values[0] for option, values in order.CHOICES.items()}))
    return _ENTERING | {name: stage.axes for name, stage in build.stages.items()}
