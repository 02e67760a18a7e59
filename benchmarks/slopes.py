"""The slopes of the loss of two models, each derivative written by hand, for `benchmarks.training`."""

from __future__ import annotations

import numpy as np

from attnviz.models.task import Batch

Arrays = dict[str, np.ndarray]

N_HEADS = 4
TINY = 1e-5  # under the root of RMSNorm


def softmax(z: np.ndarray) -> np.ndarray:
    """Along the last axis."""
    exponentials = np.exp(z - z.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def of_one_head(parameters: Arrays, batch: Batch) -> Arrays:
    """Of "who-is-it": one layer of one head, without a residual stream."""
    embedding, w_u, w_o = parameters["embeddings"], parameters["w_u"], parameters["w_o"]
    w_q, w_k, w_v = (parameters[name][0] for name in ("w_q", "w_k", "w_v"))
    root = np.sqrt(w_q.shape[1])
    x = embedding[batch.tokens]
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    attention = softmax(q @ k.swapaxes(1, 2) / root)
    heads = attention @ v
    output = heads @ w_o
    d_logits = _of_logits(output @ w_u, batch)
    d_output = d_logits @ w_u.T
    d_heads = d_output @ w_o.T
    d_scores = _through_softmax(attention, d_heads @ v.swapaxes(1, 2)) / root
    d_q, d_k, d_v = d_scores @ k, d_scores.swapaxes(1, 2) @ q, attention.swapaxes(1, 2) @ d_heads
    d_embedding = np.zeros_like(embedding)
    np.add.at(d_embedding, batch.tokens, d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T)
    return {
        "embeddings": d_embedding,
        **{name: _of_matrix(x, d)[None] for name, d in (("w_q", d_q), ("w_k", d_k), ("w_v", d_v))},
        "w_o": _of_matrix(heads, d_output),
        "w_u": _of_matrix(output, d_logits),
    }


def of_microgpt(parameters: Arrays, batch: Batch) -> Arrays:
    """Of microgpt: RMSNorm, four heads and an MLP of a residual stream, causal."""
    n_texts, n = batch.tokens.shape
    w_o, w_hidden, w_mlp, w_u = (parameters[name] for name in ("w_o", "w_hidden", "w_mlp", "w_u"))
    w_q, w_k, w_v = (np.concatenate(parameters[name], axis=1) for name in ("w_q", "w_k", "w_v"))

    def parted(rows: np.ndarray) -> np.ndarray:
        return rows.reshape(n_texts, n, N_HEADS, -1).swapaxes(1, 2)

    def joined(heads: np.ndarray) -> np.ndarray:
        return heads.swapaxes(1, 2).reshape(n_texts, n, -1)

    embedded = parameters["embeddings"][batch.tokens] + parameters["positions"][:n]
    x, of_x = _normed(embedded)
    read, of_read = _normed(x)
    q, k, v = (parted(read @ w) for w in (w_q, w_k, w_v))
    root = np.sqrt(q.shape[-1])
    attention = softmax(np.where(np.tri(n, dtype=bool), q @ k.swapaxes(2, 3) / root, -np.inf))
    found = joined(attention @ v)
    residual = x + found @ w_o
    fed, of_fed = _normed(residual)
    hidden = fed @ w_hidden
    active = np.maximum(hidden, 0)
    output = residual + active @ w_mlp

    d_logits = _of_logits(output @ w_u, batch)
    d_output = d_logits @ w_u.T
    d_hidden = (d_output @ w_mlp.T) * (hidden > 0)
    d_residual = d_output + of_fed(d_hidden @ w_hidden.T)
    d_heads = parted(d_residual @ w_o.T)
    d_scores = _through_softmax(attention, d_heads @ v.swapaxes(2, 3)) / root
    d_q, d_k, d_v = map(joined, (d_scores @ k, d_scores.swapaxes(2, 3) @ q, attention.swapaxes(2, 3) @ d_heads))
    d_embedded = of_x(d_residual + of_read(d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T))
    d_embeddings, d_positions = (np.zeros_like(parameters[name]) for name in ("embeddings", "positions"))
    np.add.at(d_embeddings, batch.tokens, d_embedded)
    d_positions[:n] = d_embedded.sum(axis=0)
    of_heads = {name: _of_matrix(read, d) for name, d in (("w_q", d_q), ("w_k", d_k), ("w_v", d_v))}
    return {
        "embeddings": d_embeddings,
        "positions": d_positions,
        **{name: np.stack(np.split(each, N_HEADS, axis=1)) for name, each in of_heads.items()},
        "w_o": _of_matrix(found, d_residual),
        "w_hidden": _of_matrix(fed, d_hidden),
        "w_mlp": _of_matrix(active, d_output),
        "w_u": _of_matrix(output, d_logits),
    }


def _of_logits(logits: np.ndarray, batch: Batch) -> np.ndarray:
    d_logits = softmax(logits)
    right = batch.answers[..., None]
    np.put_along_axis(d_logits, right, np.take_along_axis(d_logits, right, -1) - 1, -1)
    return d_logits * (batch.asked / batch.asked.sum())[..., None]


def _through_softmax(shares: np.ndarray, d_shares: np.ndarray) -> np.ndarray:
    return shares * (d_shares - (d_shares * shares).sum(axis=-1, keepdims=True))


def _normed(x: np.ndarray):
    """The rows by RMSNorm, and the function that their slopes come back through."""
    scale = ((x * x).mean(axis=-1, keepdims=True) + TINY) ** -0.5

    def back(d: np.ndarray) -> np.ndarray:
        return scale * d - x * scale**3 * (d * x).mean(axis=-1, keepdims=True)

    return x * scale, back


def _of_matrix(rows: np.ndarray, d_columns: np.ndarray) -> np.ndarray:
    return rows.reshape(-1, rows.shape[-1]).T @ d_columns.reshape(-1, d_columns.shape[-1])
