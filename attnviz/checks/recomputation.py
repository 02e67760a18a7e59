"""Recomputation: attnviz's pass from the earliest stages that someone gives, wherever it begins."""

from collections.abc import Mapping

import numpy as np

from attnviz.checks.stages import beginnings, made_of, score_stages, stages
from attnviz.core.arrays import real
from attnviz.core.assembly import Builder, add_layer
from attnviz.core.operations.operation import Source
from attnviz.core.order import LayerConfig
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

_GIVEN = Source("from your arrays")


def recomputed(arrays: Mapping[str, np.ndarray], block: LayerConfig) -> Trace:
    """The stages that begin a pass, and those that can be made of them.

    Parameters
    ----------
    arrays : mapping of stages to ndarray
        In attnviz's layouts. A -inf in scores, scaled or masked ones, where they begin the pass, hides a key.
    block : LayerConfig
        What the layer has.

    Raises
    ------
    ArrayError
        If a number is not finite, or one that follows is too large for float64.
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
    """The arrays, with the -inf of scores that begin the pass as a mask."""
    made = made_of({"scores", *arrays}) | {"scores"}
    *_, before, masked = (each for each in score_stages() if each in made)
    for name in beginnings(set(arrays)).intersection(score_stages()):
        seen = ~np.isneginf(arrays[name])
        if not seen.all():
            rest = {each: array for each, array in arrays.items() if each != name}
            return rest | {"mask": seen, before if name == masked else name: np.where(seen, arrays[name], 0)}
    return arrays
