"""A step of training microgpt through the operations, and how many times that of a loop written by hand.

Run with `python -m benchmarks.training`. Both train the same model in this run,
ten steps in turns, and the best ten of each are taken, so that a busy machine
slows both alike.
"""

import sys
from collections.abc import Iterator
from itertools import islice
from time import perf_counter

import numpy as np

from attnviz.models.recipe import Recipe
from attnviz.models.recipes import RECIPES
from attnviz.models.task import Batch
from attnviz.models.training import batches, train

MAX_RATIO = 3
STEPS = 10  # of each, in turns
ROUNDS = 30
CHECKED = 50  # the step after which both have the same parameters
N_HEADS = 4
TINY = 1e-5  # under the root of RMSNorm

Arrays = dict[str, np.ndarray]


def softmax(z: np.ndarray) -> np.ndarray:
    """Along the last axis."""
    exponentials = np.exp(z - z.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def slopes_of(parameters: Arrays, batch: Batch) -> Arrays:
    """The slopes of the loss, each derivative written by hand: RMSNorm, four heads and an MLP, causal."""
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
    return d_logits * (batch.is_target / batch.is_target.sum())[..., None]


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


def train_by_hand(recipe: Recipe, seed: int) -> Iterator[Arrays]:
    """The parameters after 0, 1, 2, ... steps: those of `train`, but for rounding."""
    parameters = {name: array.copy() for name, array in recipe.untrained(seed).arrays.items()}
    means, squares = ({name: np.zeros_like(array) for name, array in parameters.items()} for _ in range(2))
    drawn, last, (of_mean, of_square) = batches(recipe, seed), recipe.steps, recipe.betas
    next(drawn)
    yield parameters
    for step, batch in enumerate(drawn, start=1):
        left = (last + 1 - step) / last
        rate = recipe.rate * (left if recipe.decay == "linear" else min(1, step / 20, 4 * left))
        for name, slope in slopes_of(parameters, batch).items():
            means[name] += (1 - of_mean) * (slope - means[name])
            squares[name] += (1 - of_square) * (slope * slope - squares[name])
            direction = means[name] / (1 - of_mean**step) / (np.sqrt(squares[name] / (1 - of_square**step)) + 1e-8)
            parameters[name] -= rate * direction
        yield parameters


def check(ours: Iterator, by_hand: Iterator) -> None:
    """Both trainings are the same one."""
    model, parameters = next(islice(zip(ours, by_hand, strict=True), CHECKED, None))
    assert model.arrays.keys() == parameters.keys()
    for name, array in model.arrays.items():
        assert np.allclose(array, parameters[name], atol=1e-6), f"the loop by hand trains another {name}"


def milliseconds(training: Iterator) -> float:
    """How long each of the next steps takes."""
    start = perf_counter()
    for _ in islice(training, STEPS):
        pass
    return (perf_counter() - start) / STEPS * 1e3


def main() -> int:
    """Print the figures; 1 if the operations take longer than their limit."""
    recipe = RECIPES["microgpt"]
    check(train(recipe, 0), train_by_hand(recipe, 0))
    both = train(recipe, 0), train_by_hand(recipe, 0)
    rounds = [[milliseconds(training) for training in both] for _ in range(ROUNDS)]
    ours, by_hand = map(min, zip(*rounds, strict=True))
    print(f"a step: {ours:.2f} ms, by hand {by_hand:.2f} ms: {ours / by_hand:.2f} times (limit {MAX_RATIO})")
    return 0 if ours / by_hand <= MAX_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
