"""The residual stream: a logit as the sum of what wrote to it, what entered, each head and each neuron."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnviz.core.trace import Layer, Trace


class Part(NamedTuple):
    """What one writer adds to a logit.

    Attributes
    ----------
    kind : {"entered", "head", "neuron", "bias"}
    stage : str
        Whose row it writes: `x`, or a layer's `contributions`, `active`, `b_o` or `b_mlp`.
    place : int
        Which head or neuron it is, counted from 0; 0 of all else.
    value : float
    """

    kind: str
    stage: str
    place: int
    value: float


def parts(trace: Trace, token: int, answer: int) -> tuple[Part, ...]:
    """What makes a logit: as the last layer's row is a sum, so is its product with the answer's column.

    Parameters
    ----------
    trace : Trace
        With logits, and a residual stream in each layer.
    token, answer : int
        The logit at that token, of that answer, counted from 0.

    Returns
    -------
    tuple of Part
        In the order of the pass; they add up to the logit. A neuron that passes on nothing is left out.

    Examples
    --------
    >>> from attnviz.models import MODELS
    >>> trace = MODELS["microgpt"].at(0).trace("sop")
    >>> found = parts(trace, 3, 7)  # after "p", of "h"
    >>> {part.kind for part in found} == {"entered", "head", "neuron"}
    True
    >>> bool(abs(sum(part.value for part in found) - trace["logits"].value[3, 7]) < 1e-12)
    True
    """
    column = trace["w_u"].value[:, answer]
    first = trace.layers[0].names["x"]
    entered = Part("entered", first, 0, float(trace[first].value[token] @ column))
    return (entered, *(part for layer in trace.layers for part in _written(layer, token, column)))


def can(trace: Trace) -> bool:
    """Whether each layer adds to what entered it, and no number is set by hand where it does."""
    return "logits" in trace and all(_adds(layer) for layer in trace.layers)


_ADDED = ("contributions", "concat", "output", "residual", "mlp", "mlp_residual", "logits")


def _adds(layer: Layer) -> bool:
    trace = layer.trace
    has_sums = "residual" in trace and ("mlp" not in trace or "mlp_residual" in trace)
    return has_sums and not any(trace[name].overridden for name in _ADDED if name in trace)


def _written(layer: Layer, token: int, column: np.ndarray) -> Iterator[Part]:
    """What the heads and neurons of a layer write, and its biases."""
    trace, names = layer.trace, layer.names
    for head, row in enumerate(trace["contributions"].value[:, token]):
        yield Part("head", names["contributions"], head, float(row @ column))
    if "mlp" in trace:
        fires = trace["active"].value[token]
        for neuron in np.flatnonzero(fires).tolist():
            row = trace["w_mlp"].value[neuron]
            yield Part("neuron", names["active"], neuron, float(fires[neuron] * (row @ column)))
    for name in ("b_o", "b_mlp"):
        if name in trace:
            yield Part("bias", names[name], 0, float(trace[name].value @ column))
