"""Decode steps: fewer queries than keys, as a cache holds the keys and values of earlier tokens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attnviz.core.operations.linear import Identity
from attnviz.core.operations.operation import Operation, Source
from attnviz.core.operations.rule import AxesAndShape, Input

CACHE_STAGES = ("past_key", "past_value", "past_unrotated_key")
_OF_QUERIES_AND_KEYS = ("attention", "scores", "scaled", "capped", "masked", "mask")


def as_decode_steps(arrays: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The arrays in each way to read them as a decode step; nothing if they aren't one.

    Keys and values of all tokens become those of the cache, before the new ones; so does an `x` of all tokens the
    context of the last ones.
    """
    values = {stage: array.value for stage, array in arrays.items()}
    if len({"past_key", "past_value"} & arrays.keys()) == 1:  # keys or values alone make no pass
        yield {stage: each for stage, each in arrays.items() if stage not in CACHE_STAGES}
        return
    if "context" in arrays:
        return
    if "past_key" in arrays:
        yield _joined(arrays) if "w_k" not in arrays or "x" not in arrays else dict(arrays)
        return
    if "x" not in arrays or not {"w_k", "w_v"} <= arrays.keys():
        return
    x = values["x"].reshape(-1, values["x"].shape[-1])
    n_queries, n_keys = _lengths(values, len(x))
    if len(x) == n_keys > n_queries > 0:
        if any(len(x) in values[each].shape[-3:-2] for each in _OF_QUERIES_AND_KEYS if each in values):
            yield dict(arrays)  # queries may be on the first axis
        yield {**arrays, "x": replace(arrays["x"], value=x[-n_queries:]), "context": replace(arrays["x"], value=x)}
    elif len(x) == n_queries < n_keys:
        yield from _with_full_keys(arrays, n_keys, n_keys - n_queries)


def _lengths(values: Mapping[str, np.ndarray], n_tokens: int) -> tuple[int, int]:
    """The number of queries and of keys, as far as the arrays tell."""
    for each in _OF_QUERIES_AND_KEYS:
        if each in values and values[each].ndim > 1 and (each != "mask" or values[each].shape[-2] > 1):
            return values[each].shape[-2:]
    axes = {stage: value.shape for stage, value in values.items()}
    ends = (each for each in ("output", "residual") if len(axes.get(each, ())) > 1)
    rows = next((values[each].size // axes[each][-1] for each in ends), n_tokens)  # works for (tokens, 1, d_model), too
    keys = next((axes[each][-2] for each in ("k_rotated", "v") if len(axes.get(each, ())) > 2), n_tokens)
    return rows, max(keys, n_tokens)


def _with_full_keys(arrays: Mapping[str, Any], n_keys: int, n_kept: int) -> Iterator[dict[str, Any]]:
    some = (stage for stage in ("k", "k_rotated", "v") if stage in arrays)
    parts = {stage: _first(arrays[stage], n_keys, n_kept) for stage in some}
    if parts.get("v") is None:
        return
    base = {**arrays, "past_value": parts["v"]}
    if parts.get("k_rotated"):
        yield {**base, "past_key": parts["k_rotated"]}
    elif parts.get("k"):
        yield {**base, "past_key": parts["k"]}
        yield {**base, "past_unrotated_key": parts["k"]}


def _first(array: Any, n_keys: int, n_kept: int) -> Any:
    """The cached rows of an array of all keys; None if it has other rows."""
    shape = array.value.shape
    axis = next((at for at in (-2, -3) if len(shape) >= -at and shape[at] == n_keys), None)
    if axis is None:
        return None
    return replace(array, value=np.take(array.value, np.arange(n_kept), axis=axis))


def _joined(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays with cached keys and values in front of the given new ones."""
    made = {stage: each for stage, each in arrays.items() if stage not in CACHE_STAGES}
    for past, stages in (("past_key", ("k_rotated", "k")), ("past_value", ("v",))):
        stage = next((each for each in stages if each in made), None)
        if past in arrays and stage:
            kept, new = arrays[past].value, made[stage].value
            differing = [at for at in range(-new.ndim, 0) if kept.ndim == new.ndim and kept.shape[at] != new.shape[at]]
            if kept.ndim == new.ndim and len(differing) < 2:
                axis = differing[0] if differing else -2
                made[stage] = replace(made[stage], value=np.concatenate([kept, new], axis=axis))
    return made


# --- The operation of cached rows


@dataclass(frozen=True)
class AfterCache(Identity):
    """Cached rows, the last input, followed by the new rows that `operation` computes."""

    operation: Operation = field(kw_only=True)

    def compute(self, *inputs: np.ndarray) -> np.ndarray:  # type: ignore[override]
        *own, kept = inputs
        return np.concatenate([kept, self.operation.compute(*own)], axis=-2)

    def extent(self, *inputs: Input) -> AxesAndShape:  # type: ignore[override]
        *own, kept = inputs
        axes, shape = self.operation.extent(*own)
        return axes, (*shape[:-2], kept.shape[-2] + shape[-2], shape[-1])


def operation_of_new_rows(operation: Operation) -> Operation:
    """The operation that computes the new rows."""
    return operation.operation if isinstance(operation, AfterCache) else operation


def after_cache(operation: Operation | Source, other: Operation) -> Operation:
    """`other` for the new rows, after cached rows if `operation` has some."""
    return AfterCache("key", operation=other) if isinstance(operation, AfterCache) else other
