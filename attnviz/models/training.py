"""Training a model: its recipe, Adam, gradients by the core's backward pass, and baseline losses."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from attnviz.core.graph import Arrays, ancestors, backward, forward
from attnviz.core.order import Norm
from attnviz.core.parameters import Parameters
from attnviz.core.rng import stream
from attnviz.core.stage import Stage
from attnviz.models.model import Model
from attnviz.models.task import Batch, Learnable

Decay = Literal["late", "linear"]

WARM_UP_STEPS = 20  # steps until the full rate: the first means are of few slopes
SLOWING_DOWN_PART = 0.25  # of all steps, at the end: large late steps would undo the training


class Adam:
    """Adam: steps along the mean gradient, divided by the root of the mean squared gradient."""

    def __init__(self, rate: float, last: int, betas: tuple[float, float] = (0.9, 0.999), decay: Decay = "late"):
        self.rate, self.last, self.betas, self.decay = rate, last, betas, decay
        self.steps = 0
        self._means: Arrays = {}
        self._squares: Arrays = {}

    def moved(self, parameters: Arrays, gradients: Arrays) -> Arrays:
        """The parameters after one more step."""
        self.steps += 1
        left = (self.last + 1 - self.steps) / self.last
        part = left if self.decay == "linear" else min(1, self.steps / WARM_UP_STEPS, left / SLOWING_DOWN_PART)
        rate = self.rate * part
        return {name: array - rate * self._direction(name, gradients[name]) for name, array in parameters.items()}

    def _direction(self, name: str, slope: np.ndarray) -> np.ndarray:
        of_mean, of_square = self.betas
        mean = of_mean * self._means.get(name, 0) + (1 - of_mean) * slope
        square = of_square * self._squares.get(name, 0) + (1 - of_square) * slope**2
        self._means[name], self._squares[name] = mean, square
        mean, square = mean / (1 - of_mean**self.steps), square / (1 - of_square**self.steps)
        return mean / (np.sqrt(square) + 1e-8)


@dataclass(frozen=True)
class Recipe:
    """A recipe: a model before training, and how it is trained."""

    id: str  # the name of the model in addresses and of its file; its random numbers depend on it and the seed alone
    task: Learnable
    d_model: int
    rate: float  # adam's learning rate
    checkpoints: tuple[int, ...]  # the steps whose parameters are recorded; the last ends the training
    seeds: int = 1  # how many models are trained, from the seeds 0, 1,
    n_places: int = 0  # the number of learnt positions; 0 for none
    n_layers: int = 1
    residual: bool = False
    causal: bool = False
    n_heads: int = 1
    n_neurons: int = 0  # of the MLP of each layer; 0 for none
    norm: Norm | None = None  # as in `Model`
    spread: float | None = None  # the initial standard deviation; by default it depends on the parameter
    betas: tuple[float, float] = (0.9, 0.999)  # adam's decay of the running means of the gradient and of its square
    decay: Decay = "late"  # how Adam's rate falls (see `Adam`)
    batch: int = 64  # how many texts a step has
    decimals: int = 1  # the number of recorded decimals
    called: str = ""  # the label of this recipe, if a model has several

    @property
    def steps(self) -> int:
        """The number of steps of training."""
        return self.checkpoints[-1]

    def untrained(self, seed: int) -> Model:
        """The model with random parameters: without `spread` N(0, 1 / rows) in matrices, N(0, 1 / 4) in vectors."""
        random, size = stream(self.id, seed), self.d_model
        of_head = (self.n_heads, size, size // self.n_heads)

        def drawn(*shape: int) -> np.ndarray:
            return random.normal(0, self.spread or shape[-2] ** -0.5, shape)

        def vectors(count: int) -> np.ndarray:
            return random.normal(0, self.spread or 0.5, (count, size))

        def layer() -> Parameters:
            attention = {name: drawn(*of_head) for name in ("w_q", "w_k", "w_v")} | {"w_o": drawn(size, size)}
            mlp = {"w_hidden": (size, self.n_neurons), "w_mlp": (self.n_neurons, size)} if self.n_neurons else {}
            return Parameters(**attention, **{name: drawn(*shape) for name, shape in mlp.items()})

        return Model(
            task=self.task,
            embedding=vectors(len(self.task.words)),
            positions=vectors(self.n_places) if self.n_places else None,
            layers=tuple(layer() for _ in range(self.n_layers)),
            unembedding=drawn(size, len(self.task.answers)),
            residual=self.residual,
            causal=self.causal,
            norm=self.norm,
            kind="drawn",
        )


TINY = np.finfo(float).tiny


def stages_for(model: Model, batch: Batch) -> tuple[Stage, ...]:
    """The stages that the answers depend on, for texts as long as the batch's."""
    text = tuple(model.task.words[place] for place in batch.tokens[0])
    return ancestors(model.read(text).stages, "probabilities")


