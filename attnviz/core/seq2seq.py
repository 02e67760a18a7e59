"""An encoder and a decoder in one pass: the decoder's cross-attention reads what the encoder makes of another text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from attnviz.core.arguments import check_bool, quoted
from attnviz.core.arrays import real
from attnviz.core.assembly import Builder, add_layer_with, unembed
from attnviz.core.attention import by_name
from attnviz.core.errors import ArrayError
from attnviz.core.operations.norms import LayerNorm
from attnviz.core.order import ACTIVATIONS, NORMS, RELU, Activation, LayerConfig, Norm
from attnviz.core.parameters import Parameters
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace


def attend_seq2seq(
    source: np.ndarray,
    target: np.ndarray,
    *,
    encoder: Sequence[Parameters],
    decoder: Sequence[tuple[Parameters, Parameters]],
    source_mask: np.ndarray | None = None,
    target_mask: np.ndarray | None = None,
    cross_mask: np.ndarray | None = None,
    norm: Norm | str | None = None,
    memory_norm: bool = True,
    g_memory: np.ndarray | None = None,
    b_memory: np.ndarray | None = None,
    activation: Activation | str = RELU,
    w_u: np.ndarray | None = None,
) -> Trace:
    """A Transformer's encoder and decoder, as in translation, with every stage kept.

    Every layer is residual and pre-norm. Layers are numbered consecutively: the encoder's, then for each layer of the
    decoder its self-attention and its cross-attention.

    Parameters
    ----------
    source : ndarray (source tokens, d_model)
        The vectors of the text that the encoder reads.
    target : ndarray (target tokens, d_model)
        The vectors of the text that the decoder writes.
    encoder : sequence of Parameters
        The parameters of each layer of the encoder.
    decoder : sequence of pairs of Parameters
        For each layer of the decoder, the parameters of its self-attention and of its cross-attention. Its MLP goes
        with the latter.
    source_mask, target_mask, cross_mask : ndarray, optional
        As `mask` of `attend`: (source, source), (target, target) and (target, source). By default the
        encoder and the cross-attention see every word, and a target word sees itself and the words before it.
    norm : RMSNorm or LayerNorm, or "rmsnorm" or "layernorm", optional
        The norm before attention and before each MLP.
    memory_norm : bool
        Whether the encoder's output is normed, too.
    g_memory, b_memory : ndarray (d_model,), optional
        The gain of that norm, and the bias if it is a LayerNorm.
    activation : ReLU or GELU, or "relu", "relu2" or "gelu"
        The function between the two matrices of the MLPs.
    w_u : ndarray (d_model, answers), optional
        The unembedding, from the decoder's output to a logit for each answer.

    Returns
    -------
    Trace
        `context` is the source and `x` the target. The layers' stages are numbered, as `attend` names them; `memory` is
        the normed output of the encoder, from which each cross-attention takes its keys and values.

    Raises
    ------
    ArrayError
        If there is no layer, if shapes don't fit each other, or a number of any stage is not finite.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.1 and figure 1. Norms before attention: Xiong et al.
    2020, "On Layer Normalization in the Transformer Architecture".

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import Parameters, attend_seq2seq
    >>> eye = np.eye(2)
    >>> each = Parameters(w_o=eye)
    >>> trace = attend_seq2seq(eye, eye[:1], encoder=[each], decoder=[(each, each)], norm="rmsnorm")
    >>> [trace[f"attention_{layer}"].shape for layer in (1, 2, 3)]
    [(1, 2, 2), (1, 1, 1), (1, 1, 2)]
    >>> trace["k_3"].inputs
    ('memory',)

    Label the axes of all layers, or of single ones:

    >>> english, french = ["cat", "sleeps"], ["chat"]
    >>> labelled = trace.labelled(query=french, key=french, query_1=english, key_1=english, key_3=english)
    >>> labelled.name_of(labelled["attention_3"].cell((0, 0, 1)))
    'attention_3[head 1, chat, sleeps]'
    """
    norm = None if norm is None else by_name("norm", norm, NORMS)
    activation = by_name("activation", activation, ACTIVATIONS)
    check_bool("memory_norm", memory_norm)
    affine = {"g_memory": g_memory, "b_memory": b_memory}
    _check_layers(encoder, decoder)
    if memory_norm and norm is None:
        raise ArrayError("memory_norm is the same kind of norm as the others; got no norm. Give one, or switch it off.")
    for name, given in affine.items():
        if given is not None and not memory_norm:
            raise ArrayError(f"{name} belongs to the norm of the encoder's output; got memory_norm=False.")
    build = Builder()
    build.add_given(Stage.given("context", real("source", source, ("tokens", "d_model")), ("context token", "d_model")))
    build.add_given(Stage.given("x", real("target", target, ("tokens", "d_model")), ("token", "d_model")))
    n_read, n_written = len(build.stages["context"].value), len(build.stages["x"].value)
    _check_mask("source_mask", source_mask, (n_read, n_read))
    _check_mask("target_mask", target_mask, (n_written, n_written))
    _check_mask("cross_mask", cross_mask, (n_written, n_read))
    number = 0

    def add(parameters: Parameters, mask: np.ndarray | None, x: str, context: str | None = None) -> str:
        """Add a layer, and return the name of the stage that leaves it."""
        nonlocal number
        number += 1
        build.begin_layer(number, x, context)
        config = LayerConfig(
            parameters.n_heads,
            d_k=parameters.d_k or build["x"].shape[-1],
            attn_norm=norm,
            mlp_norm=norm if parameters.w_hidden is not None else None,
            residual=True,
            activation=activation,
        )
        return add_layer_with(build, parameters, config, mask, is_layer_mask=True)

    read = "context"
    for each in encoder:
        read = add(each, source_mask, read)
    if memory_norm and norm is not None:
        read = _normed(build, read, norm, affine)
    written = "x"
    for own, cross in decoder:
        written = add(own, np.tri(n_written, dtype=bool) if target_mask is None else target_mask, written)
        written = add(cross, cross_mask, written, read)
    if w_u is not None:
        build.begin_layer(0, written)
        unembed(build, w_u)
    return Trace(tuple(build.stages.values()), {})


def _check_layers(encoder: Sequence, decoder: Sequence) -> None:
    """Raise ArrayError unless an encoder has parameters for each layer, and a decoder a pair of them."""
    layers, pairs = (tuple(each) if isinstance(each, Sequence) else () for each in (encoder, decoder))
    are_pairs = all(isinstance(each, Sequence) and len(each) == 2 for each in pairs)
    if layers and pairs and are_pairs and all(isinstance(each, Parameters) for each in chain(layers, *pairs)):
        return
    one, other = (
        [type(each).__name__ for each in given] if isinstance(given, Sequence) else quoted(given)
        for given in (encoder, decoder)
    )
    raise ArrayError(
        "An encoder is a list with the Parameters of each layer, at least one, and a decoder a list with a pair for "
        f"each, of self-attention and cross-attention; got {one} and {other}."
    )


def _check_mask(name: str, mask: np.ndarray | None, shape: tuple[int, int]) -> None:
    """Raise ArrayError unless a mask is for these queries and keys."""
    if mask is not None and np.shape(mask)[-2:] != shape:
        raise ArrayError(
            f"{name} must have the shape (queries, keys) = {shape}, or that for each head; got {np.shape(mask)}."
        )


def _normed(build: Builder, output: str, norm: Norm, affine: dict[str, np.ndarray | None]) -> str:
    """Add the norm of the encoder's output, and return its name."""
    build.begin_layer(0, output)
    width = build["x"].shape[-1:]
    if affine["b_memory"] is not None and (affine["g_memory"] is None or not isinstance(norm, LayerNorm)):
        raise ArrayError("b_memory is added after the gain of a LayerNorm; got another norm, or no g_memory.")
    for name, array in affine.items():
        if array is not None:
            stage = Stage.given(name, real(name, array, ("d_model",)), ("d_model",))
            if stage.shape != width:
                raise ArrayError(f"{name} must hold {width[0]} numbers, one for each of d_model; got {stage.shape}.")
            build.add_given(stage)
    build.add_computed(
        "memory", norm, build["x"], *(build[name] for name, array in affine.items() if array is not None)
    )
    return "memory"
