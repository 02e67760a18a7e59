"""Layer: a single layer of attention, and what it computes when it is called in each possible way."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from attnviz.checks.read.files import Arrays
from attnviz.checks.read.layouts import IN_OUT, OUT_IN, Orientation
from attnviz.checks.recording.modules import (
    LOOKED_FOR,
    AttentionModule,
    attention_modules,
    check_module,
    parameter_names,
)
from attnviz.checks.recording.recorded import record
from attnviz.core.errors import OwnArraysError

N_SENTENCES, N_TOKENS = 2, 7
_MASKS = ("attn_mask", "mask", "attention_mask", "causal_mask", "src_mask")
_FLAGS = ("is_causal", "causal")
_FUSED_KERNELS = ("sdpa", "flash", "flex", "paged")  # how names of Hugging Face's other implementations begin
_CANNOT_MAKE = (
    "{} takes {}, which attnviz can't make for it. Give a module that makes it, or record both of yours and compare "
    "them."
)
ADDED, SHOWS, HIDES = "added", "True for a visible key", "True for a hidden key"  # what a mask means


class Call(NamedTuple):
    """A call of a layer, and the arrays of its first sentence."""

    way: str  # "no mask" or "causal"
    arrays: Arrays
    mask: str = ""  # its argument, and what it means
    meaning: str = ""


@dataclass(frozen=True, eq=False)
class Layer:
    """A single layer of attention that can be called alone, and the stages that unknown names have."""

    attention: AttentionModule
    called: Any  # its module, or the one around it that holds its output matrix
    names: Mapping[str, str]

    @classmethod
    def of(cls, argument: str, module: Any, names: Mapping[str, str], *, has_output: bool = True) -> Layer:
        """The only layer of a module; OwnArraysError if there is none or more, or its parameters can't be copied.

        If it may have an output matrix, that is the only matrix of no known name where none has that of an output's.
        """
        check_module(f"{argument} must be a PyTorch module", module)
        modules, skipped = attention_modules(module, names)
        if len(modules) != 1:
            why = [f"{LOOKED_FOR}.", *(f"{each}." for each in skipped.values())] if not modules else []
            raise OwnArraysError(
                f"{argument} must have one layer of attention, of parameters whose names are known; got {len(modules)} "
                f"in {type(module).__name__}, with {parameter_names(module)}. {' '.join(why)} Give the layer alone, or "
                'say which stage each is, as in names={"proj_a.weight": "w_q"}.'
            )
        attention = modules[0]
        stages = {**attention.stages, **attention.replaced}
        if not any(each <= {*stages.values()} for each in ({"w_qkv"}, {"w_q", "w_k", "w_v"})):
            raise OwnArraysError(
                f"check copies a layer's matrices of queries, keys and values, which {argument} keeps otherwise: "
                f"{attention.note} Record both and compare what was recorded."
            )
        if has_output and "w_o" not in stages.values() and (more := _output_by_shape(module, stages)):
            return cls.of(argument, module, {**names, **more}, has_output=False)
        inside = attention.path.rpartition(".")[0] if attention.has_output_outside else attention.path
        called, start = dict(module.named_modules())[inside], f"{inside}." if inside else ""
        names = {name.removeprefix(start): stage for name, stage in names.items()}
        return cls(attention_modules(called, names)[0][0], called, names)

    @property
    def stages(self) -> Mapping[str, str]:
        """The stages of its parameters by name."""
        return {**self.attention.stages, **self.attention.replaced}

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that have a stage, by name."""
        tensors = dict(self.called.named_parameters())
        return {name: tensors[name] for name in self.stages}

    @property
    def has_output_matrix(self) -> bool:
        return "w_o" in self.stages.values()

    def is_in_out(self, name: str) -> bool:
        """Whether a matrix is (in, out): in GPT-2's Conv1D, and if it belongs to no Linear layer."""
        if len(self.parameters[name].shape) != 2:
            return False
        owner = dict(self.called.named_modules())[name.rpartition(".")[0]]
        is_alone = owner is self.attention.module and "in_proj" not in name and "_proj_w" not in name
        return type(owner).__name__ == "Conv1D" or is_alone

    @property
    def orientation(self) -> Orientation | None:
        """The orientation of all matrices, if they share one."""
        all_of = {self.is_in_out(name) for name, each in self.parameters.items() if len(each.shape) == 2}
        return (IN_OUT if True in all_of else OUT_IN) if len(all_of) == 1 else None

    @property
    def takes(self) -> Mapping[str, inspect.Parameter]:
        """The arguments of the call."""
        return inspect.signature(self.called.forward).parameters


def _output_by_shape(module: Any, stages: Mapping[str, str]) -> dict[str, str]:
    unknown = {name: each for name, each in module.named_parameters() if name not in stages}
    matrices = [name for name, each in unknown.items() if len(each.shape) == 2]
    if len(matrices) != 1:
        return {}
    bias = f"{matrices[0].rpartition('.')[0]}.bias"
    return {matrices[0]: "w_o"} | ({bias: "b_o"} if bias in unknown else {})


def drawn(width: int, seed: int) -> np.ndarray:
    """Random inputs (sentences, tokens, width)."""
    return np.random.default_rng(seed).normal(size=(N_SENTENCES, N_TOKENS, width))