def forward_batch(stages: tuple[Stage, ...], parameters: Arrays, batch: Batch) -> Arrays:
    """The arrays of all stages for a batch, with the batch axis first."""
    given = parameters | {"embeddings": parameters["embeddings"][batch.tokens]}
    if "positions" in given:
        given["positions"] = given["positions"][: batch.tokens.shape[1]]
    return forward(stages, given)


def loss(probabilities: np.ndarray, batch: Batch) -> float:
    """The cross-entropy: the mean of -log of the right answers' probabilities."""
    right = np.take_along_axis(probabilities, batch.answers[..., None], axis=-1)[..., 0]
    return float(-np.log(np.maximum(right, TINY))[batch.is_target].mean())


def accuracy(probabilities: np.ndarray, batch: Batch) -> float:
    """The fraction of questions whose right answer is the most probable."""
    return float((probabilities.argmax(axis=-1) == batch.answers)[batch.is_target].mean())


def gradients(stages: tuple[Stage, ...], parameters: Arrays, batch: Batch) -> Arrays:
    """The derivatives of the loss with respect to each parameter."""
    arrays = forward_batch(stages, parameters, batch)
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

    Computed directly, because through the probabilities it is 0 / 0 if one underflows.
    """
    right = batch.answers[..., None] == np.arange(probabilities.shape[-1])
    return (probabilities - right) * (batch.is_target / np.count_nonzero(batch.is_target))[..., None]


def batch_stream(recipe: Recipe, seed: int) -> np.random.RandomState:
    """The random stream from which the training texts are drawn."""
    return stream(f"{recipe.id}, batches", seed)


def batches(recipe: Recipe, seed: int) -> Iterator[Batch]:
    """The texts of a training: first one that is never trained on, then a batch per step."""
    random = batch_stream(recipe, seed)
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
        parameters = adam.moved(parameters, gradients(graphs[length], parameters, batch))
        yield model.with_arrays(parameters, kind="learnt")


FILE = Path(__file__).parent / "recordings" / "microgpt-parts.json"
SMOOTHING = 0.1
"""Added to each count of a pair: one that was never seen would have no probability."""

MUTED = {"attention": "w_o", "the MLP": "w_mlp"}
"""The writers to the residual stream, and the parameters that mute them when zero."""


def guessing_loss(n_answers: int) -> float:
    """The loss of guessing among so many, in nats."""
    return math.log(n_answers)


def bigram_loss(trained_on: Batch, held_out: Batch, n_words: int) -> float:
    """The loss of a table of how often each token follows the one before, in nats a token."""
    counts = np.full((n_words, n_words), SMOOTHING)
    np.add.at(counts, (trained_on.tokens[trained_on.is_target], trained_on.answers[trained_on.is_target]), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(-np.log(shares[held_out.tokens[held_out.is_target], held_out.answers[held_out.is_target]]).mean())


def without_part(model: Model, what: str) -> Model:
    """The model whose attention, or whose MLP, writes nothing to the residual stream."""
    without = {
        name: np.zeros_like(each) if name.startswith(MUTED[what]) else each for name, each in model.arrays.items()
    }
    return model.with_arrays(without, model.kind)


def without_head(model: Model, head: int) -> Model:
    """The model of one layer, one of whose heads, counted from 0, writes nothing to the residual stream."""
    w_o = model.arrays["w_o"].copy()
    np.split(w_o, model.n_heads)[head][:] = 0.0
    return model.with_arrays(model.arrays | {"w_o": w_o}, model.kind)


@cache
def recorded_parts() -> list[dict]:
    """What the parts of each trained microgpt do.

    `muted` has the losses without attention and without the MLP; `heads` says where each head looks and the loss
    without it, and `loss` is that of the whole model.
    """
    return json.loads(FILE.read_text("utf-8"))


def first_step_below(curve: Sequence[Sequence[float]], loss: float) -> int | None:
    """The first step from which a curve stays below a loss; None if it ends above."""
    above = [place for place, (_, current, _) in enumerate(curve) if current >= loss]
    first = above[-1] + 1 if above else 0
    return int(curve[first][0]) if first < len(curve) else None
