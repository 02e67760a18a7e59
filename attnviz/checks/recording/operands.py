"""Operands: what was heard of a call as the stages of a layer: q and k as they enter products, kept keys, weights."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from attnviz.checks.recording.heard import Arrays

_ROUNDING = 1e-5  # relative to the largest number
_NEAR = 1e-3  # of a factor
_MOST_NUMBERS = 2**16  # are searched for equal ones


def stages_heard(operands: Arrays, arrays: Arrays, sources: Mapping[str, np.ndarray], n_keys: int | None) -> Arrays:
    """The stages that `arrays` of a call lack, from what was heard (q, k, v, masked and attention, each by heads).

    `sources` hold the numbers of q and k before any rotation; `n_keys` is the number of new keys, None where keys are
    appended that no token has.
    """
    n_queries = len(arrays["x"])
    if not operands or _rows(operands, "q", "attention") != n_queries:
        return {}
    stages: Arrays = {}
    if n_keys is not None:
        operands = _without_unused(operands, n_queries)
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
    if "masked" in operands:
        masked = operands["masked"][..., : operands["attention"].shape[-1]]  # without the column of a sink
        if operands["masked"].max(axis=-1).any():  # else each row's largest was subtracted
            stages["masked"] = masked
    return stages


def _rows(operands: Arrays, *names: str) -> int:
    return next((operands[name].shape[-2] for name in names if name in operands), -1)


def _without_unused(operands: Arrays, n_queries: int) -> Arrays:
    """The operands without the rows of zeros that end a cache of a fixed length."""
    keys = operands.get("k")
    if keys is None or keys.shape[-2] <= n_queries:
        return operands
    n = int(np.flatnonzero(keys.any(axis=(0, 2)))[-1:].sum()) + 1
    if n == keys.shape[-2]:
        return operands
    shorter = {name: array[:, :n] for name, array in operands.items() if name in "kv"}
    shorter |= {name: array[..., :n] for name, array in operands.items() if name in ("masked", "attention")}
    return operands | shorter


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
