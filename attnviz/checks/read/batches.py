"""Batches: arrays of several sentences, split into those of each sentence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

import numpy as np

from attnviz.checks.read.files import Arrays, as_array
from attnviz.checks.read.layouts import PARAMETERS, stages
from attnviz.checks.read.masks import HIDES
from attnviz.checks.read.names import rotation_kind, stage_named

_PADDING = re.compile(r"(?:.*[./])?(?:.*pad.*|attention_mask)", re.IGNORECASE | re.DOTALL)
_BIAS = re.compile(r"(?:.*[./])?[^./]*(?:alibi|bias)[^./]*", re.IGNORECASE | re.DOTALL)
_SENTENCES, _HEADS, _QUERIES = "sentences", "heads", "queries"  # what the first axis of a mask may count
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
    unlikely: tuple[tuple[str, str, str], ...] = ()  # masks whose first axis may count one thing or, likelier, another


@dataclass(frozen=True)
class _Way:
    """A way to split arrays: `n` sentences on an axis of x, and how many queries and keys each has; 0 if unknown."""

    n: int
    axis: int
    n_queries: int = 0
    n_keys: int = 0
    n_heads: int = 0
    unlikely: AbstractSet[str] = frozenset()  # the masks whose first axis counts what is less likely


def batches_of(given: Mapping[str, Any], n_words: int, n_heads: int) -> list[Batch]:
    """The ways to split arrays into sentences, the likeliest first; none if they are of one sentence.

    `n_words` is how many words the tokens are, if any are given, and `n_heads` how many heads there are, if stated.
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
        n_heads = scores[1] if len(scores) == 4 else n_heads
        ways = [_Way(scores[0], axis, scores[-2], scores[-1], n_heads) for axis in (0, 1)]
    elif rows:
        n_keys = 0 if "context" in stage_of.values() else 1
        ways = [_Way(rows[axis], axis, rows[1 - axis], n_keys * rows[1 - axis], n_heads) for axis in (0, 1)]
    else:
        ways = [_Way(next(iter(extra.values()))[0], 0)]
    masks = [name for name, stage in stage_of.items() if stage == "mask"]
    every = chain.from_iterable(_with_unlikely(way, {name: arrays[name] for name in masks}) for way in ways)
    found = [each for way in every if (each := _split(arrays, stage_of, way))]
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


def _with_unlikely(way: _Way, masks: Arrays) -> Iterator[_Way]:
    """A way, and those in which the first axis of some masks counts what is less likely."""
    unclear = [name for name, each in masks.items() if len(_first_axis(name, each, way)) > 1]
    for n in range(min(len(unclear), 2) + 1):
        yield from (replace(way, unlikely=frozenset(names)) for names in combinations(unclear, n))


def _split(arrays: Arrays, stage_of: Mapping[str, str], way: _Way) -> Batch | None:
    """The arrays of each sentence; None if one of them doesn't fit."""
    parts: dict[str, Sequence[np.ndarray]] = {}
    for name, array in arrays.items():
        split = _by_sentence(name, stage_of[name], array, way)
        if split is None:
            return None
        parts[name] = split
    unlikely = []
    for name in way.unlikely:
        usual, other = _first_axis(name, arrays[name], way)
        if len(arrays[name]) == way.n:  # otherwise the pass's heads tell which
            unlikely.append((name, other, usual))
    each = [{name: each[at] for name, each in parts.items()} for at in range(way.n)]
    return Batch(way.n, way.axis, each, unlikely=tuple(unlikely))


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
        # arrays by heads are batch first, even if x is sequence first
        if n == 3 and len(array) == way.n and way.n_queries in array.shape[1:3]:
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
    counted = _first_axis(name, mask, way)
    if not counted:
        return None
    if counted[name in way.unlikely] != _SENTENCES:
        return [mask] * way.n
    return list(mask) if len(mask) == way.n else list(mask.reshape(way.n, -1, *mask.shape[1:]))


def _first_axis(name: str, mask: np.ndarray, way: _Way) -> list[str]:
    """What the first axis of a mask may count, the likelier first; nothing if the mask doesn't fit."""
    if (mask.ndim and way.n_keys and mask.shape[-1] not in (1, way.n_keys)) or mask.ndim > 4:
        return []
    if mask.ndim < 2 or len(mask) == 1:
        return [_QUERIES]
    n, by_sentence = len(mask), [_SENTENCES] * (len(mask) == way.n)
    if mask.ndim == 2:
        by_query = [_QUERIES] * (n in (way.n_queries, way.n_keys))
        if not by_sentence or not by_query:
            return by_sentence or by_query
        may_pad = _may_pad(mask)
        if _PADDING.fullmatch(name):
            return by_sentence if may_pad else [*by_sentence, *by_query]
        return [*by_query, *by_sentence] if may_pad else by_query
    if mask.ndim == 4 or (by_sentence and _only_hides(mask)):
        return by_sentence
    is_of_both = n == way.n * way.n_heads if way.n_heads else n % way.n == 0
    by_sentence = [_SENTENCES] * (n == way.n or is_of_both)
    by_heads = [_HEADS] * (not by_sentence or way.n_heads in (0, n))
    return [*by_heads, *by_sentence] if _BIAS.fullmatch(name) else [*by_sentence, *by_heads]


def _only_hides(mask: np.ndarray) -> bool:
    return mask.dtype.kind != "f" or bool(((mask == 0) | (mask == 1) | (mask <= HIDES)).all())


def _may_pad(mask: np.ndarray) -> bool:
    """Whether each row changes once at most, as padding does, and they aren't those of a causal mask."""
    is_causal = np.array_equal(mask == mask[0, 0], np.tri(*mask.shape, dtype=bool))
    return not is_causal and bool(((mask[:, 1:] != mask[:, :-1]).sum(axis=1) <= 1).all())
