"""Rewrites: arrays of layers that attnviz has no operation for, turned into arrays that it can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

_MATRICES = ("w_q", "w_k", "w_v")
_SHARED = "Each of your {}, {} and {} is one matrix for all heads, which have each their own part of x."
_AFTER_NORM = (
    "Your {} has the gains of all heads at once, as in OLMo 2, a norm that attnviz has no operation for: the pass "
    "begins after it, and what was before was not recomputed."
)
_BEFORE_NORM = {"w_q", "w_k", "b_q", "b_k", "g_q_norm", "g_k_norm"}
_INPUTS = ("x", "context", "w_v", "b_v")
_LATER = ({"q_normed", "k_normed"}, {"q_rotated", "k_rotated"})
_SCORES = {"scores", "scaled", "capped", "biased", "masked", "attention"}


def with_block_diagonal_matrices(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays, with matrices that all heads share repeated for each head's part of x."""
    shapes = {stage: array.value.shape for stage, array in arrays.items()}
    width, d = shapes.get("x", (0,))[-1:] or (0,), shapes.get("w_q", (0,))[-1:]
    n = width[0] // d[0] if d and d[0] else 0
    if n < 2 or n * d[0] != width[0] or any(shapes.get(each) != (*d, *d) for each in _MATRICES):
        return dict(arrays)
    if shapes.get("context", width)[-1:] != width:
        return dict(arrays)
    own = {each: replace(arrays[each], value=np.kron(np.eye(n), arrays[each].value)) for each in _MATRICES}
    biases = {each: arrays[each] for each in ("b_q", "b_k", "b_v") if shapes.get(each) == d}
    own |= {each: replace(array, value=np.tile(array.value, n)) for each, array in biases.items()}
    note = _SHARED.format(*(arrays[each].name[:40] for each in _MATRICES))
    return {**arrays, **own, "w_q": replace(own["w_q"], note=note)}


def full_width_norm(arrays: Mapping[str, Any]) -> str:
    """The name of a norm's gain that is as long as the queries of all heads; "" if there is none."""
    lengths = arrays["w_q"].value.shape if "w_q" in arrays and arrays["w_q"].value.ndim == 2 else ()
    gains = (arrays[each] for each in ("g_q_norm", "g_k_norm") if each in arrays)
    return next((each.name for each in gains if each.value.size in lengths), "")


def after_full_width_norm(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays after a norm of all heads at once, if there is one and the pass can begin after it."""
    name = full_width_norm(arrays)
    if not name or _is_of_one_head(arrays):
        return dict(arrays)
    made = set(_BEFORE_NORM)
    if any(each <= arrays.keys() for each in _LATER) or _is_projected(arrays):
        made |= {"q", "k"}
    rest = {stage: array for stage, array in arrays.items() if stage not in made}
    if not {"q", "k"} <= rest.keys():
        if later := next((each for each in _LATER if each <= rest.keys()), None):
            first = {each[0]: rest[each] for each in sorted(later)}
            rest = {stage: array for stage, array in rest.items() if stage not in later} | first
        elif rest.keys().isdisjoint(_SCORES):
            return dict(arrays)
    note = _AFTER_NORM.format(name[:40])
    # without matrices, x itself would be queries and keys
    return {stage: replace(array, note=note) for stage, array in rest.items() if stage not in _INPUTS}


def _is_of_one_head(arrays: Mapping[str, Any]) -> bool:
    shapes = (arrays[each].value.shape for each in ("attention", "masked") if each in arrays)
    return any(len(each) == 2 or each[-3] == 1 for each in shapes)


def _is_projected(arrays: Mapping[str, Any]) -> bool:
    """Whether given queries are as the matrix makes them, without the norm."""
    if not {"q", "x", "w_q"} <= arrays.keys():
        return False
    x, w, q = (arrays[each].value for each in ("x", "w_q", "q"))
    made = (x @ matrix for matrix in (w, w.T) if x.shape[-1] == len(matrix))
    near = 1e-2 * np.abs(q).max(initial=0)
    sizes = ((np.sort(each, axis=None), np.sort(q, axis=None)) for each in made if each.size == q.size)
    return any(np.allclose(one, other, rtol=0, atol=near) for one, other in sizes)
