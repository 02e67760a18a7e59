"""Initialisers: embeddings, positions and parameters, drawn by name and seed."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from attnviz.core.parameters import Parameters, split_heads
from attnviz.core.rng import stream, torch_linear, torch_seeded, torch_uniform
from attnviz.core.stage import name_in_layer


def embed(tokens: Sequence[str], d_model: int, seed: int) -> np.ndarray:
    """One vector of N(0, 1) numbers for each token, shape (tokens, d_model).

    A row depends only on its word and the seed, not on its place or the other words; a smaller `d_model` gives the
    beginning of the same vector.
    """
    return np.array([stream(f"token {token}", seed).standard_normal(d_model) for token in tokens])


def sinusoidal(n_tokens: int, d_model: int) -> np.ndarray:
    """Position vectors, shape (tokens, d_model).

    PE[p, 2i] = sin(p / 10000^(2i / d_model)) and PE[p, 2i + 1] the cosine of the same angle (Vaswani et al. 2017,
    section 3.5); an odd `d_model` ends on a sine.
    """
    place = np.arange(n_tokens)[:, None]
    feature = np.arange(d_model)[None, :]
    angle = place / 10000.0 ** (2 * (feature // 2) / d_model)
    return np.where(feature % 2 == 0, np.sin(angle), np.cos(angle))


POSITIONS: dict[str, Callable[[int, int], np.ndarray] | None] = {"none": None, "sinusoidal": sinusoidal}
"""Position encodings by name: `(n_tokens, d_model)` to an array (n_tokens, d_model), or None to add nothing."""


def _normal(random, shape, columns):
    """N(0, 1 / d_model): keeps the spread of the scaled scores near 1 at every size."""
    return random.normal(0, shape[0] ** -0.5, shape)


def _xavier(random, shape, columns):
    """Uniform on +-sqrt(6 / (rows + columns)) of each head's own matrix (Glorot and Bengio 2010, equation 16)."""
    limit = math.sqrt(6 / (shape[0] + columns))
    return random.uniform(-limit, limit, shape)


def _uniform(random, shape, columns):
    """Uniform on [0, 1): every score is large and positive, so attention is nearly one-hot."""
    return random.random_sample(shape)


def _standard_normal(random, shape, columns):
    """N(0, 1): the scores spread by a factor of d_model, so attention is one-hot."""
    return random.standard_normal(shape)


def _linear(random, shape, columns):
    """Those of `torch.nn.Linear`, for latents, which `torch.nn.MultiheadAttention` doesn't have."""
    return random.uniform(-(shape[0] ** -0.5), shape[0] ** -0.5, shape)


DRAWS: dict[str, Callable] = {
    "normal": _normal,
    "xavier": _xavier,
    "uniform": _uniform,
    "standard normal": _standard_normal,
    "pytorch": _linear,
}
"""How each initialiser draws a matrix: `draw(random, shape, columns)`, with the columns of one head."""


def pytorch(d_model: int, n_heads: int, seed: int, layer: int = 1) -> Parameters:
    """The matrices of `torch.manual_seed(seed); torch.nn.MultiheadAttention(d_model, n_heads)` on a CPU.

    Bit for bit, without torch; a second layer has those of the next module. Biases start as zeros, so there are none.
    `out_proj` is drawn first, like any `nn.Linear` (weight and bias both uniform on +-1 / sqrt(d_model); the bias is
    then replaced by zeros); then `in_proj_weight`, rows q, k, v, Xavier uniform over its 3 * d_model + d_model. torch
    stores a matrix as (outputs, inputs) and multiplies by its transpose.
    """
    random = torch_seeded(seed)
    for _ in range(1, layer):
        _module(random, d_model, n_heads)
    return _module(random, d_model, n_heads)


def _module(random: np.random.RandomState, d_model: int, n_heads: int) -> Parameters:
    out_weight = torch_linear(random, d_model, d_model)
    torch_uniform(random, 1 / math.sqrt(d_model), (d_model,))
    glorot = math.sqrt(3.0) * math.sqrt(2.0 / (d_model + 3 * d_model))
    in_weight = torch_uniform(random, glorot, (3, d_model, d_model))
    w_q, w_k, w_v = (split_heads(rows.T, n_heads) for rows in in_weight)
    return Parameters(w_q=w_q, w_k=w_k, w_v=w_v, w_o=out_weight.T)


def stream_in_layer(name: str, seed: int, layer: int) -> np.random.RandomState:
    """The random stream of a parameter in a layer; the first layer has that of a single-layer pass."""
    return stream(name_in_layer(name, layer) if layer > 1 else name, seed)


def _drawn(draw: Callable, d_model: int, n_heads: int, seed: int, layer: int = 1) -> Parameters:
    """Draw W_Q, W_K, W_V and W_O, each from its own stream, and split the first three into heads.

    Drawn before splitting, the matrices don't depend on the number of heads.
    """
    d_k = d_model // n_heads
    shape = (d_model, d_model)

    def whole(name: str, columns: int) -> np.ndarray:
        return draw(stream_in_layer(name, seed, layer), shape, columns)

    w_q, w_k, w_v = (split_heads(whole(name, d_k), n_heads) for name in ("w_q", "w_k", "w_v"))
    return Parameters(w_q=w_q, w_k=w_k, w_v=w_v, w_o=whole("w_o", d_model))


def with_latent(
    initialiser: str, drawn: Parameters, widths: tuple[int, int], d_r: int, seed: int, layer: int = 1
) -> Parameters:
    """Replace the keys' and values' matrices by those of a latent for each token.

    `widths` are those of the latents and of the queries' latents (0 for none). d_r is the length of an additional part
    of queries and keys that is rotated.
    """
    n_heads, d_model, d_k = drawn.stages["w_k"].shape

    def draw(name: str, rows: int, columns: int, bands: int = n_heads) -> np.ndarray:
        whole = DRAWS[initialiser](stream_in_layer(name, seed, layer), (rows, bands * columns), columns)
        return split_heads(whole, bands)

    width, q_width = widths
    projections: dict[str, np.ndarray | None] = {"w_dkv": draw("w_dkv", d_model, width, 1)}
    projections |= {name: draw(name, width, d_k) for name in ("w_uk", "w_uv")}
    if q_width:
        projections |= {"w_q": None, "w_dq": draw("w_dq", d_model, q_width, 1)[0], "w_uq": draw("w_uq", q_width, d_k)}
    if d_r:
        projections |= {"w_qr": draw("w_qr", q_width or d_model, d_r), "w_kr": draw("w_kr", d_model, d_r, 1)}
    return replace(drawn, w_k=None, w_v=None, **projections)


INITIALISERS: dict[str, Callable[..., Parameters]] = {
    **{name: partial(_drawn, draw) for name, draw in DRAWS.items()},
    "pytorch": pytorch,
}
"""Initialisers by name: `(d_model, n_heads, seed, layer=1)` to `Parameters`."""
