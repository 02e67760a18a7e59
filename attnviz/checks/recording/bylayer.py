"""By layer: the arrays of all layers that a library keeps itself, each layer's apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from attnviz.checks.files import as_array
from attnviz.checks.layers import NUMBERED
from attnviz.checks.names import named
from attnviz.checks.stages import stages
from attnviz.core.errors import OwnArraysError
from attnviz.core.parameters import ALL_AXES


def by_layer(arrays: Mapping[str, Any], sentence: int) -> dict[int, tuple[str, dict[str, np.ndarray]]]:
    """For each layer, by its number in the library, its path and its arrays of one sentence.

    Parameters
    ----------
    arrays : mapping of names to arrays, or to a tuple with one for each layer
        Those of no layer, and those of no stage that `compare` knows, are left out.
    sentence : int
        Which one of a batch.

    Raises
    ------
    OwnArraysError
        If there is no layer in them, or the batch has no such sentence.
    """
    layers: dict[int, tuple[str, dict[str, np.ndarray]]] = {}
    for layer, path, name, value in _numbered(arrays):
        known = named(name)
        if known is not None:
            _, kept = layers.setdefault(layer, (path, {}))
            kept[name] = _of_sentence(name, known.stage, as_array(name, value), sentence)
    if not layers:
        names = ", ".join([*arrays][:8])
        raise OwnArraysError(
            "Arrays of layers have names with a number, such as blocks.3.attn.hook_q, or are a tuple with one for "
            f"each layer, such as attentions; got {names or 'none'}."
        )
    return {layer: (path, _cut(kept)) for layer, (path, kept) in sorted(layers.items())}


def _numbered(arrays: Mapping[str, Any]) -> Iterator[tuple[int, str, str, Any]]:
    """The layer, its path, the name and the value of each array."""
    for name, value in arrays.items():
        if isinstance(value, (tuple, list)):
            if name != "hidden_states":  # Hugging Face's: the stream between layers, which no attention reads as it is
                yield from ((layer, f"{name}.{layer}", name, each) for layer, each in enumerate(value))
        elif match := NUMBERED.fullmatch(name):
            yield int(match["layer"]), match["path"], name, value


def _cut(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a layer, and of a mask for the longest text, which libraries keep as a buffer, its beginning."""
    stages_of = {name: named(name).stage for name in arrays}
    n_tokens = next((len(arrays[name]) for name, stage in stages_of.items() if stage in ("x", "output")), None)
    longer = [name for name, stage in stages_of.items() if stage == "mask" and _is_square(arrays[name], n_tokens)]
    return arrays | {name: arrays[name][..., :n_tokens, :n_tokens] for name in longer}


def _is_square(mask: np.ndarray, n_tokens: int | None) -> bool:
    return n_tokens is not None and mask.ndim > 1 and mask.shape[-1] == mask.shape[-2] > n_tokens


def _of_sentence(name: str, stage: str, array: np.ndarray, sentence: int) -> np.ndarray:
    axes = stages().get(stage)
    if axes is None or stage in ALL_AXES or array.ndim != len(axes) + 1:
        return array
    if not 0 <= sentence < len(array):
        raise OwnArraysError(f"sentence must be one of the {len(array)} in {name}, from 0 on; got {sentence}.")
    return array[sentence]
