"""Copying: a library's parameters in a module of one's own for the time of a call, and then its own again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from attnviz.checks.recording.call import array_of
from attnviz.checks.recording.modules import AttentionModule
from attnviz.core.errors import OwnArraysError

_PARTS = {"w_qkv": ("w_q", "w_k", "w_v"), "b_qkv": ("b_q", "b_k", "b_v")}


@contextmanager
def copied(mine: AttentionModule, like: AttentionModule) -> Iterator[list[str]]:
    """The parameters of `like` in `mine`, matched by their stages; afterwards `mine` has its own again.

    Yields
    ------
    list of str
        A sentence on each parameter that only one of them has.

    Raises
    ------
    OwnArraysError
        If a matrix of `mine` has no counterpart of its shape.
    """
    theirs = _by_stage(like)
    with _filled_with(mine.parameters, {name: _filled(mine, name, theirs) for name in mine.parameters}):
        yield _left(mine, theirs)


@contextmanager
def with_vectors_drawn(module: Any, seed: int) -> Iterator[None]:
    """A module whose vectors have random numbers added: a fresh one's biases are 0, and its gains 1, as if left out."""
    rng = np.random.default_rng(seed)
    vectors = {name: each for name, each in module.named_parameters() if len(each.shape) == 1}
    with _filled_with(vectors, {name: array_of(each) + rng.normal(size=each.shape) for name, each in vectors.items()}):
        yield


@contextmanager
def in_eval_mode(*modules: Any) -> Iterator[None]:
    """Modules without dropout; afterwards each part of them is in the mode that it was in."""
    parts = [part for module in modules for _, part in module.named_modules() if hasattr(part, "training")]
    modes = [part.training for part in parts]
    try:
        for module in filter(lambda each: hasattr(each, "eval"), modules):
            module.eval()
        yield
    finally:
        for part, was in zip(parts, modes, strict=True):  # a module sets the mode of its parts, which come after it
            if part.training != was:
                part.train(was)


@contextmanager
def _filled_with(parameters: Mapping[str, Any], values: Mapping[str, np.ndarray]) -> Iterator[None]:
    """Parameters with other numbers; afterwards with their own again."""
    originals = {name: array_of(parameter) for name, parameter in parameters.items()}
    try:
        for name, value in values.items():
            _fill(parameters[name], value)
        yield
    finally:
        for name, value in originals.items():
            _fill(parameters[name], value)


def _fill(parameter: Any, value: np.ndarray) -> None:
    parameter.data.copy_(parameter.new_tensor(value))


def _by_stage(module: AttentionModule) -> dict[str, np.ndarray]:
    """Matrices (out, in) and vectors, with those of q, k and v in one taken apart."""
    arrays = {}
    for name, stage in module.stages.items():
        array = array_of(module.parameters[name])
        array = array.T if is_in_out(module, name) else array
        if stage in _PARTS:
            arrays |= dict(zip(_PARTS[stage], np.split(array, 3), strict=True))
        else:
            arrays[stage] = array
    return arrays


def _filled(mine: AttentionModule, name: str, theirs: Mapping[str, np.ndarray]) -> np.ndarray:
    """The numbers for a parameter of mine: the library's, and zeros for a bias that it lacks."""
    parameter, stage = mine.parameters[name], mine.stages[name]
    parts = [theirs.get(part) for part in _PARTS.get(stage, (stage,))]
    shape = tuple(parameter.shape)
    if stage[0] == "b" and any(part is None for part in parts):
        return np.zeros(shape)
    if any(part is None for part in parts):
        raise OwnArraysError(f"{name} is {stage}, which the library's module has no parameter for. Use names={{...}}.")
    value = np.concatenate(parts)
    value = value.T if is_in_out(mine, name) else value
    if value.shape != shape:
        raise OwnArraysError(f"{name} must have the shape {value.shape} of the library's {stage}; got {shape}.")
    return value


def is_in_out(module: AttentionModule, name: str) -> bool:
    """Whether a matrix stands as x @ W needs it: in GPT-2's Conv1D, and where it belongs to no layer of its own."""
    if len(module.parameters[name].shape) != 2:
        return False
    owner = module.owners[name]
    return type(owner).__name__ == "Conv1D" or (
        owner is module.module and "in_proj" not in name and "_proj_w" not in name
    )


def _left(mine: AttentionModule, theirs: Mapping[str, np.ndarray]) -> list[str]:
    has = {part for stage in mine.stages.values() for part in _PARTS.get(stage, (stage,))}
    missing = [stage for stage, value in theirs.items() if stage not in has and np.any(value)]
    return [f"Yours has no {', '.join(missing)}, which the library's has."] if missing else []
