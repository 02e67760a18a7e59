"""A step of training through the operations, and how many times that of a loop written by hand for the one model.

Run with `python -m benchmarks.training`. Both train "who-is-it" in this run,
ten steps in turns, and the best ten of each are taken, so that a busy machine
slows both alike. On the two cores it was written on the ratio was 1.6.
"""

import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from time import perf_counter

import numpy as np

from attnviz.core.streams import stream
from attnviz.models.recipes import RECIPES
from attnviz.models.training import train

MAX_RATIO = 3
STEPS = 10  # of each, in turns
RECIPE = RECIPES["who-is-it"]


def softmax(z):
    """Along the last axis."""
    exponentials = np.exp(z - z.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def slopes_by_hand(parameters, tokens, answers, asked):
    """The derivatives of the loss: every one written out, for one layer of one head."""
    embedding, w_u, w_o = parameters["embeddings"], parameters["w_u"], parameters["w_o"]
    w_q, w_k, w_v = (parameters[name][0] for name in ("w_q", "w_k", "w_v"))
    root = np.sqrt(w_q.shape[1])
    x = embedding[tokens]
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    attention = softmax(q @ k.swapaxes(1, 2) / root)
    heads = attention @ v
    output = heads @ w_o
    d_logits = softmax(output @ w_u)
    np.put_along_axis(d_logits, answers[..., None], np.take_along_axis(d_logits, answers[..., None], -1) - 1, -1)
    d_logits *= asked[..., None] / len(tokens)
    d_output = d_logits @ w_u.T
    d_heads = d_output @ w_o.T
    d_attention = d_heads @ v.swapaxes(1, 2)
    d_scores = attention * (d_attention - (d_attention * attention).sum(axis=-1, keepdims=True)) / root
    d_q, d_k, d_v = d_scores @ k, d_scores.swapaxes(1, 2) @ q, attention.swapaxes(1, 2) @ d_heads
    d_embedding = np.zeros_like(embedding)
    np.add.at(d_embedding, tokens, d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T)

    def of_matrix(rows, d_columns):
        return rows.reshape(-1, rows.shape[-1]).T @ d_columns.reshape(-1, d_columns.shape[-1])

    return {
        "embeddings": d_embedding,
        **{name: of_matrix(x, d)[None] for name, d in (("w_q", d_q), ("w_k", d_k), ("w_v", d_v))},
        "w_o": of_matrix(heads, d_output),
        "w_u": of_matrix(output, d_logits),
    }


def train_by_hand(seed: int) -> Iterator[dict[str, np.ndarray]]:
    """The parameters after 0, 1, 2, ... steps: those of `train`, but for rounding."""
    parameters = {name: array.copy() for name, array in RECIPE.untrained(seed).arrays.items()}
    means, squares = ({name: np.zeros_like(array) for name, array in parameters.items()} for _ in range(2))
    random = stream(f"{RECIPE.id}, batches", seed)
    RECIPE.task.batch(random, 1)
    yield parameters
    for step in range(1, RECIPE.steps + 1):
        rate = RECIPE.rate * min(1, step / 20, (RECIPE.steps + 1 - step) / (RECIPE.steps / 4))
        for name, slope in slopes_by_hand(parameters, *RECIPE.task.batch(random, RECIPE.batch)).items():
            means[name] += 0.1 * (slope - means[name])
            squares[name] += 0.001 * (slope * slope - squares[name])
            direction = means[name] / (1 - 0.9**step) / (np.sqrt(squares[name] / (1 - 0.999**step)) + 1e-8)
            parameters[name] -= rate * direction
        yield parameters


def check() -> None:
    """Both trainings are the same one."""
    model, parameters = next(islice(zip(train(RECIPE, 0), train_by_hand(0), strict=True), 50, None))
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
    check()
    seeds = range(RECIPE.seeds)
    both = [chain.from_iterable(map(training, seeds)) for training in (partial(train, RECIPE), train_by_hand)]
    rounds = [[milliseconds(training) for training in both] for _ in range(len(seeds) * RECIPE.steps // STEPS)]
    ours, by_hand = map(min, zip(*rounds, strict=True))
    print(f"a step through the operations {ours:6.2f} ms")
    print(f"a step written by hand        {by_hand:6.2f} ms")
    print(f"ratio                         {ours / by_hand:6.2f}  (limit {MAX_RATIO})")
    return 0 if ours / by_hand <= MAX_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
