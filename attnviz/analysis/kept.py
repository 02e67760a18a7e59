"""Kept: what a causal model need not compute again for one more token, in multiplications."""

from __future__ import annotations

import math

from attnviz.core.trace import Trace


def multiplications(trace: Trace, *, is_kept: bool) -> int:
    """How many numbers are multiplied in the matrix products of a pass.

    Parameters
    ----------
    trace : Trace
        Of one sentence under a causal mask, so that no earlier row depends on a later token.
    is_kept : bool
        Whether the rows of all tokens but the last are there already, and with them their keys and values.

    Examples
    --------
    >>> from attnviz.models import MODELS
    >>> trace = MODELS["microgpt"].at(0).trace("ab")
    >>> multiplications(trace, is_kept=False), multiplications(trace, is_kept=True)
    (10800, 3600)
    """
    n = trace.lengths["query"]
    rows = 1 if is_kept else n
    total = 0
    for layer in trace.layers:
        own = layer.trace
        for name in ("q", "k", "v"):
            heads, d_model, width = own[f"w_{name}"].shape
            total += rows * heads * d_model * width
        heads, keys, width = own["k"].shape
        total += rows * heads * keys * (width + own["v"].shape[-1])  # scores, and what the heads collect
        total += rows * sum(math.prod(own[name].shape) for name in ("w_o", "w_hidden", "w_mlp") if name in own)
    return total + (rows * math.prod(trace["w_u"].shape) if "w_u" in trace else 0)
