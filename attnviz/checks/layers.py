"""Layers: the arrays of one layer, where somebody's are of several, told by the numbers in their names."""

import re
from collections.abc import Iterable, Mapping

import numpy as np

from attnviz.checks.names import is_scale, is_softcap, named
from attnviz.core.errors import OwnArraysError
from attnviz.core.stage import split_layer

NUMBERED = re.compile(r"(?P<path>(?:.*?[./_])?(?<!linears[./])(?P<layer>\d+))[./_].+")
"""The path of a layer, which ends with its number; `linears.0` is a layer's own query matrix."""


def layers_of(names: Iterable[str]) -> dict[int, dict[str, str]]:
    """For the number of each layer the names of its arrays, and what each is called without it.

    >>> layers_of(["layers.0.attention", "layers.1.attention", "x"])
    {0: {'layers.0.attention': 'layers.0.attention'}, 1: {'layers.1.attention': 'layers.1.attention'}}
    >>> layers_of(["scores_1", "scores_2"])
    {1: {'scores_1': 'scores'}, 2: {'scores_2': 'scores'}}
    """
    layers: dict[int, dict[str, str]] = {}
    for name in names:
        own, layer = split_layer(name)
        match = NUMBERED.fullmatch(name)
        if match and (named(name) or is_scale(name) or is_softcap(name)):
            layers.setdefault(int(match["layer"]), {})[name] = name
        elif layer and named(own):  # as attnviz's own files have it
            layers.setdefault(layer, {})[name] = own
    return dict(sorted(layers.items()))


def of_layer(arrays: Mapping[str, np.ndarray], layer: int) -> dict[str, np.ndarray]:
    """The arrays of the layer that is counted so, from 1 on; all, where there is one layer.

    Of those without a number it has what all layers share: mask, context and scale. The others enter the first layer.

    Raises
    ------
    OwnArraysError
        If there are several, but not so many.
    """
    layers = layers_of(arrays)
    if len(layers) < 2:
        return dict(arrays)
    if not 1 <= layer <= len(layers):
        raise OwnArraysError(f"The arrays are of {len(layers)} layers; got the layer {layer}.")
    names = [*layers.values()][layer - 1]
    of_any = {name for each in layers.values() for name in each}
    unnumbered = [name for name in arrays if name not in of_any and (layer == 1 or _is_shared(name))]
    return {names.get(name, name): arrays[name] for name in (*unnumbered, *names)}


def _is_shared(name: str) -> bool:
    known = named(name)
    return is_scale(name) or is_softcap(name) or (known is not None and known.stage in ("mask", "context"))
