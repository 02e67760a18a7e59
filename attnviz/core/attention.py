"""Attention: the order of its stages. Two doors, `attend` for arrays and `trace_of` for settings.

`attend_projected` is the second half of `attend`, for what has no input.
"""

from collections.abc import Mapping

import numpy as np

from attnviz.core.builder import Builder
from attnviz.core.embeddings import POSITIONS, embed
from attnviz.core.errors import ArrayError
from attnviz.core.initialisers import INITIALISERS
from attnviz.core.masks import MASKS, REASONS
from attnviz.core.operations.addition import Addition
from attnviz.core.operations.concatenation import Concatenation
from attnviz.core.operations.contributions import Contributions
from attnviz.core.operations.dotproducts import DotProducts
from attnviz.core.operations.hide import Hide
from attnviz.core.operations.identity import Identity
from attnviz.core.operations.projection import Projection
from attnviz.core.operations.scale import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.operations.sumnormalise import SumNormalise
from attnviz.core.operations.weightedsum import WeightedSum
from attnviz.core.parameters import Parameters
from attnviz.core.settings import Settings
from attnviz.core.stage import Stage
from attnviz.core.tokens import labels
from attnviz.core.trace import Trace

PARAMETER_AXES = {
    "w_q": ("head", "d_model", "d_k"),
    "w_k": ("head", "d_model", "d_k"),
    "w_v": ("head", "d_model", "d_v"),
    "w_o": ("heads * d_v", "d_model"),
    "b_q": ("head", "d_k"),
    "b_k": ("head", "d_k"),
    "b_v": ("head", "d_v"),
    "b_o": ("d_model",),
}


def trace_of(settings: Settings) -> Trace:
    """The pass that the settings describe, from the words to the output.

    Returns
    -------
    Trace
        The stages of `attend`, with the embeddings and positions before them
        and the words along the axes of tokens, queries and keys.
    """
    x = _embedded("", settings.tokens, settings)
    context = {} if settings.context is None else _embedded("context_", settings.context_tokens, settings)
    n_queries, n_keys = len(settings.tokens), len(settings.context_tokens)
    trace = attend(
        x["x"].value,
        context["context"].value if context else None,
        parameters=INITIALISERS[settings.initialiser](settings.d_model, settings.n_heads, settings.seed),
        mask=MASKS[settings.mask](n_queries, n_keys, settings.mask_size),
        scale=None if settings.scaled else 1.0,
    )
    words, context_words = labels(settings.tokens), labels(settings.context_tokens)
    drawn = f"drawn by the initialiser “{settings.initialiser}” from the seed {settings.seed}"
    return (
        trace.beginning_with([*x.values(), *context.values()])
        .with_sources(
            {
                **dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), drawn),
                "mask": f"the mask “{settings.mask}”: {REASONS[settings.mask].format(size=settings.mask_size)}",
            }
        )
        .labelled(token=words, query=words, key=context_words, context_token=context_words)
    )


