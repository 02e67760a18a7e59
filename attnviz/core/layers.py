"""Layers: how stages are named where a pass has several. What all layers share has no number."""

import re

_NUMBERED = re.compile(r"(?P<name>.+)_(?P<layer>[1-9][0-9]*)")


def layered(name: str, layer: int) -> str:
    """The name of a stage in a layer, counted from 1; 0 where its pass has no other layer, or all layers share it.

    >>> layered("scores", 2), layered("scores", 0)
    ('scores_2', 'scores')
    """
    return f"{name}_{layer}" if layer else name


def split(name: str) -> tuple[str, int]:
    """The name of a stage without its layer, and the layer.

    >>> split("w_q_1"), split("w_q")
    (('w_q', 1), ('w_q', 0))
    """
    found = _NUMBERED.fullmatch(name)
    return (found["name"], int(found["layer"])) if found else (name, 0)
