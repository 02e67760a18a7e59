"""The cost of a token with keys and values of earlier ones cached and without, in multiplications, and their size."""

from __future__ import annotations

import math

from attnviz.core.trace import Trace


def numbers_kept(trace: Trace) -> int:
    """How many numbers are kept of each token for later ones: of all that queries and their shares meet, one row.

    Those are keys and values; where matrices are absorbed, latents and the keys' part for positions (DeepSeek-AI 2024,
    "DeepSeek-V2", table 1). An implementation that keeps a copy of that part in each head's keys keeps more.

    Examples
    --------
    >>> from attnviz import trace_of
    >>> numbers_kept(trace_of("the cat sat"))
    16
    """
    met = (trace.inputs(stage.name) for stage in trace if not stage.is_given and "query" in stage.axes[1:2])
    kept = {each.name: each.shape for stages in met for each in stages if len(each.axes) > 2 and each.axes[1] == "key"}
    return sum(groups * length for groups, _, length in kept.values())


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
