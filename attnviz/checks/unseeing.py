"""Unseeing: what a query that sees no key gets in other people's attention."""

from __future__ import annotations

import numpy as np

from attnviz.checks.nodes import Node
from attnviz.checks.rounding import Precision, Rounded, applied
from attnviz.core.operations.softmax import Softmax

UNSEEING = ("zeros", "a uniform row", "no numbers", "the row as if nothing were hidden", "numbers of its own")
"""In attnviz, ONNX and PyTorch's scaled_dot_product_attention; in JAX; in PyTorch's softmax; where -1e9 is added to
float64; where two masks are added, one on top of the other, and one number is no longer as small as the other."""

_ANYTHING = 1e9
"""How far off a number may be that is nobody's business."""

_BESIDE_A_BILLION = 1e-6
"""How far a share may be off after its score was added to -1e9, and lost all digits but seven."""


def filled(attention: Node, nature: str, before: str) -> Node:
    """Attention with other numbers where a query sees no key; `before` is the stage in which keys are hidden."""

    def refilled(given: list[Rounded], precision: Precision) -> Rounded:
        *inputs, unhidden = given
        shares = attention.made(inputs, precision)
        unseeing = np.isneginf(inputs[0].value).all(axis=-1, keepdims=True)
        if nature == UNSEEING[3]:
            other = applied(Softmax(), [unhidden], precision)
            other = Rounded(other.value, other.error + _BESIDE_A_BILLION * other.value)
        elif nature == UNSEEING[4]:
            other = Rounded(np.zeros(shares.value.shape), np.full(shares.value.shape, _ANYTHING))
        else:
            filling = 1 / shares.value.shape[-1] if nature == UNSEEING[1] else np.nan
            other = Rounded(np.full(shares.value.shape, filling), shares.error)
        return Rounded(np.where(unseeing, other.value, shares.value), np.where(unseeing, other.error, shares.error))

    return Node((*attention.inputs, before), refilled)
