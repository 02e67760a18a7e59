"""Queries: the arrays of some queries of a sentence that has too many scores to compare all."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from attnviz.checks.read.files import Arrays, as_array
from attnviz.checks.read.labels import Texts
from attnviz.checks.read.layouts import PARAMETERS, stages
from attnviz.checks.read.masks import HIDES
from attnviz.checks.read.names import KEY_WORDS, rotation_kind, stage_named
from attnviz.checks.read.user_tables import OF_QUERIES
from attnviz.core.errors import OwnArraysError

_OF_KEYS = ("k", "v", "context")


def arrays_of_queries(given: Mapping[str, Any], query: slice) -> list[tuple[Arrays, Sequence[int]]]:
    """The arrays of these queries, and the keys that they may see; in two ways if nothing tells whether later ones.

    The queries' own keys come last, as a decode step has them.
    """
    arrays = {name: as_array(name, each) for name, each in given.items()}
    stage_of = {name: stage_named(name) for name in arrays}
    by_stage = {stage: name for name, stage in stage_of.items()}
    n_queries = _length(arrays, by_stage, ("x", "q", "q_rotated", "attention", "masked", "scaled", "scores"))
    n_keys = _length(arrays, by_stage, ("context", "k", "k_rotated", "v")) or n_queries
    rows = range(0)
    with suppress(TypeError):  # raised by a slice of other types
        rows = range(n_queries)[query] if isinstance(query, slice) else rows
    if len(rows) == 0 or rows.step != 1:
        raise OwnArraysError(
            f"query is a slice of consecutive queries, such as slice(0, 128), of the {n_queries} that there are; got "
            f"{query!r}."
        )
    if "context" in by_stage or n_keys != n_queries:
        return [(_cut(arrays, stage_of, n_queries, n_keys, rows, range(n_keys)), range(n_keys))]
    until = range(rows.stop)
    all_keys = [*range(rows.start), *range(rows.stop, n_keys), *rows]
    sees_later = _sees_later(arrays, stage_of, rows, n_keys) if rows.stop < n_keys else False
    ways: list[Sequence[int]] = [all_keys, until]
    some = ways if sees_later is None else ways[:1] if sees_later else ways[1:]
    return [(_cut(arrays, stage_of, n_queries, n_keys, rows, keys, is_own=True), keys) for keys in some]


def words_of_queries(texts: Texts, query: slice, keys: Sequence[int]) -> Texts:
    """The words of these queries, and of their keys."""
    words = {name: each if name in KEY_WORDS else each[query] for name, each in texts.items()}
    whole = next((each for name, each in texts.items() if name not in KEY_WORDS and len(each) > max(keys)), None)
    if whole is None or set(words) & {*KEY_WORDS}:
        return words
    return {**words, KEY_WORDS[0]: tuple(whole[at] for at in keys)}


def _length(arrays: Arrays, by_stage: Mapping[str, str], of: Sequence[str]) -> int:
    """How many rows the first of these stages has."""
    name = next((by_stage[stage] for stage in of if stage in by_stage), None)
    if name is None or arrays[name].ndim < 2:
        return 0
    shape = arrays[name].shape
    n = len(stages()[next(stage for stage in of if by_stage.get(stage) == name)])
    shape = shape[1:] if len(shape) > n and shape[0] == 1 else shape
    # (heads, tokens, d) or (tokens, heads, d): of many tokens
    return max(shape[:-1]) if n == 3 and len(shape) == 3 else shape[0] if n == 2 else shape[-2]


def _sees_later(arrays: Arrays, stage_of: Mapping[str, str], rows: range, n_keys: int) -> bool | None:
    """Whether these queries see later keys than their own; None if neither weights nor a mask tell."""
    for name, array in arrays.items():
        if stage_of[name] == "attention" and array.shape[-1] == n_keys:
            return bool(_at(array, array.ndim - 2, rows)[..., rows.stop :].any())
    for name, array in arrays.items():
        if stage_of[name] == "mask" and array.ndim > 1 and array.shape[-1] == n_keys and array.shape[-2] > rows.stop:
            own, later = np.split(array[..., rows.start : rows.stop, :], [rows.stop], axis=-1)
            if array.dtype.kind == "f" and (array < 0).any():
                return not bool((later <= HIDES).all())
            return not bool((later == later.flat[0]).all() and (own != later.flat[0]).any())
    return None


def _cut(
    arrays: Arrays,
    stage_of: Mapping[str, str],
    n_queries: int,
    n_keys: int,
    rows: range,
    keys: Sequence[int],
    is_own: bool = False,
) -> Arrays:
    """The arrays of some queries and keys; with `is_own` keys are made of x, which becomes the context too."""
    cut: Arrays = {}
    for name, array in arrays.items():
        stage = stage_of[name]
        if kind := rotation_kind(name):
            axis = array.ndim - (1 if kind == "positions" else 2)
            fits = axis >= 0 and array.shape[axis] == n_keys
            cut[name] = _at(array, axis, keys) if fits else array
        elif stage not in stages() or stage in PARAMETERS:
            cut[name] = array
        elif stage == "mask" or stages()[stage][-1] == "key":
            array = _at(array, array.ndim - 1, keys) if array.shape[-1:] == (n_keys,) else array
            cut[name] = _at(array, array.ndim - 2, rows) if array.shape[-2:-1] == (n_queries,) else array
        else:
            of, n = (keys, n_keys) if stage.startswith(_OF_KEYS) else (rows, n_queries)
            axes = [axis for axis in (array.ndim - 2, array.ndim - 3) if axis >= 0 and array.shape[axis] == n]
            cut[name] = _at(array, axes[0], of) if axes else array
    has_matrices = {"w_k", "w_v", "w_qkv"} & {*stage_of.values()} or not {"q", "k", "v"} & {*stage_of.values()}
    x = next((name for name, stage in stage_of.items() if stage == "x"), None)
    if is_own and x and has_matrices:
        axes = [axis for axis in (arrays[x].ndim - 2, arrays[x].ndim - 3) if arrays[x].shape[axis] == n_keys]
        cut["context"] = _at(arrays[x], axes[0], keys)
    if is_own:
        theirs = next((name for name in arrays if rotation_kind(name) == "positions"), None)
        cut[OF_QUERIES] = np.array(keys) if theirs is None else cut.pop(theirs)
    return cut


def _at(array: np.ndarray, axis: int, places: Sequence[int]) -> np.ndarray:
    """These places of an axis: a view where they are consecutive."""
    if isinstance(places, range):
        return array[(slice(None),) * axis + (slice(places.start, places.stop),)]
    return np.take(array, np.asarray(places), axis=axis)
