"""Layers: how stages are named where a pass has several. What all layers share has no number."""

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(?P<name>.+)_(?P<layer>[1-9][0-9]*)")


def layered(name: str, layer: int) -> str:
    """The name of a stage in a layer, counted from 1; 0 where its pass has no other layer, or all layers share it.

    >>> layered("scores", 2), layered("scores", 0)
    ('scores_2', 'scores')
    """
    return f"{name}_{layer}" if layer else name


def split_layer(name: str) -> tuple[str, int]:
    """The name of a stage without its layer, and the layer.

    >>> split_layer("w_q_1"), split_layer("w_q")
    (('w_q', 1), ('w_q', 0))
    """
    match = _NUMBERED.fullmatch(name)
    return (match["name"], int(match["layer"])) if match else (name, 0)


def names_in_layer(names: Iterable[str], layer: int, enters: str) -> dict[str, str]:
    """For the name of each stage the one that it would have if this layer were the only one.

    What enters the layer is its `x`; the stages of other layers keep their names.

    >>> names_in_layer(["x", "q_1", "output_1", "q_2"], 2, enters="output_1")
    {'x': 'x_1', 'q_1': 'q_1', 'output_1': 'x', 'q_2': 'q'}
    """
    layer_names = {name: base if of == layer else name for name in names for base, of in (split_layer(name),)}
    return layer_names if enters == "x" else layer_names | {"x": layered("x", 1), enters: "x"}
