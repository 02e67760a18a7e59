"""State dict: a microgpt's letters and matrices, read from what its file holds, and written as it has them."""

import math
import unicodedata
from collections.abc import Iterator, Mapping

import numpy as np

from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_MODEL_LAYERS

MAX_EMBEDDING, MAX_PLACES, MAX_WORDS = 64, 32, 128

MAX_NUMBERS = MAX_EMBEDDING * (2 * MAX_WORDS + MAX_PLACES + 12 * MAX_EMBEDDING * MAX_MODEL_LAYERS)
"""In the largest model: wte and lm_head, wpe, and in each layer four matrices of attention and the MLP's two."""

IN_LAYER = ("attn_wq", "attn_wk", "attn_wv", "attn_wo", "mlp_fc1", "mlp_fc2")
"""The matrices of a layer by microgpt's names; before each stands `layer0.`, `layer1.` and so on."""

Matrices = dict[str, np.ndarray]


def letters(uchars: object) -> tuple[str, ...]:
    """The letters, each a single character."""
    listed = list(uchars) if isinstance(uchars, list | str) else []
    if not listed or not all(isinstance(each, str) and len(each) == 1 for each in listed):
        raise OwnArraysError(f"uchars must be the letters, single characters; got {shown(uchars)}.")
    halves = [each for each in listed if unicodedata.category(each) == "Cs"]
    if halves:
        raise OwnArraysError(f"uchars must be whole characters; got {shown(halves[0])}, half of one.")
    if len(set(listed)) < len(listed):
        raise OwnArraysError("uchars must hold each letter once; got one of them twice.")
    if len(listed) + 1 > MAX_WORDS:
        raise OwnArraysError(f"A vocabulary may have at most {MAX_WORDS} tokens; got {len(listed) + 1}, with BOS.")
    return tuple(listed)


def state_dict(arrays: Mapping[str, np.ndarray], n_layers: int = 1) -> dict[str, list]:
    """The parameters of a model, by the names of their stages, as microgpt has them: lists of rows (out, in)."""
    matrices = {"wte": arrays["embeddings"], "wpe": arrays["positions"], "lm_head": arrays["w_u"].T}
    for n in range(n_layers):
        after = f"_{n + 1}" if n_layers > 1 else ""
        for name in "qkv":
            matrices[f"layer{n}.attn_w{name}"] = np.concatenate(arrays[f"w_{name}{after}"], axis=-1).T
        for name, stage in (("attn_wo", "w_o"), ("mlp_fc1", "w_hidden"), ("mlp_fc2", "w_mlp")):
            matrices[f"layer{n}.{name}"] = arrays[f"{stage}{after}"].T
    return {name: array.tolist() for name, array in matrices.items()}


def matrices(given: object, n_words: int) -> Matrices:
    """The matrices by their names, each of the shape that follows from wte, wpe and the letters."""
    if not isinstance(given, dict):
        raise OwnArraysError(f"state_dict must be an object of matrices by their names; got {shown(given)}.")
    for name in ("wte", "wpe"):
        if name not in given:
            raise OwnArraysError(f"state_dict must have the matrix {name}; got none.")
    size, n_places = _width(given["wte"]), len(given["wpe"]) if isinstance(given["wpe"], list) else 0
    if not 1 <= size <= MAX_EMBEDDING:
        raise OwnArraysError(f"n_embd, the length of the rows of wte, may be 1 to {MAX_EMBEDDING}; got {size:,}.")
    if not 1 <= n_places <= MAX_PLACES:
        raise OwnArraysError(f"block_size, the number of rows of wpe, may be 1 to {MAX_PLACES}; got {n_places:,}.")
    shapes = {"wte": (n_words, size), "wpe": (n_places, size), "lm_head": (n_words, size)}
    shapes |= dict(_shapes_in_layers(given, size))
    unknown = [name for name in given if name not in shapes]
    if unknown:
        raise OwnArraysError(f"state_dict may have {', '.join(shapes)}; got {shown(unknown[0])} too.")
    made = {name: matrix(name, given[name], shape) for name, shape in shapes.items() if name in given}
    missing = [name for name in shapes if name not in made and name != "lm_head"]
    if missing:
        raise OwnArraysError(f"state_dict must have the matrix {missing[0]}; got none.")
    return {"lm_head": made["wte"], **made}  # one that is missing is tied


def _shapes_in_layers(given: Mapping[str, object], size: int) -> Iterator[tuple[str, tuple[int, int]]]:
    count = max(sum(f"layer{n}.{IN_LAYER[0]}" in given for n in range(MAX_MODEL_LAYERS + 1)), 1)
    if count > MAX_MODEL_LAYERS:
        raise OwnArraysError(f"A model may have at most {MAX_MODEL_LAYERS} layers; got more.")
    for n in range(count):
        for name in IN_LAYER:
            yield f"layer{n}.{name}", {"mlp_fc1": (4 * size, size), "mlp_fc2": (size, 4 * size)}.get(name, (size, size))


def matrix(name: str, rows: object, shape: tuple[int, int]) -> np.ndarray:
    """A matrix of finite numbers; all rows of the same length."""
    n_rows, width = shape
    if not isinstance(rows, list) or len(rows) != n_rows or any(_length(row) != width for row in rows):
        got = f"{len(rows):,} rows" if isinstance(rows, list) else shown(rows)
        odd = next((_length(row) for row in rows if _length(row) != width), None) if isinstance(rows, list) else None
        lengths = "" if odd is None else f", one of {odd:,}" if odd >= 0 else ", one that is no list"
        raise OwnArraysError(f"{name} must have {n_rows} rows of {width} numbers; got {got}{lengths}.")
    for row in rows:
        wrong = [number for number in row if type(number) not in (int, float) or not _is_finite(number)]
        if wrong:
            raise OwnArraysError(f"{name} must hold finite numbers; got {shown(wrong[0])}.")
    return np.array(rows, dtype=float)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number beyond float64
        return False


def n_layers(state: Matrices) -> int:
    """How many layers matrices are of."""
    return (len(state) - 3) // len(IN_LAYER)


def _width(rows: object) -> int:
    return max(_length(rows[0]), 0) if isinstance(rows, list) and rows else 0


def _length(row: object) -> int:
    return len(row) if isinstance(row, list) else -1


def shown(value: object) -> str:
    """A value as an error quotes it."""
    text = repr(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= 40 else text[:37] + "..."
