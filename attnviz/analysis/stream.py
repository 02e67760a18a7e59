"""The residual stream: what each writer adds to the logits; and the multiplications that a KV cache saves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnviz.core.trace import Layer, Trace


def multiplications(trace: Trace, n_tokens: int, *, is_cached: bool) -> int:
    """The multiplications in all matrix products of a pass over its first tokens.

    With a cache, only those for the last token: the keys and values of the others are kept, and so is everything made
    from the text that an encoder reads.

    >>> from attnviz.models import MODELS
    >>> trace = MODELS["microgpt"].at(0).trace("ab")
    >>> multiplications(trace, 3, is_cached=False), multiplications(trace, 3, is_cached=True)
    (10800, 3600)
    """
    rows = 1 if is_cached else n_tokens
    total = rows * math.prod(trace["w_u"].shape) if "w_u" in trace else 0
    first = writing(trace)[0].number
    for layer in trace.layers:
        stages, is_encoder = layer.trace, layer.number < first
        if is_encoder and is_cached:
            continue
        heads, n_read, width = stages["k"].shape
        is_of_other = is_encoder or "context" in stages
        n_queries, n_keys = n_read if is_encoder else rows, n_read if is_of_other else n_tokens
        n_made = n_read * (not is_cached) if is_of_other else rows  # keys and values that aren't kept
        for name, n in (("q", n_queries), ("k", n_made), ("v", n_made)):
            total += n * math.prod(stages[f"w_{name}"].shape)
        total += n_queries * heads * n_keys * (width + stages["v"].shape[-1])  # scores, and what the heads collect
        total += n_queries * sum(math.prod(stages[n].shape) for n in ("w_o", "w_hidden", "w_mlp") if n in stages)
    return total


def writing(trace: Trace) -> tuple[Layer, ...]:
    """The layers on the stream that leads from `x` to the logits: all except those of an encoder."""
    return trace.layers[next(n for n, layer in enumerate(trace.layers) if layer.names["x"] == "x") :]


class Part(NamedTuple):
    """What one writer to the residual stream adds to the logits of a token."""

    kind: str
    stage: str  # whose row it writes: `x`, or a layer's `contributions`, `active`, `b_o` or `b_mlp`
    place: int  # the index of the head or neuron; 0 for everything else
    values: np.ndarray  # (answers,)


def parts(trace: Trace, token: int) -> tuple[Part, ...]:
    """What each writer adds to a token's logits: the final row is a sum, so its products with W^U are too.

    >>> from attnviz.models import MODELS
    >>> trace = MODELS["microgpt"].at(0).trace("sop")
    >>> found = parts(trace, 3)  # after "p"
    >>> {part.kind for part in found} == {"entered", "head", "neuron"}
    True
    >>> bool(np.abs(sum(part.values for part in found) - trace["logits"].value[3]).max() < 1e-12)
    True
    """
    w_u = trace["w_u"].value
    entered = Part("entered", "x", 0, trace["x"].value[token] @ w_u)
    return (entered, *(part for layer in writing(trace) for part in _layer_parts(layer, token, w_u)))


def has_residual_stream(trace: Trace) -> bool:
    """Whether each layer on the way to the logits adds to its input, with no number set by hand where it does."""
    return "logits" in trace and all(map(_adds, writing(trace)))


_ADDED = ("contributions", "concat", "output", "residual", "mlp", "mlp_residual", "logits")


def _adds(layer: Layer) -> bool:
    trace = layer.trace
    has_sums = "residual" in trace and ("mlp" not in trace or "mlp_residual" in trace)
    return has_sums and not any(trace[name].overridden for name in _ADDED if name in trace)


def _layer_parts(layer: Layer, token: int, w_u: np.ndarray) -> Iterator[Part]:
    """The parts that the heads, the neurons and the biases of a layer write."""
    trace, names = layer.trace, layer.names
    for head, row in enumerate(trace["contributions"].value[:, token] @ w_u):
        yield Part("head", names["contributions"], head, row)
    if "mlp" in trace:
        active = trace["active"].value[token]
        fires = np.flatnonzero(active)
        written = (active[fires, None] * trace["w_mlp"].value[fires]) @ w_u
        for neuron, row in zip(fires.tolist(), written, strict=True):
            yield Part("neuron", names["active"], neuron, row)
    for name in ("b_o", "b_mlp"):
        if name in trace:
            yield Part("bias", names[name], 0, trace[name].value @ w_u)
