"""Batches: arrays of several sentences, split into those of each sentence."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.checks.read.files import Arrays, as_array
from attnviz.checks.read.layouts import PARAMETERS, stages
from attnviz.checks.read.names import rotation_kind, stage_named

_PADDING = re.compile(r"(?:.*[./])?(?:.*pad.*|attention_mask)", re.IGNORECASE | re.DOTALL)
# Names of libraries whose layers always have sentences on the first axis: Hugging Face, TransformerLens, Keras, timm
_BATCH_FIRST = re.compile(
    r"(?:.*[./])?(?:hidden_states|hook_\w+|(?:query|key|value)[./]kernel(?::0)?|c_attn[./]weight|o_proj[./]weight|"
    r"self[./]query[./]weight|to_(?:q|qkv)[./]weight|qkv[./]weight)",
    re.DOTALL,
)


@dataclass(frozen=True, eq=False)
class Batch:
    """The arrays of several sentences, and the axis of x that counts these: 0, or 1 for "sequence first"."""

    n: int
    axis: int
    of_each: Sequence[Arrays]
    is_certain: bool = True  # whether anything but the shape of attention weights tells the axis
    contradicted_by: str = ""  # what an axis of 1 doesn't fit: "names", "tokens", or a mask that was left out


@dataclass(frozen=True)
class _Way:
    """A way to split arrays: `n` sentences on an axis of x, and how many queries and keys each has; 0 if unknown."""

    n: int
    axis: int
    n_queries: int = 0
    n_keys: int = 0


def batches_of(given: Mapping[str, Any], n_words: int = 0) -> list[Batch]:
    """The ways to split arrays into sentences, the likeliest first; none if they are of one sentence.

    `n_words` is how many words the tokens are, if any are given.
    """
    shapes = {name: tuple(getattr(array, "shape", ())) for name, array in given.items()}
    if not any(len(shape) > 2 and max(shape[:-2]) > 1 for shape in shapes.values()):
        return []
    stage_of = {name: stage_named(name) for name in given}
    extra = {name: shape for name, shape in shapes.items() if _has_sentences(stage_of[name], shape)}
    if not extra:
        return []
    arrays = {name: as_array(name, each) for name, each in given.items()}
    scores = next((shape for name, shape in extra.items() if stages()[stage_of[name]][-1] == "key"), None)
    rows = next((shape for name, shape in extra.items() if len(stages()[stage_of[name]]) == 2), None)
    if scores:
        ways = [_Way(scores[0], axis, *scores[-2:]) for axis in (0, 1)]
    elif rows:
        n_keys = 0 if "context" in stage_of.values() else 1
        ways = [_Way(rows[axis], axis, rows[1 - axis], n_keys * rows[1 - axis]) for axis in (0, 1)]
    else:
        ways = [_Way(next(iter(extra.values()))[0], 0)]
    found = [each for way in ways if (each := _split(arrays, stage_of, way))]
    masks = [name for name, stage in stage_of.items() if stage == "mask"]
    if scores and rows and not found:  # perhaps the weights alone are along another axis
        way = ways[1]
        others = [name for name, stage in stage_of.items() if stage == "mask" or stage[:1] in ("q", "k", "v")]
        misfits = [name for name in others if _by_sentence(name, stage_of[name], arrays[name], way) is None]
        rest = {name: each for name, each in arrays.items() if name not in misfits}
        without = _split(rest, stage_of, way) if misfits else None
        return [replace(without, contradicted_by=misfits[0])] if without else []
    if not rows:
        return found
    is_square = rows[0] == rows[1]
    against = "tokens" if n_words == rows[1] and not is_square else ""
    against = against or ("names" if any(map(_BATCH_FIRST.fullmatch, arrays)) else "")
    has_heads = any(stage_of[name][:1] in ("q", "k", "v") for name in extra)
    is_certain = not is_square and (n_words == rows[0] or bool(masks) or has_heads)
    return [replace(each, is_certain=is_certain, contradicted_by=against) if each.axis else each for each in found]


def _has_sentences(stage: str, shape: tuple[int, ...]) -> bool:
    """Whether an array has one axis more than a stage of one sentence, in any layout."""
    if stage not in stages() or stage in PARAMETERS or stage in ("mask", "concat"):
        return False
    n = len(stages()[stage])
    return len(shape) == n + 1 and shape[0] > 1 and max(shape[n - 1 : n] if n == 2 else shape[-2:]) > 1


def _split(arrays: Arrays, stage_of: Mapping[str, str], way: _Way) -> Batch | None:
    """The arrays of each sentence; None if one of them doesn't fit."""
    parts: dict[str, Sequence[np.ndarray]] = {}
    for name, array in arrays.items():
        split = _by_sentence(name, stage_of[name], array, way)
        if split is None:
            return None
        parts[name] = split
    return Batch(way.n, way.axis, [{name: each[at] for name, each in parts.items()} for at in range(way.n)])


def _by_sentence(name: str, stage: str, array: np.ndarray, way: _Way) -> Sequence[np.ndarray] | None:
    """One array for each sentence, the same one if they share it."""
    shared = [array] * way.n
    if stage == "mask":
        return _mask_by_sentence(name, array, way)
    if stage in PARAMETERS:
        return shared
    if stage not in stages():
        kind = rotation_kind(name)
        n = 1 if kind == "positions" else 2 if kind else 3
        return list(array) if array.ndim > n and len(array) == way.n else shared
    n = len(stages()[stage])
    if array.ndim > n and len(array) == 1:
        return shared
    is_scores = stages()[stage][-1] == "key"
    axis = 0 if is_scores else way.axis
    has_sentences = array.ndim > axis and array.shape[axis] == way.n
    if array.ndim == n + 1 or (stage == "concat" and array.ndim == n + 2):
        if n == 3 and len(array) == way.n and way.n_queries in array.shape[1:3]:  # even if x is sequence first
            axis, has_sentences = 0, True
        return list(np.moveaxis(array, axis, 0)) if has_sentences else None
    if array.ndim != n:
        return None
    if n < 3:
        return shared
    # heads averaged, or side by side with their dimensions
    if has_sentences and (is_scores or way.n_queries in (0, array.shape[1 - axis])):
        return list(np.moveaxis(array, axis, 0))
    if len(array) % way.n == 0:  # in nn.MultiheadAttention sentences and heads share an axis
        return list(array.reshape(way.n, -1, *array.shape[1:]))
    return None


def _mask_by_sentence(name: str, mask: np.ndarray, way: _Way) -> Sequence[np.ndarray] | None:
    shared, n_keys = [mask] * way.n, way.n_keys
    if mask.ndim and n_keys and mask.shape[-1] not in (1, n_keys):
        return None
    if mask.ndim < 2 or len(mask) == 1:
        return shared
    if mask.ndim > 4:
        return None
    if mask.ndim == 2:
        is_of_queries = len(mask) in (way.n_queries, n_keys) and not (_PADDING.fullmatch(name) and len(mask) == way.n)
        return shared if is_of_queries else list(mask) if len(mask) == way.n else None
    if len(mask) == way.n:
        return list(mask)
    if mask.ndim == 3 and len(mask) % way.n == 0:
        return list(mask.reshape(way.n, -1, *mask.shape[1:]))
    return shared if mask.ndim == 3 else None
