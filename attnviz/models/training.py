"""Training: parameters are moved step by step so that right answers become more probable.

The derivatives come from the operations' own `vjp`: the pass that is trained is
the pass that is shown.
"""

from collections.abc import Iterator

import numpy as np

from attnviz.core.graph import Arrays, backward, forward, leading_to
from attnviz.core.rng import stream
from attnviz.core.stage import Stage
from attnviz.models.adam import Adam
from attnviz.models.model import Model
from attnviz.models.recipe import Recipe
from attnviz.models.task import Batch

TINY = np.finfo(float).tiny


def stages_for(model: Model, batch: Batch) -> tuple[Stage, ...]:
    """The graph of a pass over texts as long as those of the batch, without what no answer depends on."""
    text = tuple(model.task.words[place] for place in batch.tokens[0])
    return leading_to(model.read(text).stages, "probabilities")


def passed(stages: tuple[Stage, ...], parameters: Arrays, batch: Batch) -> Arrays:
    """The arrays of all stages for the texts of a batch, each with the axis of the texts before all others."""
    given = parameters | {"embeddings": parameters["embeddings"][batch.tokens]}
    if "positions" in given:
        given["positions"] = given["positions"][: batch.tokens.shape[1]]
    return forward(stages, given)


def loss(probabilities: np.ndarray, batch: Batch) -> float:
    """The cross-entropy: the mean of -log of the right answers' probabilities."""
    right = np.take_along_axis(probabilities, batch.answers[..., None], axis=-1)[..., 0]
    return float(-np.log(np.maximum(right, TINY))[batch.is_target].mean())


def accuracy(probabilities: np.ndarray, batch: Batch) -> float:
    """The part of what is asked in which the right answer is the most probable one."""
    return float((probabilities.argmax(axis=-1) == batch.answers)[batch.is_target].mean())


def slopes(stages: tuple[Stage, ...], parameters: Arrays, batch: Batch) -> Arrays:
    """The derivatives of the loss with respect to each parameter."""
    arrays = passed(stages, parameters, batch)
    slopes_of = backward(stages, arrays, {"logits": _of_logits(arrays["probabilities"], batch)})
    of_each = {name: slopes_of[name] for name in parameters.keys() - {"embeddings", "positions"}}
    of_each["embeddings"] = np.zeros_like(parameters["embeddings"])
    np.add.at(of_each["embeddings"], batch.tokens, slopes_of["embeddings"])
    if "positions" in parameters:
        of_each["positions"] = np.zeros_like(parameters["positions"])
        of_each["positions"][: batch.tokens.shape[1]] = slopes_of["positions"]
    return of_each


def _of_logits(probabilities: np.ndarray, batch: Batch) -> np.ndarray:
    """The derivatives of the loss with respect to the logits: each probability, less 1 where it is the right answer's.

    Through the probabilities it would be 0 / 0 where a probability is too small for float64.
    """
    right = batch.answers[..., None] == np.arange(probabilities.shape[-1])
    return (probabilities - right) * (batch.is_target / np.count_nonzero(batch.is_target))[..., None]


def random_of(recipe: Recipe, seed: int) -> np.random.RandomState:
    """The random numbers that the texts of a training are drawn with."""
    return stream(f"{recipe.id}, batches", seed)


def batches(recipe: Recipe, seed: int) -> Iterator[Batch]:
    """The texts of a training: one, which no step has, and then a batch for each step."""
    random = random_of(recipe, seed)
    yield recipe.task.batch(random, 1)
    for _ in range(recipe.steps):
        yield recipe.task.batch(random, recipe.batch)


def train(recipe: Recipe, seed: int) -> Iterator[Model]:
    """The model after 0, 1, 2, ... steps, to the last of the recipe."""
    model, drawn = recipe.untrained(seed), batches(recipe, seed)
    parameters, adam = model.arrays, Adam(recipe.rate, recipe.steps, recipe.betas, recipe.decay)
    next(drawn)
    graphs: dict[int, tuple[Stage, ...]] = {}  # by the length of the texts
    yield model
    for batch in drawn:
        length = batch.tokens.shape[1]
        if length not in graphs:
            graphs[length] = stages_for(model, batch)
        parameters = adam.moved(parameters, slopes(graphs[length], parameters, batch))
        yield model.with_arrays(parameters, kind="learnt")
