"""Order: which stage follows which, within a layer and after the last."""

import numpy as np

from attnviz.core.arrays import fitting_mask, real
from attnviz.core.builder import Builder
from attnviz.core.errors import ArrayError
from attnviz.core.operations.addition import Addition
from attnviz.core.operations.concatenation import Concatenation
from attnviz.core.operations.contributions import Contributions
from attnviz.core.operations.dotproducts import DotProducts
from attnviz.core.operations.gelu import GELU
from attnviz.core.operations.hide import Hide
from attnviz.core.operations.identity import Identity
from attnviz.core.operations.layernorm import LayerNorm
from attnviz.core.operations.projection import Projection
from attnviz.core.operations.relu import ReLU
from attnviz.core.operations.rmsnorm import RMSNorm
from attnviz.core.operations.scale import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.operations.source import GIVEN, Source
from attnviz.core.operations.weightedsum import WeightedSum
from attnviz.core.parameters import Parameters
from attnviz.core.stage import Stage

Norm = RMSNorm | LayerNorm
Activation = ReLU | GELU
RELU = ReLU()
NORMS: dict[str, Norm] = {"rmsnorm": RMSNorm(), "layernorm": LayerNorm()}
ACTIVATIONS: dict[str, Activation] = {"relu": RELU, "relu2": ReLU(squared=True), "gelu": GELU()}
"""By their names; GELU is the exact one, as in PyTorch."""

_TO_QUERIES, _TO_KEYS, _TO_TOKENS = Projection("query"), Projection("key"), Projection("token")
NO_MASK = Source("no mask: every key is visible")


def project(build: Builder, parameters: Parameters, norm: Norm | None = None) -> None:
    """The parameters, and the stages q, k and v that they make of x, normed if there is a norm, and the context."""
    for stage in parameters.stages.values():
        build.give(stage)
    x = _normed(build, "attn_norm", norm, build["x"])
    (context,) = build.present("context") or [x]
    for name, source, projection in (("q", x, _TO_QUERIES), ("k", context, _TO_KEYS), ("v", context, _TO_KEYS)):
        given = build.present(f"w_{name}", f"b_{name}")
        if given:
            _check_rows(given[0], source)
            build.apply(name, projection, source, *given)
        else:
            build.apply(name, Identity(projection.rows, parameters.n_heads), source)


def mix(build: Builder, mask: np.ndarray | None, scale: float | None, normalise: type) -> None:
    """The stages from q, k and v on."""
    q, k, v = build.present("q", "k", "v")
    if q.shape[-1] != k.shape[-1]:
        raise ArrayError(
            f"A query and a key must have the same length d_k for their dot product; "
            f"got q {q.shape} and k {k.shape}. Check w_q and w_k."
        )

    (n_heads, n_queries, d_k), n_keys = q.shape, k.shape[1]
    visible = fitting_mask(mask, n_heads, n_queries, n_keys)
    is_boolean = visible.array.dtype == bool
    factor = None if scale is None else float(real("scale", scale, ()).array)
    scores = build.apply("scores", DotProducts(), q, k)
    scaled = build.apply("scaled", Scale(d_k, factor), scores)
    if "mask" not in build:
        axes = ("head", "query", "key")[-visible.array.ndim :]
        build.give(Stage.given("mask", visible, axes, NO_MASK if mask is None else GIVEN), shared=True)
    masked = build.apply("masked", Hide() if is_boolean else Addition(hides=True), scaled, build["mask"])
    attention = build.apply("attention", normalise(), masked)
    heads = build.apply("heads", WeightedSum(), attention, v)
    concat = build.apply("concat", Concatenation(), heads)
    if "w_o" in build:
        w_o = build["w_o"]
        if w_o.shape[0] != n_heads * v.shape[-1]:
            raise ArrayError(
                f"w_o must have heads * d_v = {n_heads} * {v.shape[-1]} = {n_heads * v.shape[-1]} rows; "
                f"got {w_o.shape}."
            )
        build.apply("contributions", Contributions(), heads, w_o)
        build.apply("output", _TO_QUERIES, concat, *build.present("w_o", "b_o"))


def add_residual(build: Builder) -> None:
    """The stage that adds the output of a layer to what entered it."""
    x = build["x"]
    if "output" not in build or build["output"].shape != x.shape:
        came = f"an output of {build['output'].shape}" if "output" in build else "no w_o"
        raise ArrayError(f"A residual stream needs an output of the shape of x, {x.shape}; got {came}.")
    build.apply("residual", Addition(), x, build["output"])


def feed_forward(build: Builder, norm: Norm | None, activation: Activation, *, residual: bool) -> None:
    """The stages of the MLP, and with `residual` the one that adds what it makes to what entered it."""
    entered = next(reversed(build.stages.values()))
    if entered.name == build["concat"].name:
        raise ArrayError("An MLP follows the output of attention; got no w_o.")
    x = _normed(build, "mlp_norm", norm, entered)
    w_hidden, w_mlp = build["w_hidden"], build["w_mlp"]
    n_neurons, width = w_hidden.shape[1], x.shape[-1]
    for w, shape in ((w_hidden, (width, n_neurons)), (w_mlp, (n_neurons, width if residual else w_mlp.shape[1]))):
        if w.shape != shape:
            raise ArrayError(f"{w.name} must have axes {w.axes} of lengths {shape}; got {w.shape}.")
    hidden = build.apply("hidden", _TO_TOKENS, x, *build.present("w_hidden", "b_hidden"))
    active = build.apply("active", activation, hidden)
    mlp = build.apply("mlp", _TO_TOKENS, active, *build.present("w_mlp", "b_mlp"))
    if residual:
        build.apply("mlp_residual", Addition(), entered, mlp)


def answer(build: Builder, w_u: np.ndarray) -> None:
    """The stages from what the last layer passes on to a probability for each answer."""
    x = build["x"]
    given = Stage.given("w_u", real("w_u", w_u, ("d_out", "answers")), ("d_model", "answer"))
    if given.shape[0] != x.shape[-1]:
        raise ArrayError(f"w_u must have {x.shape[-1]} rows, one for each number of a token; got {given.shape}.")
    build.give(given)
    logits = build.apply("logits", _TO_QUERIES, x, given)
    build.apply("probabilities", Softmax(), logits)


def _normed(build: Builder, name: str, norm: Norm | None, x: Stage) -> Stage:
    """What a norm makes of a stage, as the stage of that name; without one the stage itself."""
    affine = build.present(f"g_{name}", f"b_{name}")
    if affine and not isinstance(norm, LayerNorm):
        raise ArrayError(f"{affine[0].name} belongs to a LayerNorm; got {norm or 'no norm'}.")
    if affine and affine[0].name.startswith("b_"):
        raise ArrayError(f"{affine[0].name} is added after a gain; got no g_{name}. Give ones.")
    for each in affine:
        if each.shape != x.shape[-1:]:
            raise ArrayError(f"{each.name} must have axes {each.axes} of lengths {x.shape[-1:]}; got {each.shape}.")
    return build.apply(name, norm, x, *affine) if norm else x


def _check_rows(w: Stage, source: Stage) -> None:
    """Raise ArrayError unless a matrix has a row for each number of the vectors that it is multiplied with."""
    if w.shape[1] != source.shape[-1]:
        expected = (w.shape[0], source.shape[-1], w.shape[2])
        raise ArrayError(f"{w.name} must have axes {w.axes} of lengths {expected}; got {w.shape}.")
