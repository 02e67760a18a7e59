"""Assembly: builds the stages one after the other, from the given ones and the rows of `order`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import compress

import numpy as np

from attnviz.core import order
from attnviz.core.arrays import mask_numbers, real
from attnviz.core.errors import ArrayError
from attnviz.core.operations.linear import Addition, Identity
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.operation import GIVEN, Operation, Source
from attnviz.core.operations.softmax import Softmax
from attnviz.core.order import RESIDUAL_MISMATCH, UNEMBEDDING, LayerConfig, Norm, StageSpec
from attnviz.core.parameters import Parameters
from attnviz.core.stage import Stage, name_in_layer


class Builder:
    """The stages so far, in order.

    Within a layer they are looked up by the names they would have in a single layer: `build["q"]` is the stage q_2 in
    the second of several layers.
    """

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}
        self._by_name: dict[str, Stage] = {}
        self._layer = 0

    def __getitem__(self, name: str) -> Stage:
        return self._by_name[name]

    @property
    def by_name(self) -> Mapping[str, Stage]:
        """The stages so far by their names in a single layer; a live view."""
        return self._by_name

    def begin_layer(self, number: int, x: str, context: str | None = None) -> None:
        """Number the stages that follow, and let `x` and `context` be the stages of these full names.

        Without a context the layer attends to its own input. Number 0 is outside of all layers.
        """
        shared = {name: stage for name, stage in self._by_name.items() if name == stage.name and name != "context"}
        entering = {"x": x} if context is None else {"x": x, "context": context}
        self._by_name, self._layer = {**shared, **{name: self.stages[full] for name, full in entering.items()}}, number

    def add_given(self, stage: Stage, *, shared: bool = False) -> None:
        """Add a given stage; a shared one belongs to all layers."""
        name = stage.name
        if not shared and self._layer:
            stage = replace(stage, name=name_in_layer(name, self._layer))
        self.stages[stage.name] = self._by_name[name] = stage

    def add_computed(self, name: str, operation: Operation, *inputs: Stage) -> Stage:
        """Add the stage that `operation` computes from earlier ones."""
        full_name = name_in_layer(name, self._layer) if self._layer else name
        stage = Stage.computed(full_name, operation, inputs)
        self.stages[stage.name] = self._by_name[name] = stage
        return stage


Sourced = tuple[np.ndarray, str]
"""An array (tokens, d_model), and where it comes from."""


def input_stages(
    embeddings: Sourced, positions: Sourced | None, *, context: bool = False, norm: RMSNorm | LayerNorm | None = None
) -> dict[str, Stage]:
    """The embeddings, positions if any, their sum `x` (or `context`), and the norm of it if there is one.

    With a norm the sum is called `embedded`, and `x` is the normed sum.
    """
    build = Builder()
    prefix, axes = ("context_", ("context token", "d_model")) if context else ("", ("token", "d_model"))
    given = {"embeddings": embeddings, **({"positions": positions} if positions else {})}
    for name, (value, recipe) in given.items():
        build.add_given(Stage.given(f"{prefix}{name}", real(f"{prefix}{name}", value, axes), axes, Source(recipe)))
    operation = Addition() if positions else Identity(axes[0])
    result = "context" if context else "x"
    embedded = build.add_computed("embedded" if norm else result, operation, *build.stages.values())
    if norm:
        build.add_computed(result, norm, embedded)
    return build.stages


NO_MASK = Source("no mask: every key is visible")


def add_layer(
    build: Builder, config: LayerConfig, mask: np.ndarray | None = None, *, is_layer_mask: bool = False
) -> None:
    """Add the stages of a layer that can be derived from the given ones.

    The mask is shared by all layers unless `is_layer_mask`.
    """
    _run(build, order.LAYER, config, mask, is_layer_mask)


def unembed(build: Builder, w_u: np.ndarray) -> None:
    """Add the stages from the last layer's output to a probability for each answer."""
    x = build["x"]
    given = Stage.given("w_u", real("w_u", w_u, ("d_out", "answers")), ("d_model", "answer"))
    if given.shape[0] != x.shape[-1]:
        raise ArrayError(f"w_u must have {x.shape[-1]} rows, one for each number of a token; got {given.shape}.")
    build.add_given(given)
    _run(build, UNEMBEDDING, LayerConfig(n_heads=1))


def add_layer_with(
    build: Builder, parameters: Parameters, config: LayerConfig, mask: np.ndarray | None, *, is_layer_mask: bool
) -> str:
    """Add a layer with its parameters, and return the name of its last stage."""
    for stage in parameters.stages.values():
        build.add_given(stage)
    _check(config, parameters, build["x"])
    add_layer(build, config, mask, is_layer_mask=is_layer_mask)
    return next(reversed(build.stages))


