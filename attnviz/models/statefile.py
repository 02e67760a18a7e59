"""State files: a microgpt's `state_dict` as JSON, read strictly and written back."""

import json
import math
import os
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.core.errors import ArrayError, OwnArraysError, guarded
from attnviz.core.limits import MAX_FILE_BYTES, MAX_MODEL_LAYERS
from attnviz.core.order import ACTIVATIONS, NORMS
from attnviz.core.parameters import Parameters, split_heads
from attnviz.models.model import Model
from attnviz.models.tasks.names import END, Letters

MAX_EMBEDDING, MAX_PLACES, MAX_WORDS = 64, 32, 128

MAX_NUMBERS = MAX_EMBEDDING * (2 * MAX_WORDS + MAX_PLACES + 12 * MAX_EMBEDDING * MAX_MODEL_LAYERS)
"""In the largest model: wte and lm_head, wpe, and in each layer four matrices of attention and the MLP's two."""

IN_LAYER = ("attn_wq", "attn_wk", "attn_wv", "attn_wo", "mlp_fc1", "mlp_fc2")
"""The matrices of a layer by microgpt's names; their prefixes are `layer0.`, `layer1.` and so on."""

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
    return {"lm_head": made["wte"], **made}  # a missing lm_head is tied to wte


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
        wrong = [number for number in row if type(number) not in (int, float) or not abs(number) <= MAX_NUMBER]
        if wrong:
            raise OwnArraysError(f"{name} must hold finite numbers; got {shown(wrong[0])}.")
    return np.array(rows, dtype=float)


def n_layers(state: Matrices) -> int:
    """How many layers matrices are of."""
    return (len(state) - 3) // len(IN_LAYER)


def _width(rows: object) -> int:
    return max(_length(rows[0]), 0) if isinstance(rows, list) and rows else 0


def _length(row: object) -> int:
    return len(row) if isinstance(row, list) else -1


