"""Operands: a call's logged operands as stages: queries and keys as they enter products, cached keys, weights."""

import math
from collections.abc import Mapping

import numpy as np

from attnviz.checks.read.files import Arrays
from attnviz.checks.read.masks import HIDES
from attnviz.checks.read.names import stage_named

_ROUNDING = 1e-5  # relative to the largest number
_NEAR = 1e-3  # relative error of a factor
_MOST_NUMBERS = 2**16  # how many numbers are searched for


def stages_of_operands(
    operands: Arrays, arrays: Arrays, sources: Mapping[str, np.ndarray], n_keys: int | None
) -> Arrays:
    """The stages that `arrays` of a call lack, from its operands (q, k, v, masked and attention, each by heads).

    `sources` hold the numbers of q and k before any rotation; `n_keys` is the number of new keys, None where keys are
    appended that no token has.
    """
    n_queries = len(arrays["x"])
    if not operands or _rows(operands, "q", "attention") != n_queries:
        return {}
    stages: Arrays = {}
    if n_keys is not None and "k" in operands:
        operands, stages = _without_unused(operands, arrays, n_queries)
        n_keys = None if _appends_keys(operands["k"], n_keys, sources) else n_keys
    width = operands["q"].shape[-1] if "q" in operands else 1
    factors = [1.0, width**-0.5, width**-0.25]
    if "scale" in arrays:
        factors += [float(arrays["scale"]), float(arrays["scale"]) ** 0.5]
    for letter in "qkv":
        if letter not in operands:
            continue
        rows = operands[letter] if letter == "q" else _groups(operands[letter])
        n_new = n_queries if letter == "q" else n_keys
        if n_new is None or n_new > rows.shape[-2]:
            continue
        if letter != "q" and n_new < rows.shape[-2]:
            stages["past_key" if letter == "k" else "past_value"] = rows[:, :-n_new]
        rows = rows[:, rows.shape[-2] - n_new :]
        if letter != "v" and letter in sources:
            rows, is_rotated = _unscaled(rows, sources[letter], factors)
            if is_rotated:
                stages[f"{letter}_rotated"] = rows
                continue
        if letter not in arrays:
            stages[letter] = rows
    if np.ndim(arrays.get("attention", 0)) != 3 and "attention" in operands:
        stages["attention"] = operands["attention"]
    is_shifted = "masked" in operands and not operands["masked"].max(axis=-1).any()  # each row's maximum was subtracted
    if "masked" in operands and n_keys is not None and not is_shifted:
        stages["masked"] = operands["masked"][..., : operands["attention"].shape[-1]]  # without a sink's column
    return stages


def _rows(operands: Arrays, *names: str) -> int:
    return next((operands[name].shape[-2] for name in names if name in operands), -1)


def _without_unused(operands: Arrays, arrays: Arrays, n_queries: int) -> tuple[Arrays, Arrays]:
    """The operands, and those of the arrays, without hidden rows of zeros that end a cache of a fixed length."""
    length = _rows(operands, "k")
    n = int(np.flatnonzero(operands["k"].any(axis=(0, 2)))[-1:].sum()) + 1
    masks = {name: array for name, array in arrays.items() if stage_named(name) == "mask" and array.ndim > 1}
    longer = {name: array for name, array in masks.items() if array.shape[-1] == length}
    unused = [operands["attention"] == 0] if "attention" in operands else [*map(_hides, longer.values())]
    if length <= n_queries or n == length or not any(each[..., n:].all() for each in unused):
        return operands, {}
    if "attention" in arrays and arrays["attention"].shape[-1] == length:
        longer["attention"] = arrays["attention"]
    shorter = {name: array[:, :n] for name, array in operands.items() if name in ("k", "v")}
    shorter |= {name: operands[name][..., :n] for name in ("masked", "attention") if name in operands}
    return operands | shorter, {name: array[..., :n] for name, array in longer.items()}


def _hides(mask: np.ndarray) -> np.ndarray:
    return ~mask if mask.dtype == bool else mask < HIDES


def _appends_keys(keys: np.ndarray, n_new: int, sources: Mapping[str, np.ndarray]) -> bool:
    """Whether appended keys follow those of the tokens, like `bias_k` and the zeros of `add_zero_attn`."""
    if keys.shape[-2] <= n_new or "k" not in sources:
        return False
    rows = _groups(keys)
    return not keys[:, -1].any() or not _unscaled(rows[:, :n_new], sources["k"], [1.0])[1]


def _groups(rows: np.ndarray) -> np.ndarray:
    """Keys or values once for each group, if they are repeated for heads that follow each other."""
    n = len(rows)
    for shared in (each for each in range(n, 1, -1) if n % each == 0):
        split = rows.reshape(n // shared, shared, *rows.shape[1:])
        if (split == split[:, :1]).all():
            return split[:, 0]
    return rows


def _unscaled(rows: np.ndarray, source: np.ndarray, factors: list[float]) -> tuple[np.ndarray, bool]:
    """The rows without a factor of the scores in them, and whether they hold other numbers than `source`."""
    ratio = _norm(rows) / _norm(source) if rows.size == source.size and source.any() else 1.0
    for factor in (*factors, ratio):
        if factor and _holds(source, rows / factor):
            return rows / factor, False
    scaled = next((each for each in factors[1:] if each and abs(ratio / each - 1) < _NEAR), 1.0)
    return rows / scaled, True


def is_norm_of(rows: np.ndarray, source: np.ndarray, gain: np.ndarray) -> bool:
    """Whether rows are a norm of those of `source`, of each head or of all, and not rotated after it."""
    if source.ndim == 2 and source.size == rows.size:
        source = source.reshape(len(source), len(rows), -1).swapaxes(0, 1)
    if source.shape != rows.shape or gain.size != rows.shape[-1]:
        return False
    centred = source - source.mean(axis=-1, keepdims=True)
    return any(_are_parallel(rows, each * gains) for each in (source, centred) for gains in (gain, 1 + gain))


def _are_parallel(a: np.ndarray, b: np.ndarray) -> bool:
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return bool((np.abs((a * b).sum(axis=-1) - lengths) <= _ROUNDING * lengths).all())


def _norm(rows: np.ndarray) -> float:
    return math.sqrt(float(np.vdot(rows, rows))) or 1.0


def _holds(source: np.ndarray, numbers: np.ndarray) -> bool:
    """Whether all of the numbers are among those of `source`, in any order."""
    known, sought = np.sort(source, axis=None), numbers.ravel()[:_MOST_NUMBERS]
    if not known.size or not sought.size:
        return False
    at = np.searchsorted(known, sought).clip(1, len(known) - 1) if len(known) > 1 else np.zeros(len(sought), dtype=int)
    nearest = np.minimum(np.abs(known[at] - sought), np.abs(known[at - 1] - sought))
    return bool((nearest <= _ROUNDING * np.abs(known).max()).all())
