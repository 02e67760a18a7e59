"""Own examples: arrays as somebody might bring them, made of a pass, with a mistake or without."""

from __future__ import annotations

import io

import numpy as np

from attnviz.core.attention import attend, trace_of
from attnviz.core.parameters import Parameters
from attnviz.core.settings import Settings
from attnviz.core.trace import Trace

EXAMPLES = {
    "correct": "No mistake",
    "transposed": "A weight used transposed",
    "mask inverted": "The mask the other way round",
    "unscaled": "No division by √d_k",
}
"""Their labels, by their names."""

EXAMPLE_NAME = "example.npz"

_USUAL = Settings("the cat sat on the mat", mask="causal")
_WEIGHTS = ("w_q", "w_k", "w_v", "w_o")


def example_file(name: str, trace: Trace | None) -> bytes:
    """The arrays of an example and their words, as an .npz (see `example`)."""
    words = trace.labels.get("query", ()) if trace and _is_plain(trace) else _USUAL.tokens
    file = io.BytesIO()
    np.savez(file, **example(name, trace), tokens=np.array(words))
    return file.getvalue()


def example(name: str, trace: Trace | None) -> dict[str, np.ndarray]:
    """The arrays of an implementation under PyTorch's names: an input, weights, a mask, attention and output.

    Parameters
    ----------
    name : str
        One of `EXAMPLES`.
    trace : Trace or None
        The pass whose input and parameters it has, if it is a single layer of self-attention with square ones.
    """
    trace = trace if trace and _is_plain(trace) else trace_of(_USUAL)
    n_heads, d_model, d_k = trace["w_q"].shape
    weights = {each: _joined(trace[each].value) for each in _WEIGHTS}
    mask = trace["mask"].value
    if mask.dtype != bool or mask.all():
        mask = np.tri(len(trace["x"].value), dtype=bool)
    used = weights | {"w_v": weights["w_v"].T} if name == "transposed" else weights
    made = attend(
        trace["x"].value,
        parameters=Parameters(
            **{each: used[each].reshape(d_model, n_heads, d_k).swapaxes(0, 1) for each in _WEIGHTS[:3]}, w_o=used["w_o"]
        ),
        mask=~mask if name == "mask inverted" else mask,
        scale=1.0 if name == "unscaled" else None,
    )
    names = {"w_q": "q_proj.weight", "w_k": "k_proj.weight", "w_v": "v_proj.weight", "w_o": "out_proj.weight"}
    return {
        "x": trace["x"].value,
        **{names[each]: weights[each].T for each in _WEIGHTS},
        "mask": mask,
        "attention": made["attention"].value,
        "output": made["output"].value,
    }


def _is_plain(trace: Trace) -> bool:
    if trace.n_layers > 1 or "context" in trace or not all(each in trace for each in ("x", *_WEIGHTS)):
        return False
    return not any(f"b_{each}" in trace for each in "qkvo") and all(
        _joined(trace[each].value).shape == trace["w_o"].shape for each in _WEIGHTS
    )


def _joined(weight: np.ndarray) -> np.ndarray:
    """A weight with its heads side by side, (in, out)."""
    return weight if weight.ndim == 2 else weight.swapaxes(0, 1).reshape(weight.shape[1], -1)
