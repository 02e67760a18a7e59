"""The cost of a token with keys and values of earlier ones cached and without, in multiplications."""

from __future__ import annotations

import math

from attnviz.core.trace import Trace


def multiplications(trace: Trace, n_tokens: int, *, is_cached: bool) -> int:
    """The multiplications in the matrix products of the pass of its first tokens.

    Parameters
    ----------
    trace : Trace
        Of one sentence under a causal mask, so that no earlier row depends on a later token.
    n_tokens : int
        How many of its tokens there are.
    is_cached : bool
        Whether the rows of all tokens but the last are cached, and with them their keys and values.

    Examples
    --------
    >>> from attnviz.models import MODELS
    >>> trace = MODELS["microgpt"].at(0).trace("ab")
    >>> multiplications(trace, 3, is_cached=False), multiplications(trace, 3, is_cached=True)
    (10800, 3600)
    """
    rows = 1 if is_cached else n_tokens
    total = 0
    for layer in trace.layers:
        stages = layer.trace
        for name in ("q", "k", "v"):
            heads, d_model, width = stages[f"w_{name}"].shape
            total += rows * heads * d_model * width
        heads, _, width = stages["k"].shape
        total += rows * heads * n_tokens * (width + stages["v"].shape[-1])  # scores, and what the heads collect
        total += rows * sum(math.prod(stages[name].shape) for name in ("w_o", "w_hidden", "w_mlp") if name in stages)
    return total + (rows * math.prod(trace["w_u"].shape) if "w_u" in trace else 0)