def shown(value: object) -> str:
    """A value for quotation in an error."""
    text = repr(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= 40 else text[:37] + "..."


class OwnLetters(Letters):
    """The task of an uploaded microgpt: the next letter of a text."""

    title = "Your microgpt"
    summary = "Your own language model, number by number."
    question = "After “{sentence}”, what comes next?"

    def __init__(self, letters: tuple[str, ...], checked: str, longest: int):
        self.letters, self.answers = letters, (*letters, END)
        self.about = f"You gave this model, and whatever it has learnt. {checked}"
        self.checked = checked
        self.words_by_kind = {"letters": letters}
        text = "".join(letters[: min(2, longest)])
        self.examples = (("first letters" if text else "no letters yet", text),)


MAX_NUMBER = sys.float_info.max
AGREEMENT = 1e-4
"""The largest error of a check's logits, relative to the largest of them: float32 is within, another model isn't."""

_MANY = 100

UNCHECKED = "The file has no check, so nothing tells whether its logits are those of the model that wrote it."
WHAT_IS_READ = "It is read as microgpt is written: norms without parameters, no biases, a causal mask."

OPTIONS: dict[str, Mapping[str, Any]] = {"activation": ACTIVATIONS, "norm": NORMS}


def checked(model: Model, how: Mapping[str, str], given: object) -> Model:
    """The model, if it gives the logits of a check."""
    check = _check(given, model.task.words[:-1], model.max_tokens)
    text, furthest = "".join(check[0]), _furthest(model, check)
    if furthest <= AGREEMENT:
        agrees = f"After “{text}” it gives the logits of the file's check, to {furthest:.0e}."
        return replace(model, task=OwnLetters(model.task.words[:-1], agrees, model.max_tokens - 1))
    ways = [dict(zip(OPTIONS, each, strict=True)) for each in product(*OPTIONS.values())]
    agreeing = [way for way in ways if _furthest(replace(model, **operations(way)), check) <= AGREEMENT]
    advice = f"They agree with {_format_choices(agreeing[0])}: write that into the file." if agreeing else WHAT_IS_READ
    factor = f"{furthest:.2g}" if furthest < _MANY else f"more than {_MANY:,}"
    raise OwnArraysError(
        f"After “{text}” this model, with {_format_choices(how)}, gives other logits than the file's check: they "
        f"differ by up to {factor} times the largest of them. {advice}"
    )


def operations(how: Mapping[str, str]) -> dict[str, Any]:
    """The operations of a model, by the names that a file has for them."""
    return {name: OPTIONS[name][value] for name, value in how.items()}


def _format_choices(how: Mapping[str, str]) -> str:
    return " and ".join(f"{name} {value}" for name, value in how.items())


def named(parts: Mapping[str, object], name: str, choices: Mapping[str, object]) -> str:
    """The choice that a file names; the first where it names none."""
    first, *others = choices
    given = parts.get(name, first)
    if not isinstance(given, str) or given not in choices:
        raise OwnArraysError(f"{name} must be {', '.join([first, *others[:-1]])} or {others[-1]}; got {shown(given)}.")
    return given


def _check(given: object, letters: Sequence[str], block_size: int) -> tuple[list[str], np.ndarray]:
    """Some letters, and the logits after them."""
    if not isinstance(given, list) or len(given) != 2 or not all(isinstance(part, list) for part in given):
        raise OwnArraysError(f"check must be [letters, logits], two lists; got {shown(given)}.")
    text, logits = given
    if not all(isinstance(each, str) and each in letters for each in text) or len(text) >= block_size:
        raise OwnArraysError(f"The letters of check must be among uchars, at most {block_size - 1} of them.")
    return text, matrix("the logits of check", [logits], (1, len(letters) + 1))[0]


def _furthest(model: Model, check: tuple[Sequence[str], np.ndarray]) -> float:
    """The error of the logits after some letters, relative to the largest of the check's."""
    text, expected = check
    try:
        made = model.read((model.task.begin, *text))["logits"].value[-1]
    except ArrayError:  # a number beyond float64
        return math.inf
    return float(np.abs(made - expected).max() / (np.abs(expected).max() or 1.0))


_MOST_DIGITS = 400
"""The most digits of a whole number that is read; those of float64 have fewer."""

PARTS = ("uchars", "state_dict", "n_head", "activation", "norm", "check")

SAVING = """\
import json  # at the end of microgpt

name = docs[0][: block_size - 1]
keys, values = ([[] for _ in range(n_layer)] for _ in range(2))
logits = [gpt(token, place, keys, values) for place, token in enumerate([BOS, *map(uchars.index, name)])]
floats = {name: [[p.data for p in row] for row in rows] for name, rows in state_dict.items()}
check = [list(name), [logit.data for logit in logits[-1]]]
written = {"uchars": uchars, "n_head": n_head, "state_dict": floats, "check": check}
json.dump(written, open("microgpt.json", "w"))
"""
"""The lines that save a microgpt, at its end."""


def microgpt(path: str | os.PathLike) -> Model:
    """Read your own microgpt from a JSON file; OwnArraysError, a ValueError, if it is none.

    The file is an object with `uchars`, the letters in the order of their rows in `wte` (whose last row is BOS), and
    `state_dict`, matrices as lists of rows by microgpt's names: at most 127 letters, n_embd 64, block_size 32 and 4
    layers. By default `n_head` is 4, `activation` "relu" (or "relu2", its square; or "gelu") and `norm` "rmsnorm" (or
    "layernorm"), without parameters, right after the embeddings and before attention and MLP; without `lm_head` the
    logits use `wte`. A `check`, [letters, logits], is compared with the logits after these letters. The lines of
    `SAVING`, added to the end of microgpt, write such a file.
    """
    file = Path(path)
    size = file.stat().st_size
    if size > MAX_FILE_BYTES:
        raise OwnArraysError(f"A file may have at most {MAX_FILE_BYTES:,} bytes; this one has {size:,}.")
    return read(file.read_bytes())


@guarded("read this microgpt", "the file")
def read(content: bytes) -> Model:
    """The model that a state file describes; OwnArraysError if it is none."""
    parts = _parts(content)
    uchars = letters(parts.get("uchars"))
    state = matrices(parts.get("state_dict"), len(uchars) + 1)
    size = state["wte"].shape[1]
    n_heads = parts.get("n_head", 4)
    if type(n_heads) is not int or not 1 <= n_heads <= size or size % n_heads:
        raise OwnArraysError(f"n_head must divide n_embd, {size}; got {shown(n_heads)}.")
    how = {name: named(parts, name, choices) for name, choices in OPTIONS.items()}
    model = Model(
        OwnLetters(uchars, UNCHECKED, len(state["wpe"]) - 1),
        embedding=state["wte"],
        positions=state["wpe"],
        layers=tuple(
            _layer({name: state[f"layer{n}.{name}"] for name in IN_LAYER}, n_heads) for n in range(n_layers(state))
        ),
        unembedding=state["lm_head"].T,
        residual=True,
        causal=True,
        kind="learnt",
        **operations(how),
    )
    return checked(model, how, parts["check"]) if "check" in parts else model


def to_json(model: Model) -> bytes:
    """A microgpt as a state file: `read` gives it back, to the last bit."""
    parts = {
        "uchars": list(model.task.words[:-1]),
        "n_head": model.n_heads,
        "state_dict": state_dict(model.arrays, len(model.layers)),
        "activation": _name_among(ACTIVATIONS, model.activation),
        "norm": _name_among(NORMS, model.norm),
    }
    return json.dumps(parts).encode()


def _name_among(choices: Mapping[str, object], chosen: object) -> str:
    return next(name for name, each in choices.items() if each == chosen)


def _layer(state: Matrices, n_heads: int) -> Parameters:
    """A layer's parameters: microgpt's matrices have a row for each number that comes out, ours a column."""
    q, k, v = (split_heads(state[f"attn_w{name}"].T, n_heads) for name in "qkv")
    return Parameters(
        w_q=q, w_k=k, w_v=v, w_o=state["attn_wo"].T, w_hidden=state["mlp_fc1"].T, w_mlp=state["mlp_fc2"].T
    )


def _whole(digits: str) -> int | float:
    """A whole number of a file; infinite if it has more digits than Python reads, as 1e999 is."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _parts(content: bytes) -> dict:
    """The content of a file."""
    if len(content) > MAX_FILE_BYTES:
        raise OwnArraysError(f"A file may have at most {MAX_FILE_BYTES:,} bytes; this one has {len(content):,}.")
    n_values = sum(map(content.count, (b",", b"[", b"{")))  # each value follows one of these, however nested
    if n_values > 2 * MAX_NUMBERS:
        raise OwnArraysError(f"A state file holds at most {MAX_NUMBERS:,} numbers; this one has {n_values:,} values.")
    try:
        parts = json.loads(content, parse_int=_whole)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError, too
        raise OwnArraysError("This file is no JSON. Write it with json.dump.") from None
    if not isinstance(parts, dict):
        raise OwnArraysError(f"A state file is an object with uchars and state_dict; got {shown(parts)}.")
    others = [name for name in parts if name not in PARTS]
    if others:
        raise OwnArraysError(f"A state file has {', '.join(PARTS)}; got {shown(others[0])} too.")
    return parts
