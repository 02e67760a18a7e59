"""Order: which stage follows which, and the options of a layer. `LAYER` has a row for each stage of a layer."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from attnviz.core.arrays import real
from attnviz.core.errors import ArrayError
from attnviz.core.operations.activations import GELU, ReLU
from attnviz.core.operations.linear import (
    Addition,
    Concatenation,
    Contributions,
    DotProducts,
    HeadProjection,
    Identity,
    Projection,
    WeightedSum,
)
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.online_softmax import LastQuotient, RunningMaximum, RunningOutput, RunningSum
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.rotation import BASES, PAIRS, Rotation
from attnviz.core.operations.scores import LIMITS, ALiBi, Hide, Scale, Softcap
from attnviz.core.operations.softmax import SinkShare, Softmax
from attnviz.core.stage import Stage

Norm = RMSNorm | LayerNorm
Activation = ReLU | GELU
RELU = ReLU()
RMS_NORM = RMSNorm()
NORMS: dict[str, Norm] = {"rmsnorm": RMS_NORM, "layernorm": LayerNorm()}
ACTIVATIONS: dict[str, Activation] = {"relu": RELU, "relu2": ReLU(squared=True), "gelu": GELU()}
"""By their names; GELU is the exact one, as in PyTorch."""

ALL_ACTIVATIONS = ACTIVATIONS | {"gelu tanh": GELU(tanh=True)}
"""Also those of models whose arrays a user may bring."""


@dataclass  # not frozen: one is made for each layer of each pass, and freezing would triple the time
class LayerConfig:
    """The options of a layer, apart from its arrays."""

    n_heads: int  # how often x is repeated where no matrix projects it
    d_k: int | None = None  # the length of a query; None if it isn't known, and scores can't be scaled
    scale: float | None = None  # the factor of the scores; 1 / sqrt(d_k) by default
    normalise: type[Operation] = Softmax  # turns masked scores into attention weights
    unprojected: bool = True  # whether x itself serves as the queries, keys or values that have no matrix
    attn_norm: Norm | None = None  # before attention
    mlp_norm: Norm | None = None  # before the MLP
    residual: bool = False  # whether outputs are added to the layer's input (a residual stream)
    activation: Activation = RELU  # the function between the two matrices of the MLP
    qk_norm: RMSNorm | None = None  # the norm of each query and each key
    rotation: Rotation | None = None  # RoPE
    softcap: float | None = None  # the largest score that is possible
    alibi: bool = False  # whether scores fall with the distance of the key
    block_size: int | None = None  # how many keys a query reads at once (FlashAttention); by default all of them
    latent_norm: RMSNorm = RMS_NORM  # the norm of the latents that keys and values, or queries, are made from
    expanded: bool = True  # with latents: whether keys and values are computed from them
    absorbed: bool = False  # with latents: whether queries and head outputs absorb their matrices instead
    decoupled: bool = False  # whether queries and keys have a separate part for positions, whose scores are added


@dataclass(frozen=True, eq=False)  # compared by identity: the stages to make are cached by their specs
class StageSpec:
    """How one stage is made."""

    name: str
    reads: str  # the stages it is computed from, all of them required; of "context|x" the first that exists
    operation: Callable[..., Operation]  # for a config and the stages read; ArrayError if these don't fit each other
    adds: str = ""  # optional parameters that it also reads
    option: str = ""  # the attribute of a config without which there is no such stage

    def inputs(self, names: Container[str]) -> tuple[str, ...]:
        """The stages it reads, out of those that exist; none if one is missing."""
        read = []
        for either in self.alternatives:
            for name in either:
                if name in names:
                    read.append(name)
                    break
            else:
                return ()
        read += [name for name in self._adds if name in names]
        return tuple(read)

    def is_in(self, config: LayerConfig) -> bool:
        """Whether a layer has it."""
        return not self.option or bool(getattr(config, self.option))

    def matches(self, names: Set[str]) -> bool:
        """Whether these names include it or one of its optional parameters."""
        return self.name in names or not names.isdisjoint(self._adds)

    @cached_property
    def alternatives(self) -> tuple[tuple[str, ...], ...]:
        """For each input the candidates, of which the first that exists is read."""
        return tuple(tuple(either.split("|")) for either in self.reads.split())

    @cached_property
    def _adds(self) -> tuple[str, ...]:
        return tuple(self.adds.split())


def _always(operation: Operation) -> Callable[..., Operation]:
    return lambda *_: operation


def _norm(option: str) -> Callable[..., Operation]:
    def norm(config: LayerConfig, x: Stage, *affine: Stage) -> Operation:
        for each in affine:
            if each.shape != x.shape[-1:]:
                raise ArrayError(f"{each.name} must have axes {each.axes} of lengths {x.shape[-1:]}; got {each.shape}.")
        return getattr(config, option)

    return norm


def _projection(rows: str) -> Callable[..., Operation]:
    operation = Projection(rows)

    def projection(config: LayerConfig, x: Stage, w: Stage, *b: Stage) -> Operation:
        if w.shape[-2] != x.shape[-1]:
            expected = (*w.shape[:-2], x.shape[-1], w.shape[-1])
            raise ArrayError(f"{w.name} must have axes {w.axes} of lengths {expected}; got {w.shape}.")
        return operation

    return projection


def _projected(name: str, reads: str, rows: str) -> tuple[StageSpec, StageSpec]:
    """Queries, keys or values, with a matrix or without one."""
    return (
        StageSpec(name, f"{reads} w_{name}", _projection(rows), adds=f"b_{name}"),
        StageSpec(name, reads, lambda config, _: Identity(rows, config.n_heads), option="unprojected"),
    )


def _dot_products(config: LayerConfig, q: Stage, k: Stage) -> Operation:
    if q.shape[-1] != k.shape[-1]:
        raise ArrayError(
            f"A query and a key must have the same length d_k for their dot product; "
            f"got q {q.shape} and k {k.shape}. Check w_q and w_k."
        )
    return _products(_shared_by(q, k))


def _scores(config: LayerConfig, one: Stage, other: Stage) -> Operation:
    """Dot products of queries and keys, or the sum of the scores of their two parts."""
    return _ADDED if one.shape == other.shape and one.axes[-1] == "key" else _dot_products(config, one, other)


def _head_projection(*, transposed: bool = False) -> Callable[..., Operation]:
    def of_head(config: LayerConfig, x: Stage, w: Stage) -> Operation:
        if x.shape[-1] != w.shape[2 if transposed else 1]:
            raise ArrayError(f"{w.name} doesn't fit {x.name}: its axes {w.axes} are {w.shape}; got {x.name} {x.shape}.")
        return HeadProjection(_shared_by(w, x), transposed)

    return of_head


def _weighted_sum(config: LayerConfig, attention: Stage, v: Stage) -> Operation:
    return _sums(_shared_by(attention, v))


def _running(kind: type[RunningMaximum | RunningSum]) -> Callable[..., Operation]:
    return lambda config, *_: kind(config.block_size)


def _running_output(config: LayerConfig, masked: Stage, largest: Stage, v: Stage) -> Operation:
    assert config.block_size is not None
    return RunningOutput(config.block_size, _shared_by(masked, v))


def _shared_by(heads: Stage, groups: Stage) -> int:
    """How many heads share an array of keys or values."""
    return heads.shape[0] // groups.shape[0]


def _rotation(config: LayerConfig, x: Stage) -> Operation:
    assert config.rotation is not None
    return config.rotation.for_length(x.shape[-1])


def _scale(config: LayerConfig, scores: Stage) -> Operation:
    assert config.d_k is not None
    if config.scale is None:
        return _over_root(config.d_k)
    return Scale(config.d_k, float(real("scale", config.scale, ()).array))


def _masked(config: LayerConfig, scaled: Stage, mask: Stage) -> Operation:
    return _HIDE if mask.value.dtype.kind == "b" else _ADD_MASK


def _contributions(config: LayerConfig, heads: Stage, w_o: Stage) -> Operation:
    n_heads, _, d_v = heads.shape
    if w_o.shape[0] != n_heads * d_v:
        raise ArrayError(f"w_o must have heads * d_v = {n_heads} * {d_v} = {n_heads * d_v} rows; got {w_o.shape}.")
    return _CONTRIBUTIONS


def _residual(config: LayerConfig, x: Stage, output: Stage) -> Operation:
    if output.shape != x.shape:
        raise ArrayError(RESIDUAL_MISMATCH.format(x=x.shape, came=f"an output of {output.shape}"))
    return Addition()


RESIDUAL_MISMATCH = "A residual stream needs an output of the shape of x{x}; got {came}."
# created once: in a small pass creating them takes a twentieth of the time
_CONTRIBUTIONS, _HIDE, _ADDED, _ADD_MASK = Contributions(), Hide(), Addition(), Addition(hides=True)
_LAST_QUOTIENT = LastQuotient()
_over_root, _products, _sums = (lru_cache(maxsize=128)(each) for each in (Scale, DotProducts, WeightedSum))
_TO_QUERIES, _TO_TOKENS = _always(Projection("query")), _always(Projection("token"))

LAYER: tuple[StageSpec, ...] = (
    StageSpec("attn_norm", "x", _norm("attn_norm"), adds="g_attn_norm b_attn_norm", option="attn_norm"),
    StageSpec("compressed", "context|attn_norm|x w_dkv", _projection("key")),
    StageSpec("latent", "compressed", _norm("latent_norm"), adds="g_latent"),
    StageSpec("q_compressed", "attn_norm|x w_dq", _projection("query")),
    StageSpec("q_latent", "q_compressed", _norm("latent_norm"), adds="g_q_latent"),
    StageSpec("q", "q_latent w_uq", _projection("query")),
    *_projected("q", "attn_norm|x", "query"),
    StageSpec("k", "latent w_uk", _head_projection(), option="expanded"),
    *_projected("k", "context|attn_norm|x", "key"),
    StageSpec("v", "latent w_uv", _head_projection(), option="expanded"),
    *_projected("v", "context|attn_norm|x", "key"),
    StageSpec("q_r", "q_latent|attn_norm|x w_qr", _projection("query")),
    StageSpec("k_r", "context|attn_norm|x w_kr", _projection("key")),
    StageSpec("q_normed", "q", _norm("qk_norm"), adds="g_q_norm", option="qk_norm"),
    StageSpec("k_normed", "k", _norm("qk_norm"), adds="g_k_norm", option="qk_norm"),
    StageSpec("q_absorbed", "q w_uk", _head_projection(transposed=True), option="absorbed"),
    StageSpec("q_rotated", "q_r|q_normed|q", _rotation, option="rotation"),
    StageSpec("k_rotated", "k_r|k_normed|k", _rotation, option="rotation"),
    StageSpec("position_scores", "q_rotated|q_r k_rotated|k_r", _dot_products, option="decoupled"),
    StageSpec("content_scores", "q_absorbed|q_normed|q k_normed|k|latent", _dot_products, option="decoupled"),
    StageSpec(
        "scores", "content_scores|q_absorbed|q_rotated|q_normed|q position_scores|k_rotated|k_normed|k|latent", _scores
    ),
    StageSpec("scaled", "scores", _scale, option="d_k"),
    StageSpec("capped", "scaled", lambda config, _: Softcap(config.softcap), option="softcap"),
    StageSpec("biased", "capped|scaled", lambda _, scores: ALiBi(len(scores)), option="alibi"),
    StageSpec("masked", "biased|capped|scaled mask", _masked),
    StageSpec("attention", "masked", lambda config, *_: config.normalise(), adds="sinks"),
    StageSpec("sink_share", "masked sinks", _always(SinkShare())),
    StageSpec("running_max", "masked", _running(RunningMaximum), adds="sinks", option="block_size"),
    StageSpec("running_sum", "masked running_max", _running(RunningSum), adds="sinks", option="block_size"),
    StageSpec("running_output", "masked running_max v|latent", _running_output, option="block_size"),
    StageSpec("latent_heads", "running_output running_sum", _always(_LAST_QUOTIENT), option="absorbed"),
    StageSpec("latent_heads", "attention latent", _weighted_sum, option="absorbed"),
    StageSpec("heads", "latent_heads w_uv", _head_projection(), option="absorbed"),
    StageSpec("heads", "running_output running_sum", _always(_LAST_QUOTIENT)),
    StageSpec("heads", "attention v", _weighted_sum),
    StageSpec("concat", "heads", _always(Concatenation())),
    StageSpec("contributions", "heads w_o", _contributions),
    StageSpec("output", "concat w_o", _TO_QUERIES, adds="b_o"),
    StageSpec("residual", "x output", _residual, option="residual"),
    StageSpec("mlp_norm", "residual|output", _norm("mlp_norm"), adds="g_mlp_norm b_mlp_norm", option="mlp_norm"),
    StageSpec("hidden", "mlp_norm|residual|output w_hidden", _TO_TOKENS, adds="b_hidden"),
    StageSpec("active", "hidden", lambda config, _: config.activation),
    StageSpec("mlp", "active w_mlp", _TO_TOKENS, adds="b_mlp"),
    StageSpec("mlp_residual", "residual mlp", _always(Addition()), option="residual"),
)
UNEMBEDDING: tuple[StageSpec, ...] = (
    StageSpec("logits", "x w_u", _TO_QUERIES),
    StageSpec("probabilities", "logits", _always(Softmax())),
)

CHOICES: Mapping[str, tuple[Any, ...]] = {
    "attn_norm": (NORMS["layernorm"], NORMS["rmsnorm"]),
    "mlp_norm": (NORMS["layernorm"], NORMS["rmsnorm"]),
    "residual": (True,),
    "qk_norm": (RMSNorm(1e-6), RMSNorm(), RMSNorm(2**-23)),  # the last is nn.RMSNorm's own in float32
    "rotation": tuple(Rotation(base, pairs) for base in BASES for pairs in PAIRS[::-1]),
    "softcap": LIMITS,
    "alibi": (True,),
}
"""The values that published models have for each option, the most common first."""


def layer_configs(names: Set[str]) -> list[LayerConfig]:
    """The configs that stages and parameters of these names may belong to, apart from their lengths.

    An option is on where its stage or its parameters are present.
    """
    options = {spec.option for spec in LAYER if spec.option in CHOICES and spec.matches(names)}
    choices = {option: CHOICES[option] for option in CHOICES if option in options}
    for norm in ("attn_norm", "mlp_norm"):
        if f"g_{norm}" in names:
            choices[norm] = (NORMS["layernorm"],)
    if not names.isdisjoint(("hidden", "w_hidden")):
        choices = {"residual": (True, False), "activation": tuple(ALL_ACTIVATIONS.values())} | choices
    unprojected = "x" in names and names.isdisjoint(("w_q", "w_k", "w_v", "q", "k", "v"))
    return [
        LayerConfig(n_heads=1, unprojected=unprojected, **dict(zip(choices, values, strict=True)))
        for values in product(*choices.values())
    ]
