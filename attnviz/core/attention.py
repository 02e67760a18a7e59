"""Attention: a pass with all of its stages, by `attend` from arrays or by `trace_of` from settings.

`attend_projected` is the second half of `attend`, for given queries, keys and values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from attnviz.core.arguments import as_number, check_bool, check_type, did_you_mean, quoted
from attnviz.core.arrays import real
from attnviz.core.assembly import Builder, add_layer, add_layer_with, input_stages, unembed
from attnviz.core.errors import ArrayError, SettingsError
from attnviz.core.initialisers import INITIALISERS, POSITIONS, embed, stream_in_layer, with_latent
from attnviz.core.integer_example import INTEGER_EXAMPLE, draw_integer_example
from attnviz.core.masks import MASKS, REASONS
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.online_softmax import Running
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.scores import Softcap
from attnviz.core.operations.softmax import Softmax, SumNormalise
from attnviz.core.order import ACTIVATIONS, NORMS, RELU, RMS_NORM, Activation, LayerConfig, Norm
from attnviz.core.parameters import LATENT_AXES, Origin, Parameters
from attnviz.core.settings import Settings
from attnviz.core.stage import Stage, name_in_layer
from attnviz.core.tokens import labels
from attnviz.core.trace import Trace

SINKS = {"none": "", "zero": "0 in each head: softmax plus one", "drawn": "drawn from N(0, 1) by the seed {seed}"}


def embedded_stages(tokens: tuple[str, ...], settings: Settings, *, context: bool = False) -> dict[str, Stage]:
    """The stages from a sentence to the input of the projections."""
    embeddings = embed(tokens, settings.d_model, settings.seed)
    encode = POSITIONS[settings.positions]
    positions = encode and (encode(len(tokens), settings.d_model), f"{settings.positions} encoding of the position")
    recipe = f"drawn from N(0, 1) by the word and the seed {settings.seed}"
    return input_stages((embeddings, recipe), positions, context=context)


def draw_parameters(settings: Settings, layer: int) -> Parameters:
    """The parameters of a layer, drawn by the initialiser.

    Heads that share keys and values have the matrices of the first of them; latents have their own.
    """
    name, seed = settings.initialiser, settings.seed
    parameters = INITIALISERS[name](settings.d_model, settings.n_heads, seed, layer)
    if settings.has_latents:
        widths = (settings.latent_width, settings.query_latent_width)
        parameters = with_latent(name, parameters, widths, settings.n_rotated, seed, layer)
    elif settings.shared_by > 1:
        parameters = replace(
            parameters, **{each: getattr(parameters, each)[:: settings.shared_by] for each in ("w_k", "w_v")}
        )
    if settings.sinks == "none":
        return parameters
    random = stream_in_layer("sinks", seed, layer)
    is_drawn = settings.sinks == "drawn"
    return replace(
        parameters, sinks=random.standard_normal(settings.n_heads) if is_drawn else np.zeros(settings.n_heads)
    )


def stage_sources(settings: Settings, seed: int) -> dict[str, str]:
    """The source of each given stage of each layer."""
    drawn = f"drawn by the initialiser “{settings.initialiser}” from the seed {seed}"
    by_stage: dict[str, str] = {}
    for layer in range(1, settings.layers + 1):
        name = settings.mask_in_layer(layer)
        of_layer = {
            **dict.fromkeys(("w_q", "w_k", "w_v", "w_o", *LATENT_AXES), drawn),
            "sinks": SINKS[settings.sinks].format(seed=settings.seed),
            "mask": f"the mask “{name}”: {REASONS[name].format(size=settings.mask_size)}",
        }
        number = layer if settings.layers > 1 else 0
        by_stage |= {name_in_layer(each, number): recipe for each, recipe in of_layer.items()}
    return by_stage


def trace_of(settings: Settings | str) -> Trace:
    """The pass that the settings describe, from the words to the output.

    Parameters
    ----------
    settings : Settings or str
        A sentence alone stands for its settings with all defaults.

    Returns
    -------
    Trace
        The stages of `attend`, after embeddings and positions, with words along the axes of tokens, queries and keys.
        Several layers form a residual stream.

    Raises
    ------
    SettingsError
        If it is neither, or the sentence has no words, too many, or more characters than `Settings` allows.

    Examples
    --------
    >>> from attnviz import trace_of
    >>> trace = trace_of("the cat sat")
    >>> trace["attention"].axes, trace["attention"].shape
    (('head', 'query', 'key'), (2, 3, 3))
    >>> trace["attention"][0].round(2)  # of the first head; each row adds up to 1
    array([[0.66, 0.24, 0.1 ],
           [0.11, 0.04, 0.85],
           [0.03, 0.83, 0.14]])
    """
    settings = Settings(settings) if isinstance(settings, str) else settings
    if not isinstance(settings, Settings):
        raise SettingsError(
            f'trace_of takes a sentence or Settings, as in trace_of(Settings("the cat", mask="causal")); got '
            f"{quoted(settings)}."
        )
    example = None
    if settings.initialiser == INTEGER_EXAMPLE:
        example = draw_integer_example(settings.tokens, settings.d_model, settings.seed)
        recipe = (
            f"0, 1 or 2, drawn by the word and the seed {example.seed} until the whole pass is easy to compute by hand"
        )
        x = input_stages((example.embeddings, recipe), None)
    else:
        x = embedded_stages(settings.tokens, settings)
    context = {} if settings.context is None else embedded_stages(settings.context_tokens, settings, context=True)
    layers, sizes = range(1, settings.layers + 1), (len(settings.tokens), len(settings.context_tokens))
    trace = attend(
        x["x"].value,
        context["context"].value if context else None,
        parameters=example.parameters if example else [draw_parameters(settings, layer) for layer in layers],
        mask=tuple(MASKS[settings.mask_in_layer(layer)](*sizes, settings.mask_size) for layer in layers),
        scale=example.scale if example else None if settings.scaled else 1.0,
        residual=settings.layers > 1,
        norm=None if settings.norm == "none" else settings.norm,
        qk_norm=settings.qk_norm and not settings.has_latents,
        rotation=tuple(settings.rotation_in_layer(layer) for layer in layers),
        softcap=None if settings.softcap == "none" else float(settings.softcap),
        alibi=settings.alibi,
        block_size=None if settings.blocks == "none" else int(settings.blocks),
        absorbed=settings.sharing == "absorbed",
    )
    words, context_words = labels(settings.tokens), labels(settings.context_tokens)
    decisive = [value for name, value in vars(settings).items() if name != "seed"]  # the seed decides only the numbers
    return (
        trace.with_first_stages([*x.values(), *context.values()])
        .with_sources(stage_sources(settings, example.seed if example else settings.seed))
        .labelled(token=words, query=words, key=context_words, context_token=context_words)
        .with_origin(Origin("drawn"))
        .with_template((*decisive, example and example.base))
    )


def attend(
    x: np.ndarray,
    context: np.ndarray | None = None,
    *,
    parameters: Parameters | Sequence[Parameters],
    mask: np.ndarray | tuple[np.ndarray | None, ...] | None = None,
    scale: float | None = None,
    normalise: type[Softmax | SumNormalise] = Softmax,
    residual: bool | Sequence[bool] = False,
    norm: Norm | str | None = None,
    activation: Activation | str = RELU,
    qk_norm: RMSNorm | bool = False,
    rotation: Rotation | Sequence[Rotation | None] | None = None,
    softcap: float | None = None,
    alibi: bool = False,
    block_size: int | None = None,
    absorbed: bool = False,
    latent_norm: RMSNorm = RMS_NORM,
    w_u: np.ndarray | None = None,
) -> Trace:
    """Multi-head scaled dot-product attention, in one layer or several, with every stage kept.

    A layer whose parameters include an MLP is a whole transformer block.

    The arrays are copied, so you may modify yours afterwards. A stage is computed at first use and kept. Only if the
    arrays are so large that a stage may exceed float64 is it computed now; reading a stage never raises.

    Parameters
    ----------
    x : ndarray (tokens, d_in)
        The input of the queries.
    context : ndarray (context tokens, d_context), optional
        The input of keys and values; `x` by default (self-attention).
    parameters : Parameters, or a sequence of them
        The parameters of the layer, or of each layer. Absent projections are skipped.
    mask : ndarray (queries, keys) or (heads, queries, keys), optional
        Boolean, True where the key is visible; or float, added to the scaled scores (-inf allowed). Without it every
        key is visible. A tuple has one for each layer.
    scale : float, optional
        The factor of the scores; 1 / sqrt(d_k) by default, 1.0 switches scaling off.
    normalise : {Softmax, SumNormalise}
        The operation from masked scores to attention weights.
    residual : bool, or one for each layer
        Whether a layer adds its output to its input, and its MLP's output to that; else only the output is passed on.
    norm : RMSNorm or LayerNorm, or "rmsnorm" or "layernorm", optional
        The norm before attention and before the MLP.
    activation : ReLU or GELU, or "relu", "relu2" or "gelu"
        The function between the two matrices of the MLP.
    qk_norm : bool or RMSNorm
        Whether each query and key is normed; or the norm, to choose its epsilon.
    rotation : Rotation, or a list with one or None for each layer, optional
        RoPE for queries and keys.
    softcap : float, optional
        The limit c: scores become c tanh(score / c).
    alibi : bool
        Whether scores fall with the distance of the key.
    block_size : int, optional
        How many keys a query reads at once, with a running maximum, sum and output (FlashAttention); all by default.
    absorbed : bool
        With latents (MLA): whether the matrices from latents to keys and values are applied to queries and to the
        heads' outputs instead. The output is the same, and only latents need to be cached.
    latent_norm : RMSNorm
        The norm of all latents.
    w_u : ndarray (d_out, answers), optional
        The unembedding, from the last layer's output to a logit for each answer.

    Returns
    -------
    Trace
        x, (context), parameters, q, k, v, scores, scaled, mask, masked, attention, heads, concat. With `w_o` also
        contributions and output, with `residual` also residual. With norms attn_norm and mlp_norm; q_normed, k_normed,
        q_rotated and k_rotated; capped and biased; sink_share, running_max, running_sum and running_output, as the
        options ask for. With latents compressed and latent, q_compressed and q_latent, q_r, k_r and the scores of both
        parts; absorbed, q_absorbed and latent_heads replace k and v. With an MLP hidden, active, mlp and mlp_residual;
        with `w_u` logits and probabilities. Several layers have numbered stages, such as scores_2; a single mask is
        shared.

    Raises
    ------
    ArrayError
        If shapes don't fit each other, an option has an invalid value, or a number of any stage is not finite.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", equation 1 and section 3.2.2. Attention layers on a residual
    stream, and the unembedding: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits". A block with
    norms before its two parts: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners". Latents and
    absorbed matrices: DeepSeek-AI 2024, "DeepSeek-V2", section 2.1. ALiBi: Press et al. 2022, "Train Short, Test Long".
    Softcap: Gemma Team 2024, "Gemma 2", section 2. Blocks: Dao et al. 2022, "FlashAttention", algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import Parameters, attend
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # 3 tokens
    >>> trace = attend(x, parameters=Parameters(), mask=np.tri(3, dtype=bool))  # causal, without matrices
    >>> trace["attention"][0].round(2)
    array([[1.  , 0.  , 0.  ],
           [0.33, 0.67, 0.  ],
           [0.25, 0.25, 0.5 ]])
    >>> trace["concat"].value.round(2)  # each row mixes the rows of x with these weights
    array([[1.  , 0.  ],
           [0.33, 0.67],
           [0.75, 0.75]])
    """
    layers = _layers_of(parameters)
    adds = _for_each_layer("residual", residual, len(layers), (list, tuple))
    masks = _for_each_layer("mask", mask, len(layers), tuple)
    rotations = _for_each_layer("rotation", rotation, len(layers), (list, tuple))
    for name, switch in (*(("residual", each) for each in adds), ("alibi", alibi), ("absorbed", absorbed)):
        check_bool(name, switch)
    for each in rotations:
        check_type("rotation", each, Rotation | None, 'Rotation(), Rotation(500_000, "halves") or None')
    check_type("qk_norm", qk_norm, RMSNorm | LayerNorm | bool | None, "True, False or RMSNorm()")
    check_type("latent_norm", latent_norm, RMSNorm, "RMSNorm()")
    if not (isinstance(normalise, type) and issubclass(normalise, Softmax | SumNormalise)):
        raise ArrayError(f"normalise must be the class Softmax or SumNormalise; got {quoted(normalise)}.")
    norm = None if norm is None else by_name("norm", norm, NORMS)
    activation = by_name("activation", activation, ACTIVATIONS)
    scale = checked_scale(scale, softcap)
    if block_size is not None:
        Running(block_size)
    has_layer_masks = isinstance(mask, tuple)
    build = Builder()
    build.add_given(Stage.given("x", real("x", x, ("tokens", "d_in")), ("token", "d_model")))
    if context is not None:
        value = real("context", context, ("context tokens", "d_context"))
        build.add_given(Stage.given("context", value, ("context token", "d_model")))
    passed_on = "x"
    for number, (each, is_residual) in enumerate(zip(layers, adds, strict=True), start=1):
        if len(layers) > 1:
            build.begin_layer(number, x=passed_on, context=None if context is None else "context")
        config = LayerConfig(
            each.n_heads,
            d_k=each.d_k or build["x"].shape[-1],
            scale=scale,
            normalise=normalise,
            attn_norm=norm,
            mlp_norm=norm if each.w_hidden is not None else None,
            residual=is_residual,
            activation=activation,
            qk_norm=RMS_NORM if qk_norm is True else qk_norm or None,
            rotation=rotations[number - 1],
            softcap=softcap,
            alibi=alibi,
            block_size=block_size,
            latent_norm=latent_norm,
            expanded=not absorbed,
            absorbed=absorbed,
            decoupled=each.w_qr is not None,
            unprojected=not each.has_latents,
        )
        passed_on = add_layer_with(build, each, config, masks[number - 1], is_layer_mask=has_layer_masks)
    if w_u is not None:
        build.begin_layer(0, x=passed_on)
        unembed(build, w_u)
    return Trace(tuple(build.stages.values()), {})


def attend_projected(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    *,
    mask: np.ndarray | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: np.ndarray | None = None,
) -> Trace:
    """`attend` from its stage q on, for given queries, keys and values.

    Parameters
    ----------
    q : ndarray (heads, queries, d_k)
    k : ndarray (heads or groups, keys, d_k)
    v : ndarray (heads or groups, keys, d_v)
        With fewer groups than heads, consecutive heads share a group (their number is a multiple).
    mask, scale, softcap
        As in `attend`.
    sinks : ndarray (heads,), optional
        As in `Parameters`.

    Raises
    ------
    ArrayError
        If shapes do not fit each other, or a number is not finite.
    """
    build = Builder()
    shared = "head" if np.shape(k)[:1] == np.shape(q)[:1] else "group"
    given: list[tuple[str, np.ndarray, tuple[str, ...]]] = [
        ("q", q, ("head", "query", "d_k")),
        ("k", k, (shared, "key", "d_k")),
        ("v", v, (shared, "key", "d_v")),
    ]
    if sinks is not None:
        given.append(("sinks", sinks, ("head",)))
    for name, value, axes in given:
        build.add_given(Stage.given(name, real(name, value, axes), axes))
    n_heads, _, d_k = build["q"].shape
    if build["k"].shape[:2] != build["v"].shape[:2] or n_heads % len(build["k"]):
        raise ArrayError(
            f"k and v must have the same number of keys, and as many heads as q, or both one number of groups that "
            f"divides it; got q {build['q'].shape}, k {build['k'].shape} and v {build['v'].shape}."
        )
    if sinks is not None and build["sinks"].shape != (n_heads,):
        raise ArrayError(f"sinks must hold a number for each of {n_heads} heads; got {build['sinks'].shape}.")
    scale = checked_scale(scale, softcap)
    add_layer(build, LayerConfig(n_heads, d_k=d_k, scale=scale, softcap=softcap), mask)
    return Trace(tuple(build.stages.values()), {})


def checked_scale(scale: object, softcap: float | None) -> float | None:
    """The factor of the scores as a float, None by default; ArrayError if it or the softcap isn't a number for that."""
    if softcap is not None:
        Softcap(softcap)
    return None if scale is None else as_number("scale", scale)


