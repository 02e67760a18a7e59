"""Calling: a module of attention with inputs that are drawn for it, with and without a causal mask."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from attnviz.checks.recording.modules import AttentionModule
from attnviz.checks.recording.recorded import record
from attnviz.core.errors import OwnArraysError

N_SENTENCES, N_TOKENS = 2, 7
_MASKS = ("attn_mask", "mask", "attention_mask", "causal_mask", "src_mask")
_FLAGS = ("is_causal", "causal")


def drawn(width: int, seed: int) -> np.ndarray:
    """Two sentences of seven tokens (sentences, tokens, width)."""
    return np.random.default_rng(seed).normal(size=(N_SENTENCES, N_TOKENS, width))


def calls(
    attention: AttentionModule, x: np.ndarray, names: dict[str, str]
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """The arrays of the first sentence in each way that the module can be called.

    Parameters
    ----------
    attention : AttentionModule
    x : ndarray (sentences, tokens, width)
    names : mapping of names to stages
        As in `attention_modules`.

    Yields
    ------
    str
        "no mask"; then "causal" for each meaning that its mask may have, if it takes one.
    dict of names to ndarray
    """
    yield "no mask", _heard(attention, x, {}, names)
    takes = inspect.signature(attention.module.forward).parameters
    mask = next((name for name in _MASKS if name in takes), None)
    if mask:
        visible = np.tri(x.shape[1], dtype=bool)
        hides = "in_proj_weight" in attention.parameters or type(attention.module).__name__ == "MultiheadAttention"
        for meaning in (~visible,) if hides else (np.where(visible, 0.0, -np.inf), visible, ~visible):
            for shape in (meaning, meaning[np.newaxis, np.newaxis]):
                with suppress(TypeError, ValueError, RuntimeError, IndexError):  # a mask of another type or shape
                    yield "causal", _heard(attention, x, {mask: shape}, names)
                    break
    elif flag := next((name for name in _FLAGS if name in takes), None):
        yield "causal", _heard(attention, x, {flag: True}, names)


def _heard(attention: AttentionModule, x: np.ndarray, arguments: dict, names: dict[str, str]) -> dict[str, np.ndarray]:
    like = next(iter(attention.parameters.values()))
    x = like.new_tensor(x if attention.is_batch_first else np.swapaxes(x, 0, 1))
    given = {
        name: like.new_tensor(value).bool() if value.dtype == bool else like.new_tensor(value)
        for name, value in arguments.items()
        if isinstance(value, np.ndarray)
    }
    flags = {name: value for name, value in arguments.items() if value is True}
    takes = inspect.signature(attention.module.forward).parameters
    if "average_attn_weights" in takes:
        flags["average_attn_weights"] = False
    if "position_embeddings" in takes:
        flags["position_embeddings"] = _position_embeddings(attention.module, x)
    flags |= {name: None for name in _MASKS if name in takes and name not in given and _is_required(takes[name])}
    n_inputs = 3 if any(name in takes for name in ("key", "k")) else 1
    with record(attention.module, names=names) as recorded:
        _call(attention.module, [x] * n_inputs, given | flags)
    return recorded[0]


def _call(module: Any, inputs: list, arguments: dict) -> None:
    try:
        module(*inputs, **arguments)
    except OwnArraysError:
        raise
    except Exception as error:
        kind = type(module).__name__
        names = "".join(f" and {name}" for name, value in arguments.items() if value is not None)
        raise OwnArraysError(
            f"{kind} must take x{', as query, key and value' * (len(inputs) > 1)}{names}; calling it so raised "
            f"{type(error).__name__}: {error}. Wrap it in a module that does, or record both and compare what was "
            "recorded."
        ) from error


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty


def _position_embeddings(module: Any, x: Any) -> Any:
    """The cosines and sines that a layer of Hugging Face's turns queries and keys by, of its library's own class."""
    library = vars(sys.modules[type(module).__module__])
    of = next((each for name, each in library.items() if name.endswith("RotaryEmbedding")), None)
    if of is None or not hasattr(module, "config"):
        raise OwnArraysError(
            f"{type(module).__name__} takes position_embeddings, which attnviz can't make for it. Give a module that "
            "makes them, or record both of yours and compare them."
        )
    positions = x.new_tensor(np.arange(x.shape[1])[np.newaxis]).long()
    rotary = of(config=module.config)
    by_type = {"layer_type": module.layer_type} if "layer_type" in inspect.signature(rotary.forward).parameters else {}
    return rotary(x, positions, **by_type)
