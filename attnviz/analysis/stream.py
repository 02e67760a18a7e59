"""The residual stream: logits as the sum of what wrote to it, what entered, each head and each neuron."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnviz.core.trace import Layer, Trace


class Part(NamedTuple):
    """The part of the logits at a token that one writer adds.

    Attributes
    ----------
    kind : {"entered", "head", "neuron", "bias"}
    stage : str
        Whose row it writes: `x`, or a layer's `contributions`, `active`, `b_o` or `b_mlp`.
    place : int
        Which head or neuron it is, counted from 0; 0 of all else.
    values : ndarray (answers,)
    """

    kind: str
    stage: str
    place: int
    values: np.ndarray


def parts(trace: Trace, token: int) -> tuple[Part, ...]:
    """The parts of the logits at a token: as the last layer's row is a sum, so are its products with their columns.

    Parameters
    ----------
    trace : Trace
        With logits, and a residual stream in each layer.
    token : int
        Counted from 0.

    Returns
    -------
    tuple of Part
        In the order of the pass; they add up to the logits. A neuron that passes on nothing is left out.

    Examples
    --------
    >>> from attnviz.models import MODELS
    >>> trace = MODELS["microgpt"].at(0).trace("sop")
    >>> found = parts(trace, 3)  # after "p"
    >>> {part.kind for part in found} == {"entered", "head", "neuron"}
    True
    >>> bool(np.abs(sum(part.values for part in found) - trace["logits"].value[3]).max() < 1e-12)
    True
    """
    w_u, first = trace["w_u"].value, trace.layers[0].names["x"]
    entered = Part("entered", first, 0, trace[first].value[token] @ w_u)
    return (entered, *(part for layer in trace.layers for part in _written(layer, token, w_u)))


def can(trace: Trace) -> bool:
    """Whether each layer adds to what entered it, and no number is set by hand where it does."""
    return "logits" in trace and all(_adds(layer) for layer in trace.layers)


_ADDED = ("contributions", "concat", "output", "residual", "mlp", "mlp_residual", "logits")


def _adds(layer: Layer) -> bool:
    trace = layer.trace
    has_sums = "residual" in trace and ("mlp" not in trace or "mlp_residual" in trace)
    return has_sums and not any(trace[name].overridden for name in _ADDED if name in trace)


def _written(layer: Layer, token: int, w_u: np.ndarray) -> Iterator[Part]:
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