def calls(layer: Layer, x: np.ndarray, tables: Mapping[str, Any]) -> Iterator[Call]:
    """Call a layer in each possible way, with tables of its positions if it takes them."""
    yield Call("no mask", _recorded_call(layer, x, {}, tables))
    mask = next((name for name in _MASKS if name in layer.takes), None)
    if mask:
        visible = np.tri(x.shape[1], dtype=bool)
        meanings = {ADDED: np.where(visible, 0.0, -np.inf), SHOWS: visible, HIDES: ~visible}
        hides = "in_proj_weight" in layer.parameters or type(layer.called).__name__ == "MultiheadAttention"
        for meaning in (HIDES,) if hides else meanings:
            for shape in (meanings[meaning], meanings[meaning][np.newaxis, np.newaxis]):
                with suppress(TypeError, ValueError, RuntimeError, IndexError):  # a mask of another type or shape
                    yield Call("causal", _recorded_call(layer, x, {mask: shape}, tables), mask, meaning)
                    break
    elif flag := next((name for name in _FLAGS if name in layer.takes), None):
        yield Call("causal", _recorded_call(layer, x, {flag: True}, tables))


def _recorded_call(
    layer: Layer, x: np.ndarray, arguments: Mapping[str, np.ndarray | bool], tables: Mapping[str, Any]
) -> Arrays:
    attention, takes, name = layer.attention, layer.takes, type(layer.called).__name__
    like = next(iter(layer.parameters.values()))
    tensor = like.new_tensor(x if attention.is_batch_first else np.swapaxes(x, 0, 1))
    passed: dict[str, Any] = {**arguments}
    for each, value in arguments.items():
        if isinstance(value, np.ndarray):
            passed[each] = like.new_tensor(value).bool() if value.dtype == bool else like.new_tensor(value)
    if "average_attn_weights" in takes:
        passed["average_attn_weights"] = False
    passed |= {each: table for each, table in tables.items() if each in takes}
    n_inputs = 3 if any(each in takes for each in ("key", "k")) else 1
    for each, argument in [*takes.items()][n_inputs:]:
        is_variadic = argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
        if argument.default is argument.empty and not is_variadic and each not in passed:
            if each not in (*_MASKS, "past_key_values", "cache_position"):
                raise OwnArraysError(_CANNOT_MAKE.format(name, each))
            passed[each] = None
    with record(layer.called, names=layer.names) as recorded:
        try:
            layer.called(*[tensor] * n_inputs, **passed)
        except OwnArraysError:
            raise
        except Exception as error:
            if "position_embeddings" in takes and "position_embeddings" not in passed:
                raise OwnArraysError(_CANNOT_MAKE.format(name, "position_embeddings")) from error
            also = "".join(f" and {each}" for each, value in passed.items() if value is not None)
            raise OwnArraysError(
                f"{name} must take x{', as query, key and value' * (n_inputs > 1)}{also}; calling it so raised "
                f"{type(error).__name__}: {error}. Wrap it in a module that does, or record both and compare what was "
                "recorded."
            ) from error
    return recorded[0]


def tables_of(layer: Layer, x: np.ndarray) -> dict[str, Any]:
    """The positions of x, and the cosines and sines for a layer of Hugging Face from its library's own class.

    Empty if the layer takes none, or its library has no class that makes them.
    """
    module, own = layer.called, type(layer.called)
    library = getattr(sys.modules.get(own.__module__), "__dict__", {})
    classes = {name: each for name, each in library.items() if name.endswith("RotaryEmbedding")}
    if "position_embeddings" not in layer.takes or not classes or not hasattr(module, "config"):
        return {}
    nearest = max(classes, key=lambda name: own.__name__.startswith(name.removesuffix("RotaryEmbedding")))
    like = next(iter(layer.parameters.values()))
    positions = like.new_tensor(np.arange(x.shape[1])[np.newaxis]).long()
    with suppress(Exception):  # whatever a library's class raises that is made or called otherwise
        rotary = classes[nearest](config=module.config)
        has_types = "layer_type" in inspect.signature(rotary.forward).parameters
        cos, sin = rotary(like.new_tensor(x), positions, **({"layer_type": _layer_type(module)} if has_types else {}))
        return {"position_embeddings": (cos, sin), "cos": cos, "sin": sin, "position_ids": positions}
    return {}


def _layer_type(module: Any) -> str:
    declared = getattr(module, "layer_type", None) or getattr(module, "attention_type", None)
    return declared or module.config.layer_types[module.layer_idx]


@contextmanager
def without_fused_kernels(*modules: Any) -> Iterator[None]:
    """Let modules of Hugging Face compute attention in plain code, and restore their choice afterwards.

    Fused kernels return no attention, and some drop softcaps and sinks.
    """
    parts = (part for module in modules for _, part in module.named_modules() if _is_fused(part))
    configs = {id(part.config): part.config for part in parts}.values()
    kernels = [each._attn_implementation for each in configs]
    try:
        for each in configs:
            each._attn_implementation = "eager"
        yield
    finally:
        for each, kernel in zip(configs, kernels, strict=True):
            each._attn_implementation = kernel


def _is_fused(part: Any) -> bool:
    return str(getattr(getattr(part, "config", None), "_attn_implementation", "")).startswith(_FUSED_KERNELS)