def _layers_of(parameters: object) -> tuple[Parameters, ...]:
    layers = tuple(parameters) if isinstance(parameters, list | tuple) else (parameters,)
    if layers and all(isinstance(each, Parameters) for each in layers):
        return layers
    came = ", ".join(map(quoted, layers)) or "none"
    raise ArrayError(
        "parameters must be Parameters, as Parameters(w_q=..., w_k=..., w_v=...) is, or a list of them with one for "
        f"each layer; got {came}."
    )


def _for_each_layer(name: str, given: Any, n_layers: int, several: Any) -> tuple[Any, ...]:
    """What is given for each layer, or for all."""
    if not isinstance(given, several):
        return (given,) * n_layers
    if len(given) != n_layers:
        raise ArrayError(f"A {type(given).__name__} as {name} has one for each of {n_layers} layers; got {len(given)}.")
    return tuple(given)


_Known = TypeVar("_Known")


def by_name(what: str, given: _Known | str, known: Mapping[str, _Known]) -> _Known:
    """The operation with this name; an operation is returned unchanged. ArrayError for anything else."""
    if not isinstance(given, str) and isinstance(given, tuple({type(each) for each in known.values()})):
        return given
    if isinstance(given, str) and given in known:
        return known[given]
    operation = f"{type(next(iter(known.values()))).__name__}()"
    raise ArrayError(
        f"{what} is one of {', '.join(known)}, or an operation such as {operation}; got {quoted(given)}."
        f"{did_you_mean(given, known)}"
    )
