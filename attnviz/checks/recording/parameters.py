"""Parameters: those of a library's layer in the user's own, matched by stages, and restored afterwards."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from attnviz.checks.read.files import Arrays
from attnviz.checks.read.layouts import OUT_IN, FusedLayout
from attnviz.checks.read.names import is_by_heads
from attnviz.checks.recording.dispatch import array_of
from attnviz.checks.recording.layer import Layer
from attnviz.core.errors import OwnArraysError
from attnviz.core.trace import Trace

_FUSED = {"w_qkv": ("w_q", "w_k", "w_v"), "b_qkv": ("b_q", "b_k", "b_v")}
OF_OUTPUT = ("w_o", "b_o")
# keyed by whether a fused array is ordered by heads
_ORDERS = {False: "all of Q, then all of K and V", True: "Q, K and V of each head in turn"}


class Parameters:
    """The parameters of a library's layer by stages, matrices (out, in); fused ones also cut as its pass reads them."""

    def __init__(self, like: Layer, trace: Trace) -> None:
        named = {stage: (name, array_of(like.parameters[name])) for name, stage in like.stages.items()}
        self.by_stage = {stage: array.T if like.is_in_out(name) else array for stage, (name, array) in named.items()}
        self._fused = {_last_parts(named[stage][0]): stage for stage in _FUSED if stage in named}
        self._n_heads, _, d_k = trace["q"].shape
        self._is_by_heads = False
        if not self._fused:
            self._n_groups = len(self.by_stage["w_k"]) // d_k
            return
        fused = self.by_stage["w_qkv"]
        self._n_groups = (len(fused) // d_k - self._n_heads) // 2
        blocks = FusedLayout(OUT_IN, self._n_heads // self._n_groups)
        is_in_blocks = np.array_equal(np.concatenate(trace["w_q"].value, axis=-1).T, blocks.split("", fused, 2)[0])
        self._is_by_heads = not is_in_blocks
        cut = blocks if is_in_blocks else FusedLayout(OUT_IN, blocks.n_sharing, self._n_groups)
        for stage in self._fused.values():
            array = self.by_stage[stage]
            parts = (part.reshape(-1, *array.shape[1:]) for part in cut.split("", array, array.ndim))
            self.by_stage |= dict(zip(_FUSED[stage], parts, strict=True))

    def orders(self, mine: Layer) -> Sequence[bool]:
        """Whether a fused array of mine may be filled by heads, or not, the likelier first."""
        fused = [name for name, stage in mine.stages.items() if stage == "w_qkv"]
        if not fused or _last_parts(fused[0]) in self._fused:  # a matrix of the same name is copied unchanged
            return (False,)
        return (True, False) if is_by_heads(fused[0]) else (False, True)

    @contextmanager
    def copied_to(self, mine: Layer, by_heads: bool = False) -> Iterator[list[str]]:
        """Copy them, and restore those of `mine` afterwards.

        Yields a sentence on each parameter that only one of them has. OwnArraysError if a matrix of `mine` has no
        counterpart of its shape.
        """
        parts = {part for stage in mine.stages.values() for part in _FUSED.get(stage, (stage,))}
        theirs = {stage: array for stage, array in self.by_stage.items() if stage not in _FUSED}
        missing = [stage for stage, value in theirs.items() if stage not in parts and np.any(value)]
        notes = [f"Yours has no {', '.join(missing)}, which the library's has."] if missing else []
        copied = {name: mine.parameters[name] for name, stage in mine.stages.items() if not self._lacks_output(stage)}
        if len(copied) < len(mine.stages):
            notes.append("Your output matrix was left out, as the library's module has none.")
        notes += [
            note for name in copied if mine.stages[name] == "w_qkv" and (note := self._order(mine, name, by_heads))
        ]
        with filled(copied, {name: self._value(mine, name, by_heads) for name in copied}):
            yield notes

    def _order(self, mine: Layer, name: str, by_heads: bool) -> str:
        """How a fused matrix of mine was filled, if that isn't the library's order."""
        if np.array_equal(self._value(mine, name, by_heads), self._value(mine, name, self._is_by_heads)):
            return ""
        named = next(iter(self._fused), "")
        theirs = f"the library's {named} holds {_ORDERS[self._is_by_heads]}" if named else "the library has one of each"
        return (
            f"Your {name} was read as {_ORDERS[by_heads]}, but {theirs}: its weights don't load in yours as they are."
        )

    def _lacks_output(self, stage: str) -> bool:
        return stage in OF_OUTPUT and "w_o" not in self.by_stage

    def _value(self, mine: Layer, name: str, by_heads: bool) -> np.ndarray:
        """The numbers for a parameter of mine."""
        stage, shape = mine.stages[name], tuple(mine.parameters[name].shape)
        parts = [self.by_stage[part] for part in _FUSED.get(stage, (stage,)) if part in self.by_stage]
        if len(parts) < len(_FUSED.get(stage, (stage,))):
            if stage[0] == "b":
                return np.zeros(shape)
            raise OwnArraysError(
                f"{name} is {stage}, which the library's module has no parameter for. Use names={{...}}."
            )
        if _last_parts(name) in self._fused:
            value = self.by_stage[stage]
        elif by_heads:
            groups = [part.reshape(self._n_groups, -1, *part.shape[1:]) for part in parts]
            value = np.concatenate(groups, axis=1).reshape(-1, *parts[0].shape[1:])
        else:
            value = np.concatenate(parts)
        value = value.T if mine.is_in_out(name) else value
        if value.shape != shape:
            raise OwnArraysError(f"{name} must have the shape {value.shape} of the library's {stage}; got {shape}.")
        return value


def _last_parts(name: str) -> str:
    """A parameter's own name, with its layer's: "c_attn.weight"."""
    return ".".join(name.split(".")[-2:])


@contextmanager
def with_random_vectors(layer: Layer, seed: int) -> Iterator[None]:
    """Add random numbers to biases and gains, as fresh ones (0 and 1) would hide mistakes."""
    rng = np.random.default_rng(seed)
    vectors = {name: each for name, each in layer.called.named_parameters() if len(each.shape) == 1}
    with filled(vectors, {name: array_of(each) + rng.normal(size=each.shape) for name, each in vectors.items()}):
        yield


@contextmanager
def filled(parameters: Mapping[str, Any], values: Mapping[str, np.ndarray]) -> Iterator[None]:
    """Fill parameters with other numbers, and restore theirs afterwards."""

    def fill(numbers: Mapping[str, np.ndarray]) -> None:
        for name, value in numbers.items():
            parameters[name].data.copy_(parameters[name].new_tensor(value))

    originals: Arrays = {name: array_of(parameter) for name, parameter in parameters.items()}
    try:
        fill(values)
        yield
    finally:
        fill(originals)
