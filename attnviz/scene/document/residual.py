"""Residual: each logit at the last token, taken apart into what wrote to the residual stream, as data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnviz.analysis import stream
from attnviz.contract.models import ByKey, ResidualPart, Writers
from attnviz.core.trace import Layer, Trace
from attnviz.explain.steps import entry
from attnviz.explain.views.numbers import chunks


def writers_data(trace: Trace) -> Writers | None:
    """The writers to the stream and their parts of each logit; of heads also each key's part.

    None where a layer replaces what entered it, or a number on the way is set by hand, so that nothing adds up.
    """
    if not stream.can(trace):
        return None
    token = trace["logits"].shape[0] - 1
    is_set = any(trace[layer.names["heads"]].overridden for layer in trace.layers)  # then keys don't add up to it
    writers = stream.parts(trace, token)
    return Writers(
        writers=[_writer(trace, part, token) for part in writers],
        values=chunks(np.array([part.values for part in writers])),
        by_key=None if is_set else _largest(by_key(trace)),
    )


def _writer(trace: Trace, part: stream.Part, token: int) -> ResidualPart:
    """Its name, the cell that it leads to, and whether it is a head."""
    index = {
        "entered": (token, 0),
        "head": (part.place, token, 0),
        "neuron": (token, part.place),
        "bias": (0,),
    }[part.kind]
    name = {
        "entered": f"“{trace.labels['token'][token]}” as it entered",
        "head": f"head {part.place + 1}",
        "neuron": f"neuron {part.place + 1}",
        "bias": entry(part.stage).title,
    }[part.kind]
    of_layer = f" of layer {trace.layer_of(part.stage).number}" if trace.n_layers > 1 and part.kind != "entered" else ""
    cell = str(trace[part.stage].cell(index))
    return ResidualPart(label=name + of_layer, cell=cell, is_head=part.kind == "head")


def by_key(trace: Trace) -> np.ndarray:
    """The part of each last logit that each head adds from each key, (heads of all layers, keys, answers)."""
    return np.array([rows for layer in trace.layers for rows in _of_heads(layer)])


def _largest(added: np.ndarray) -> ByKey:
    """From which key each head adds most to each logit, by its size, and how much."""
    places = np.abs(added).argmax(axis=1)
    values = np.take_along_axis(added, places[:, None], axis=1)[:, 0]
    return ByKey(places=places.tolist(), values=chunks(values))


def _of_heads(layer: Layer) -> Iterator[np.ndarray]:
    trace = layer.trace
    shares, values, w_o = trace["attention"].value[:, -1], trace["v"].value, trace["w_o"].value
    rows = np.split(w_o, len(values))
    for share, value, head_rows in zip(shares, values, rows, strict=True):
        yield share[:, None] * (value @ head_rows @ trace["w_u"].value)
