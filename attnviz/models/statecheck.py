"""State check: the logits that a file has for a check of the model that it describes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from attnviz.core.block import ACTIVATIONS, NORMS, Activation, Norm
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.models.model import Model
from attnviz.models.ownletters import OwnLetters
from attnviz.models.statedict import matrix, shown

AGREEMENT = 1e-4
"""The largest error of a check's logits, relative to the largest of them: float32 is within, another model isn't."""

_MANY = 100

UNCHECKED = "The file has no check, so nothing tells whether its logits are those of the model that wrote it."
WHAT_IS_READ = "It is read as microgpt is written: norms without parameters, no biases, a causal mask."

OPTIONS = {"activation": ACTIVATIONS, "norm": NORMS}


def checked(model: Model, how: Mapping[str, str], given: object) -> Model:
    """The model, if it gives the logits of a check."""
    check = _check(given, model.task.letters, model.longest)
    text, furthest = "".join(check[0]), _furthest(model, check)
    if furthest <= AGREEMENT:
        agrees = f"After “{text}” it gives the logits of the file's check, to {furthest:.0e}."
        return replace(model, task=OwnLetters(model.task.letters, agrees, model.longest - 1))
    ways = [dict(zip(OPTIONS, each, strict=True)) for each in product(*OPTIONS.values())]
    agreeing = [way for way in ways if _furthest(replace(model, **operations(way)), check) <= AGREEMENT]
    advice = f"They agree with {_written(agreeing[0])}: write that into the file." if agreeing else WHAT_IS_READ
    raise OwnArraysError(
        f"After “{text}” this model, with {_written(how)}, gives other logits than the file's check: they differ by "
        f"up to {_times(furthest)} the largest of them. {advice}"
    )


def _times(factor: float) -> str:
    """A factor, before what it is multiplied by."""
    return f"{factor:.2g} times" if factor < _MANY else f"more than {_MANY:,} times"


def operations(how: Mapping[str, str]) -> dict[str, Activation | Norm]:
    """The operations of a model, by the names that a file has for them."""
    return {name: OPTIONS[name][value] for name, value in how.items()}


def _written(how: Mapping[str, str]) -> str:
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
    """The error of the logits after some letters beside those of a check, relative to the largest of these."""
    text, expected = check
    try:
        made = model.read((model.task.begin, *text))["logits"].value[-1]
    except ArrayError:  # a number beyond float64
        return math.inf
    return float(np.abs(made - expected).max() / (np.abs(expected).max() or 1.0))
