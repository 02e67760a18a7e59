"""Initialisers: where the parameters of an untrained model come from."""

import math
from collections.abc import Callable

from attnviz.core import torchstream
from attnviz.core.parameters import Parameters, banded
from attnviz.core.streams import stream


def normal(d_model: int, n_heads: int, seed: int) -> Parameters:
    """N(0, 1 / d_model): keeps the spread of the scaled scores near 1 at every size."""
    return _drawn(d_model, n_heads, seed, lambda random, shape, _: random.normal(0, d_model**-0.5, shape))


def xavier(d_model: int, n_heads: int, seed: int) -> Parameters:
    """Uniform on +-sqrt(6 / (rows + columns)) of each head's own matrix (Glorot and Bengio 2010, equation 16)."""

    def draw(random, shape, columns):
        limit = math.sqrt(6 / (d_model + columns))
        return random.uniform(-limit, limit, shape)

    return _drawn(d_model, n_heads, seed, draw)


def uniform(d_model: int, n_heads: int, seed: int) -> Parameters:
    """Uniform on [0, 1): every score is large and positive, so attention is nearly one-hot."""
    return _drawn(d_model, n_heads, seed, lambda random, shape, _: random.random_sample(shape))


def standard_normal(d_model: int, n_heads: int, seed: int) -> Parameters:
    """N(0, 1): the scores spread by a factor of d_model, so attention is one-hot."""
    return _drawn(d_model, n_heads, seed, lambda random, shape, _: random.standard_normal(shape))


def pytorch(d_model: int, n_heads: int, seed: int) -> Parameters:
    """The matrices of `torch.manual_seed(seed); torch.nn.MultiheadAttention(d_model, n_heads)` on a CPU.

    Bit for bit, without torch. Its biases start as zeros, so none are given.
    `out_proj` is made first, as `nn.Linear` makes itself (weight and bias both
    uniform on +-1 / sqrt(d_model); the bias is then thrown away for zeros); then
    `in_proj_weight`, rows q, k, v, Xavier uniform over its own 3 * d_model + d_model.
    torch keeps a matrix as (outputs, inputs) and multiplies by its transpose.
    """
    random = torchstream.seeded(seed)
    out_weight = torchstream.linear(random, d_model, d_model)
    torchstream.uniform(random, 1 / math.sqrt(d_model), (d_model,))
    glorot = math.sqrt(3.0) * math.sqrt(2.0 / (d_model + 3 * d_model))
    in_weight = torchstream.uniform(random, glorot, (3, d_model, d_model))
    w_q, w_k, w_v = (banded(rows.T, n_heads) for rows in in_weight)
    return Parameters(w_q=w_q, w_k=w_k, w_v=w_v, w_o=out_weight.T)


def _drawn(d_model: int, n_heads: int, seed: int, draw: Callable) -> Parameters:
    """Draw W_Q, W_K, W_V and W_O whole, each from a stream of its own, and cut the first three into bands.

    `draw(random, shape, columns)` gets the columns of the matrix that is used at once.
    Drawn whole, the big matrices stay the same numbers when the number of heads changes.
    """
    d_k = d_model // n_heads
    shape = (d_model, d_model)
    w_q, w_k, w_v = (banded(draw(stream(name, seed), shape, d_k), n_heads) for name in ("w_q", "w_k", "w_v"))
    return Parameters(w_q=w_q, w_k=w_k, w_v=w_v, w_o=draw(stream("w_o", seed), shape, d_model))


INITIALISERS: dict[str, Callable[[int, int, int], Parameters]] = {
    "normal": normal,
    "xavier": xavier,
    "uniform": uniform,
    "standard normal": standard_normal,
    "pytorch": pytorch,
}
"""Initialisers by name: `(d_model, n_heads, seed)` to `Parameters`."""
