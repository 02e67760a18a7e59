"""Order: which stage follows which, within a layer and after the last."""

import numpy as np

from attnviz.core.arrays import fitting_mask, real
from attnviz.core.builder import Builder
from attnviz.core.errors import ArrayError
from attnviz.core.operations.addition import Addition
from attnviz.core.operations.concatenation import Concatenation
from attnviz.core.operations.contributions import Contributions
from attnviz.core.operations.dotproducts import DotProducts
from attnviz.core.operations.hide import Hide
from attnviz.core.operations.identity import Identity
from attnviz.core.operations.projection import Projection
from attnviz.core.operations.scale import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.operations.weightedsum import WeightedSum
from attnviz.core.parameters import PARAMETER_AXES, Parameters
from attnviz.core.stage import Stage


def project(build: Builder, parameters: Parameters) -> None:
    """The parameters, and the stages q, k and v that they make of x and the context."""
    for name, numbers in parameters.numbers.items():
        build.give(name, numbers, PARAMETER_AXES[name], "given")
    keys_from = "context" if "context" in build else "x"
    for name, source, rows in (("q", "x", "query"), ("k", keys_from, "key"), ("v", keys_from, "key")):
        matrix, bias = f"w_{name}", f"b_{name}"
        if matrix not in build:
            build.apply(name, Identity(rows, parameters.n_heads), source)
            continue
        _check_rows(matrix, build[matrix], build[source])
        build.apply(name, Projection(rows), source, matrix, *((bias,) if bias in build else ()))


def mix(build: Builder, mask: np.ndarray | None, scale: float | None, normalise: type) -> None:
    """The stages from q, k and v on."""
    q, k, v = (build[name] for name in "qkv")
    if q.shape[-1] != k.shape[-1]:
        raise ArrayError(
            f"A query and a key must have the same length d_k for their dot product; "
            f"got q {q.shape} and k {k.shape}. Check w_q and w_k."
        )

    n_heads, n_queries, n_keys = q.shape[0], q.shape[1], k.shape[1]
    visible = fitting_mask(mask, n_heads, n_queries, n_keys)
    is_boolean = visible.array.dtype == bool
    factor = None if scale is None else float(real("scale", scale, ()).array)
    build.apply("scores", DotProducts(), "q", "k")
    build.apply("scaled", Scale(q.shape[-1], factor), "scores")
    if "mask" not in build:
        recipe = "no mask: every key is visible" if mask is None else "given"
        build.give("mask", visible, ("head", "query", "key")[-visible.array.ndim :], recipe, shared=True)
    build.apply("masked", Hide() if is_boolean else Addition(hides=True), "scaled", "mask")
    build.apply("attention", normalise(), "masked")
    build.apply("heads", WeightedSum(), "attention", "v")
    build.apply("concat", Concatenation(), "heads")
    if "w_o" in build:
        if build["w_o"].shape[0] != n_heads * v.shape[-1]:
            raise ArrayError(
                f"w_o must have heads * d_v = {n_heads} * {v.shape[-1]} = {n_heads * v.shape[-1]} rows; "
                f"got {build['w_o'].shape}."
            )
        build.apply("contributions", Contributions(), "heads", "w_o")
        build.apply("output", Projection("query"), "concat", *(n for n in ("w_o", "b_o") if n in build))


def add_residual(build: Builder) -> None:
    """The stage that adds the output of a layer to what entered it."""
    if "output" not in build or build["output"].shape != build["x"].shape:
        came = f"an output of {build['output'].shape}" if "output" in build else "no w_o"
        raise ArrayError(f"A residual stream needs an output of the shape of x, {build['x'].shape}; got {came}.")
    build.apply("residual", Addition(), "x", "output")


def answer(build: Builder, w_u: np.ndarray) -> None:
    """The stages from what the last layer passes on to a probability for each answer."""
    build.give("w_u", real("w_u", w_u, ("d_out", "answers")), ("d_model", "answer"), "given")
    if build["w_u"].shape[0] != build["x"].shape[-1]:
        raise ArrayError(f"w_u must have {build['x'].shape[-1]} rows, one for each number of a token; got {w_u.shape}.")
    build.apply("logits", Projection("query"), "x", "w_u")
    build.apply("probabilities", Softmax(), "logits")


def _check_rows(name: str, w: Stage, source: Stage) -> None:
    """Raise ArrayError unless a matrix has a row for each number of the vectors that it is multiplied with."""
    expected = (w.shape[0], source.shape[-1], w.shape[2])
    if w.shape != expected:
        raise ArrayError(f"{name} must have axes {w.axes} of lengths {expected}; got {w.shape}.")
