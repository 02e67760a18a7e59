"""The heads of a recording as data for a page: patterns in 8 bits, statistics, and which layer is there exactly."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from attnviz.checks.recording.heads import LayerHeads, heads_of
from attnviz.checks.recording.recorded import Recorded
from attnviz.core.arguments import quoted
from attnviz.core.errors import OwnArraysError
from attnviz.core.tokens import labels
from attnviz.explain.wording import counted
from attnviz.scene.document.encoding import to_json


def overview_json(recorded: Recorded, effects: object, exact: int | None) -> bytes:
    """The overview of a recording as JSON; `exact` is the layer that is in its page number by number."""
    layers = heads_of(recorded)
    values = None if effects is None else _effects(effects, layers)
    texts: dict[tuple[str, ...], int] = {}
    sent = [_sent(layer, None if values is None else values[at], texts) for at, layer in enumerate(layers)]
    patterns = b"".join(
        _in_8_bits(weights, scale)
        for layer, each in zip(layers, sent, strict=True)
        if layer.attention is not None
        for weights, scale in zip(layer.attention, each["scales"], strict=True)
    )
    return to_json(
        {
            "about": _about(layers, exact),
            "layers": sent,
            "texts": [list(text) for text in texts],
            "patterns": base64.b64encode(zlib.compress(patterns)).decode("ascii"),
            "exact": exact,
        }
    )


def _sent(layer: LayerHeads, effects: np.ndarray | None, texts: dict[tuple[str, ...], int]) -> dict[str, Any]:
    n, *shape = (0, 0, 0) if layer.attention is None else layer.attention.shape
    statistics = ({} if effects is None else {"effect": effects[:n]}) | layer.statistics
    return {
        "path": layer.path or "the model",
        "note": layer.note,
        "n": n,
        "shape": shape,
        "scales": [] if layer.attention is None else _rounded(layer.attention.max(axis=(1, 2))),
        "queries": texts.setdefault(labels(layer.queries), len(texts)),
        "keys": texts.setdefault(labels(layer.keys), len(texts)),
        "statistics": {name: _rounded(values) for name, values in statistics.items()},
    }


def _in_8_bits(weights: np.ndarray, scale: float) -> bytes:
    """The weights of a head, 255 for its largest: each to within a 510th of that."""
    return np.rint(np.clip(weights / (scale or 1), 0, 1) * 255).astype(np.uint8).tobytes()


def _rounded(values: np.ndarray) -> list[float | None]:
    """Numbers at four digits; None for missing ones."""
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values.tolist()]


def _effects(effects: object, layers: Sequence[LayerHeads]) -> np.ndarray:
    array = None
    with suppress(TypeError, ValueError):
        array = np.asarray(effects, dtype=np.float64)
    n_heads = max([1, *(len(each.attention) for each in layers if each.attention is not None)])
    most = n_heads if all(each.attention is not None for each in layers) else np.inf  # an unread layer may have more
    if array is None or array.ndim != 2 or len(array) != len(layers) or not n_heads <= array.shape[1] <= most:
        raise OwnArraysError(
            f"effects must have a row for each layer and a column for each head, ({len(layers)}, {n_heads}), as "
            f"head_effects returns them; got {quoted(effects) if array is None else array.shape}."
        )
    return array


def _about(layers: Sequence[LayerHeads], exact: int | None) -> str:
    """What the page holds, in a line below its title."""
    n_heads = {len(each.attention) for each in layers if each.attention is not None}
    heads = counted(next(iter(n_heads)), "head") if len(n_heads) == 1 else "heads"
    what = f"{counted(len(layers), 'layer')} with {heads} each" if len(n_heads) == 1 else counted(len(layers), "layer")
    shapes = {each.attention.shape[1:] for each in layers if each.attention is not None}
    size = "; " + " and ".join(f"{n} × {m} tokens" for n, m in sorted(shapes)) if shapes else ""
    number = "" if exact is None else f" Layer {exact} is here number by number."
    return f"{what}{size}. Rows are queries, columns keys; patterns in 8 bits.{number}"