def attend(
    x: np.ndarray,
    context: np.ndarray | None = None,
    *,
    parameters: Parameters,
    mask: np.ndarray | None = None,
    scale: float | None = None,
    normalise: type[Softmax | SumNormalise] = Softmax,
) -> Trace:
    """Multi-head scaled dot-product attention, every stage kept.

    Parameters
    ----------
    x : ndarray (tokens, d_in)
        What the queries are made from.
    context : ndarray (context tokens, d_context), optional
        What keys and values are made from; `x` itself by default (self-attention).
    parameters : Parameters
        Projections that are absent are left out.
    mask : ndarray (queries, keys) or (heads, queries, keys), optional
        Boolean, True where the key is visible; or float, added to the scaled
        scores (-inf allowed). Without it every key is visible.
    scale : float, optional
        What the scores are multiplied by; 1 / sqrt(d_k) by default, 1.0 switches scaling off.
    normalise : {Softmax, SumNormalise}
        The operation that makes attention of the masked scores.

    Returns
    -------
    Trace
        x, (context), parameters, q, k, v, scores, scaled, mask, masked, attention,
        heads, concat, and with `w_o` also contributions and output.

    Raises
    ------
    ArrayError
        If shapes do not fit each other, or a number is not finite.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", equation 1 and section 3.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> eye = np.eye(2)
    >>> attend(eye, parameters=Parameters(), scale=1.0)["scores"].value[0]
    array([[1., 0.],
           [0., 1.]])
    """
    build = Builder()
    build.give("x", _finite("x", x, ("tokens", "d_in")), ("token", "d_model"), "given")
    keys_from = "x"
    if context is not None:
        value = _finite("context", context, ("context tokens", "d_context"))
        keys_from = build.give("context", value, ("context token", "d_model"), "given")
    given = {name: getattr(parameters, name) for name in PARAMETER_AXES}
    given = {name: _finite(name, w, PARAMETER_AXES[name]) for name, w in given.items() if w is not None}
    n_heads = _number_of_heads(given)
    for name, value in given.items():
        _give_parameter(build, name, value, n_heads, keys_from)

    for name, source, rows in (("q", "x", "query"), ("k", keys_from, "key"), ("v", keys_from, "key")):
        if f"w_{name}" in build.stages:
            matrices = [each for each in (f"w_{name}", f"b_{name}") if each in build.stages]
            build.apply(name, Projection(rows), source, *matrices)
        else:
            build.apply(name, Identity(rows, n_heads), source)
    return _attended(build, mask, scale, normalise)


def attend_projected(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    *,
    mask: np.ndarray | None = None,
    scale: float | None = None,
    normalise: type[Softmax | SumNormalise] = Softmax,
) -> Trace:
    """`attend` from its stage q on: queries, keys and values that are given, and come from no input.

    Parameters
    ----------
    q : ndarray (heads, queries, d_k)
    k : ndarray (heads, keys, d_k)
    v : ndarray (heads, keys, d_v)
    mask, scale, normalise
        As in `attend`.

    Raises
    ------
    ArrayError
        If shapes do not fit each other, or a number is not finite.
    """
    build = Builder()
    for name, value, axes in (
        ("q", q, ("head", "query", "d_k")),
        ("k", k, ("head", "key", "d_k")),
        ("v", v, ("head", "key", "d_v")),
    ):
        build.give(name, _finite(name, value, axes), axes, "given")
    q, k, v = (build.stages[name] for name in "qkv")
    if not (q.shape[0] == k.shape[0] == v.shape[0] and k.shape[1] == v.shape[1]):
        raise ArrayError(
            f"q, k and v must have the same number of heads, and k and v the same number of keys; "
            f"got q {q.shape}, k {k.shape} and v {v.shape}."
        )
    return _attended(build, mask, scale, normalise)


def _attended(build: Builder, mask: np.ndarray | None, scale: float | None, normalise: type) -> Trace:
    """The stages from q, k and v on, for both of the above."""
    q, k, v = (build.stages[name] for name in "qkv")
    if q.shape[-1] != k.shape[-1]:
        raise ArrayError(
            f"A query and a key must have the same length d_k for their dot product; "
            f"got q {q.shape} and k {k.shape}. Check w_q and w_k."
        )

    n_heads, n_queries, n_keys = q.shape[0], q.shape[1], k.shape[1]
    visible = _fitting_mask(mask, n_heads, n_queries, n_keys)
    factor = None if scale is None else float(_finite("scale", scale, ()))
    build.apply("scores", DotProducts(), "q", "k")
    build.apply("scaled", Scale(q.shape[-1], factor), "scores")
    recipe = "no mask: every key is visible" if mask is None else "given"
    build.give("mask", visible, ("head", "query", "key")[-visible.ndim :], recipe)
    build.apply("masked", Hide() if visible.dtype == bool else Addition(hides=True), "scaled", "mask")
    build.apply("attention", normalise(), "masked")
    build.apply("heads", WeightedSum(), "attention", "v")
    build.apply("concat", Concatenation(), "heads")
    if "w_o" in build.stages:
        if build.stages["w_o"].shape[0] != n_heads * v.shape[-1]:
            raise ArrayError(
                f"w_o must have heads * d_v = {n_heads} * {v.shape[-1]} = {n_heads * v.shape[-1]} rows; "
                f"got {build.stages['w_o'].shape}."
            )
        build.apply("contributions", Contributions(), "heads", "w_o")
        build.apply("output", Projection("query"), "concat", *(n for n in ("w_o", "b_o") if n in build.stages))
    return Trace(tuple(build.stages.values()), {})


