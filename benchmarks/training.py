"""A step of training through the operations, and how many times that of a loop written by hand for the one model.

Run with `python -m benchmarks.training`. Both train the same model in this run,
ten steps in turns, and the best ten of each are taken, so that a busy machine
slows both alike.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from time import perf_counter

import numpy as np

from attnviz.models.recipe import Recipe
from attnviz.models.recipes import RECIPES
from attnviz.models.task import Batch
from attnviz.models.training import batches, train
from benchmarks.slopes import Arrays, of_microgpt, of_one_head

MAX_RATIO = 3
STEPS = 10  # of each, in turns
ROUNDS = 30
CHECKED = 50  # the step after which both have the same parameters
BY_HAND = {"who-is-it": of_one_head, "microgpt": of_microgpt}


def train_by_hand(recipe: Recipe, slopes: Callable[[Arrays, Batch], Arrays], seed: int) -> Iterator[Arrays]:
    """The parameters after 0, 1, 2, ... steps: those of `train`, but for rounding."""
    parameters = {name: array.copy() for name, array in recipe.untrained(seed).arrays.items()}
    means, squares = ({name: np.zeros_like(array) for name, array in parameters.items()} for _ in range(2))
    drawn, last, (of_mean, of_square) = batches(recipe, seed), recipe.steps, recipe.betas
    next(drawn)
    yield parameters
    for step, batch in enumerate(drawn, start=1):
        left = (last + 1 - step) / last
        rate = recipe.rate * (left if recipe.decay == "linear" else min(1, step / 20, 4 * left))
        for name, slope in slopes(parameters, batch).items():
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
    print("| a step of | through the operations | written by hand | ratio |")
    print("| --- | --- | --- | --- |")
    worst = 0.0
    for name, slopes in BY_HAND.items():
        each = partial(train, RECIPES[name]), partial(train_by_hand, RECIPES[name], slopes)
        check(*(training(0) for training in each))
        both = [training(0) for training in each]
        rounds = [[milliseconds(training) for training in both] for _ in range(ROUNDS)]
        ours, by_hand = map(min, zip(*rounds, strict=True))
        print(f"| {name} | {ours:.2f} ms | {by_hand:.2f} ms | {ours / by_hand:.2f} (limit {MAX_RATIO}) |")
        worst = max(worst, ours / by_hand)
    return 0 if worst <= MAX_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