def _check(config: LayerConfig, parameters: Parameters, x: Stage) -> None:
    """Raise ArrayError unless these parameters fit the config and the input x."""
    has = parameters.stages
    if config.residual and "w_o" not in has:
        raise ArrayError(RESIDUAL_MISMATCH.format(x=x.shape, came="no w_o"))
    _check_affine("attn_norm", config.attn_norm, has)
    if "g_q_norm" in has or "g_k_norm" in has:
        _check_affine("q_norm", config.qk_norm, has)
        _check_affine("k_norm", config.qk_norm, has)
    if config.absorbed:
        _check_absorbed(config, has)
    if "sinks" in has and config.normalise is not Softmax:
        raise ArrayError("sinks belong to a softmax; got another operation in its place.")
    if config.block_size and config.normalise is not Softmax:
        raise ArrayError("block_size belongs to a softmax; got another operation in its place.")
    if "w_hidden" not in has:
        return
    if "w_o" not in has:
        raise ArrayError("An MLP follows the output of attention; got no w_o.")
    _check_affine("mlp_norm", config.mlp_norm, has)
    w_hidden, w_mlp = has["w_hidden"], has["w_mlp"]
    n_neurons, width = w_hidden.shape[1], has["w_o"].shape[1]
    for w, shape in (
        (w_hidden, (width, n_neurons)),
        (w_mlp, (n_neurons, width if config.residual else w_mlp.shape[1])),
    ):
        if w.shape != shape:
            raise ArrayError(f"{w.name} must have axes {w.axes} of lengths {shape}; got {w.shape}.")


def _run(
    build: Builder,
    specs: tuple[StageSpec, ...],
    config: LayerConfig,
    mask: np.ndarray | None = None,
    is_layer_mask: bool = False,
) -> None:
    stages = build.by_name
    has = vars(config)
    options = tuple(compress(has, has.values()))
    for name, operation, reads in _derivable(specs, tuple(stages), options):
        if name == "masked" and "mask" not in stages:
            visible = mask_numbers(mask, *stages[reads[0]].shape)
            axes = ("head", "query", "key")[-visible.array.ndim :]
            build.add_given(
                Stage.given("mask", visible, axes, NO_MASK if mask is None else GIVEN), shared=not is_layer_mask
            )
        inputs = [*map(stages.__getitem__, reads)]
        build.add_computed(name, operation(config, *inputs), *inputs)


@lru_cache(maxsize=128)
def _derivable(
    specs: tuple[StageSpec, ...], given: tuple[str, ...], options: tuple[str, ...]
) -> tuple[tuple[str, Callable[..., Operation], tuple[str, ...]], ...]:
    """The stages that can be derived from the given names and options: name, operation, inputs."""
    names, made = set(given), []
    for spec in specs:
        if spec.name in names or (spec.option and spec.option not in options):
            continue
        if spec.name == "masked" and not names.isdisjoint(spec.alternatives[0]):
            names.add("mask")
        if inputs := spec.inputs(names):
            made.append((spec.name, spec.operation, inputs))
            names.add(spec.name)
    return tuple(made)


def _check_absorbed(config: LayerConfig, has: Mapping[str, Stage]) -> None:
    """Raise ArrayError if a norm or rotation stands between the absorbed matrices and queries or keys."""
    if "w_dkv" not in has:
        raise ArrayError("What is absorbed are the matrices of keys and values from a latent; got no w_dkv.")
    if config.qk_norm:
        raise ArrayError(
            "Absorbed, there are no keys that a norm could be applied to; got qk_norm. Leave one of the two out."
        )
    if config.rotation and not config.decoupled:
        raise ArrayError(
            "A rotation by positions can't be absorbed, so queries and keys have parts of their own for it; "
            "got a rotation, but no w_qr and w_kr."
        )


def _check_affine(name: str, norm: Norm | None, has: Mapping[str, Stage]) -> None:
    gain, bias = f"g_{name}", f"b_{name}"
    if gain not in has and bias not in has:
        return
    if norm is None or (bias in has and not isinstance(norm, LayerNorm)):
        wanted = "a LayerNorm" if bias in has else "a norm"
        raise ArrayError(f"{bias if bias in has else gain} belongs to {wanted}; got {norm or 'no norm'}.")
    if gain not in has:
        raise ArrayError(f"{bias} is added after a gain; got no {gain}. Give ones.")
