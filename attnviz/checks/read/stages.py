"""Stages: the stages of a layer that arrays may be, derived from the order of stages; and passes from any of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from attnviz.contract.article import Block
from attnviz.core import order
from attnviz.core.arrays import real
from attnviz.core.assembly import Builder, add_layer
from attnviz.core.operations.operation import Source
from attnviz.core.order import StageSpec
from attnviz.core.parameters import ALL_AXES, Parameters
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

Axes = tuple[str, ...]
ROTATED = "_rotated"  # the suffix of rotated stages
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
    """The axes of every input, parameter and stage of a layer.

    >>> stages()["scores"]
    ('head', 'query', 'key')
    """
    return _stages(order.LAYER)


def last_stages() -> set[str]:
    """The stages that no pass starts from: the parts of x, and everything after the joined heads."""
    names = stages_after_scores()
    return {"embeddings", "positions", *names[names.index("concat") + 1 :]}


def score_stages() -> tuple[str, ...]:
    """The stages from the scores to the input of the softmax.

    >>> score_stages()
    ('scores', 'scaled', 'capped', 'biased', 'masked')
    """
    return _score_stages(order.LAYER)


def stages_after_scores() -> tuple[str, ...]:
    """The stages from the softmax on."""
    names = [step.name for step in order.LAYER]
    return tuple(names[names.index("attention") :])


def stages_from_scores() -> tuple[str, ...]:
    """The stages from the scores on."""
    return (*score_stages(), *stages_after_scores())


def made_of(given: set[str]) -> set[str]:
    """The stages that can be computed from the given ones."""
    block = replace(order.layer_configs(given)[0], d_k=1)  # of whichever length
    present, made = {*given, "mask"}, set()
    for step in order.LAYER:
        if step.is_in(block) and step.inputs(present):
            made.add(step.name)
            present.add(step.name)
    return made


def beginnings(given: set[str]) -> set[str]:
    """The given stages that a pass starts from: those that can't be computed from the others.

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
    """The stages of a minimal pass with everything a layer may have. A rotation needs two dimensions."""
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


_GIVEN = Source("from your arrays")


def recomputed(arrays: Mapping[str, np.ndarray], block: Block) -> Trace:
    """The pass from the stages that start it.

    Parameters
    ----------
    arrays : mapping of stages to ndarray
        In attnviz's layouts. A -inf in scores that start the pass hides a key.
    block : Block
        The settings of the layer.

    Raises
    ------
    ArrayError
        If a number is not finite, or overflows float64 later.
    """
    arrays = _unhidden(arrays)
    mask = arrays.get("mask")
    build = Builder()
    for name, axes in stages().items():
        if name in arrays and name != "mask":
            build.give(Stage.given(name, real(name, arrays[name], axes), axes, _GIVEN))
    add_layer(build, block, mask)
    trace = Trace(tuple(build.stages.values()), {})
    return trace if mask is None else trace.with_sources({"mask": _GIVEN.recipe})


def _unhidden(arrays: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Turn the -inf of scores that start the pass into a mask."""
    made = made_of({"scores", *arrays}) | {"scores"}
    *_, before, masked = (each for each in score_stages() if each in made)
    for name in beginnings(set(arrays)).intersection(score_stages()):
        seen = ~np.isneginf(arrays[name])
        if not seen.all():
            rest = {each: array for each, array in arrays.items() if each != name}
            return rest | {"mask": seen, before if name == masked else name: np.where(seen, arrays[name], 0)}
    return arrays