def _embedded(prefix: str, tokens: tuple[str, ...], settings: Settings) -> dict[str, Stage]:
    """The stages from a sentence to what is projected: embeddings, positions if any, and their sum."""
    build = Builder()
    axes = ("context token" if prefix else "token", "d_model")
    recipe = f"drawn from N(0, 1) by the word and the seed {settings.seed}"
    sources = [build.give(f"{prefix}embeddings", embed(tokens, settings.d_model, settings.seed), axes, recipe)]
    encode = POSITIONS[settings.positions]
    if encode:
        value = encode(len(tokens), settings.d_model)
        sources.append(build.give(f"{prefix}positions", value, axes, f"{settings.positions} encoding of the place"))
    build.apply("context" if prefix else "x", Addition() if encode else Identity(axes[0]), *sources)
    return build.stages


def _finite(name: str, array: np.ndarray, axes: tuple[str, ...]) -> np.ndarray:
    array = _array(name, array, np.float64)
    if array.ndim != len(axes) or 0 in array.shape:
        raise ArrayError(f"{name} must have the shape ({', '.join(axes)}), none of them 0; got {array.shape}.")
    if not np.isfinite(array).all():
        raise ArrayError(f"{name} must hold finite numbers; got {np.count_nonzero(~np.isfinite(array))} that are not.")
    return array


def _array(name: str, value: np.ndarray, dtype: type | None = None) -> np.ndarray:
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array):
            raise TypeError
        return np.asarray(array, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(f"{name} must be an array of real numbers; got {type(value).__name__}.") from None


def _number_of_heads(given: Mapping[str, np.ndarray]) -> int:
    counts = {name: len(given[name]) for name in ("w_q", "w_k", "w_v") if name in given}
    if len(set(counts.values())) > 1:
        raise ArrayError(f"w_q, w_k and w_v must have the same number of heads; got {counts}.")
    return next(iter(counts.values()), 1)


def _give_parameter(build: Builder, name: str, value: np.ndarray, n_heads: int, keys_from: str) -> None:
    """Add a parameter as a stage, once its shape fits what it is multiplied with or added to."""
    kind, letter = name.split("_")
    if kind == "b":
        if f"w_{letter}" not in build.stages:
            raise ArrayError(f"{name} is added after a projection; got no w_{letter}. Give both or neither.")
        w = build.stages[f"w_{letter}"]
        expected = (*w.shape[:-2], w.shape[-1])
    elif letter == "o":
        expected = value.shape
    else:
        source = build.stages["x" if letter == "q" else keys_from]
        expected = (n_heads, source.shape[-1], value.shape[-1])
    if value.shape != expected:
        raise ArrayError(f"{name} must have axes {PARAMETER_AXES[name]} of lengths {expected}; got {value.shape}.")
    build.give(name, value, PARAMETER_AXES[name], "given")


def _fitting_mask(mask: np.ndarray | None, n_heads: int, n_queries: int, n_keys: int) -> np.ndarray:
    if mask is None:
        return np.ones((n_queries, n_keys), dtype=bool)
    mask = _array("mask", mask)
    if mask.shape not in ((n_queries, n_keys), (n_heads, n_queries, n_keys)):
        raise ArrayError(
            f"mask must have the shape (queries, keys) = {(n_queries, n_keys)} or "
            f"(heads, queries, keys) = {(n_heads, n_queries, n_keys)}; got {mask.shape}."
        )
    if mask.dtype == bool:
        return mask
    if not np.issubdtype(mask.dtype, np.floating):
        raise ArrayError(
            f"mask must be boolean (True is visible) or float (added to the scores); got {mask.dtype}. "
            "Write mask.astype(bool) for 0 and 1."
        )
    if np.isnan(mask).any() or np.isposinf(mask).any():
        raise ArrayError("A float mask may hold finite numbers and -inf; got NaN or inf.")
    return mask.astype(np.float64)
