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

from attnviz.core.order import Norm
from attnviz.core.parameters import Parameters
from attnviz.core.rng import stream
from attnviz.core.stage import Arrays, Stage, ancestors, backward, forward
from attnviz.models.model import Model
from attnviz.models.task import Batch, Learnable, PairBatch

Decay = Literal["late", "halfway", "linear"]

SCHEDULES: dict[Decay, tuple[int, float]] = {"late": (20, 0.25), "halfway": (50, 0.5), "linear": (1, 1.0)}
"""The steps until the full rate, as the first means are of few slopes, and the part of all steps in which it falls."""


class Adam:
    """Adam: steps along the mean gradient, divided by the root of the mean squared gradient.

    With `weight_decay` every parameter also shrinks at each step by that part of the rate (Loshchilov and Hutter 2019,
    arXiv:1711.05101: AdamW).
    """

    def __init__(
        self,
        rate: float,
        last: int,
        betas: tuple[float, float] = (0.9, 0.999),
        decay: Decay = "late",
        weight_decay: float = 0.0,
    ):
        self.rate, self.last, self.betas, self.decay, self.weight_decay = rate, last, betas, decay, weight_decay
        self.steps = 0
        self._means: Arrays = {}
        self._squares: Arrays = {}

    def step(self, parameters: Arrays, gradients: Arrays) -> Arrays:
        """The parameters after one more step."""
        self.steps += 1
        left = (self.last + 1 - self.steps) / self.last
        rises, falls = SCHEDULES[self.decay]
        rate = self.rate * min(1, self.steps / rises, left / falls)
        kept = 1 - rate * self.weight_decay
        return {
            name: array * kept - rate * self._direction(name, gradients[name]) for name, array in parameters.items()
        }

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
    n_neurons: int = 0  # the number of neurons in each layer's MLP; 0 for no MLP
    norm: Norm | None = None  # as in `Model`
    spread: float | None = None  # the initial standard deviation; by default it depends on the parameter
    betas: tuple[float, float] = (0.9, 0.999)  # adam's decay of the running means of the gradient and of its square
    decay: Decay = "late"  # how Adam's rate falls (see `Adam`)
    weight_decay: float = 0.0  # how much of the rate every parameter shrinks by at each step
    batch: int = 64  # how many texts a step has
    decimals: int = 1  # the number of recorded decimals
    label: str = ""  # the label of this recipe, if a model has several
    chosen_seeds: tuple[int, ...] = ()  # the seeds, if these were chosen among others
    few_checkpoints: tuple[int, ...] = ()  # the steps recorded of all models but the first, if they are fewer

    @property
    def steps(self) -> int:
        """The number of steps of training."""
        return self.checkpoints[-1]

    @property
    def all_seeds(self) -> Sequence[int]:
        """The seed of each model."""
        return self.chosen_seeds or range(self.seeds)

    def recorded(self, seed: int) -> tuple[int, ...]:
        """The steps whose parameters are recorded of a seed's model."""
        return self.checkpoints if seed == self.all_seeds[0] else self.few_checkpoints or self.checkpoints

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


def stages_for(model: Model, batch: Batch | PairBatch) -> tuple[Stage, ...]:
    """The stages that the answers depend on, for texts as long as the batch's."""
    return ancestors(model.read_first(batch).stages, "probabilities")


def forward_batch(stages: tuple[Stage, ...], parameters: Arrays, batch: Batch | PairBatch) -> Arrays:
    """The arrays of all stages for a batch, with the batch axis first."""
    given = parameters | {name: parameters[name][rows] for name, rows in batch.rows.items()} | batch.masks
    for positions, n_places in _places(parameters, batch):
        given[positions] = given[positions][:n_places]
    return forward(stages, given)


def _places(parameters: Arrays, batch: Batch | PairBatch) -> list[tuple[str, int]]:
    """The positions beside each embedding matrix, and how many of them a batch has."""
    beside = ((name.replace("embeddings", "positions"), rows.shape[1]) for name, rows in batch.rows.items())
    return [(name, n_places) for name, n_places in beside if name in parameters]


def loss(probabilities: np.ndarray, batch: Batch | PairBatch) -> float:
    """The cross-entropy: the mean of -log of the right answers' probabilities."""
    right = np.take_along_axis(probabilities, batch.answers[..., None], axis=-1)[..., 0]
    return float(-np.log(np.maximum(right, TINY))[batch.is_target].mean())


def accuracy(probabilities: np.ndarray, batch: Batch | PairBatch) -> float:
    """The fraction of questions whose right answer is the most probable; of translations that of whole texts."""
    is_right = probabilities.argmax(axis=-1) == batch.answers
    if isinstance(batch, PairBatch):
        return float((is_right | ~batch.is_target).all(axis=-1).mean())
    return float(is_right[batch.is_target].mean())


def gradients(stages: tuple[Stage, ...], parameters: Arrays, batch: Batch | PairBatch) -> Arrays:
    """The derivatives of the loss with respect to each parameter."""
    arrays = forward_batch(stages, parameters, batch)
    slopes_of = backward(stages, arrays, {"logits": _logit_gradients(arrays["probabilities"], batch)})
    places = dict(_places(parameters, batch))
    of_each = {name: slopes_of[name] for name in parameters.keys() - batch.rows.keys() - places.keys()}
    for name, rows in batch.rows.items():
        of_each[name] = np.zeros_like(parameters[name])
        np.add.at(of_each[name], rows, slopes_of[name])
    for name, n_places in places.items():
        of_each[name] = np.zeros_like(parameters[name])
        of_each[name][:n_places] = slopes_of[name]
    return of_each


def _logit_gradients(probabilities: np.ndarray, batch: Batch | PairBatch) -> np.ndarray:
    """The derivatives of the loss with respect to the logits: each probability, less 1 where it is the right answer's.

    Computed directly, because through the probabilities it is 0 / 0 if one underflows.
    """
    right = batch.answers[..., None] == np.arange(probabilities.shape[-1])
    return (probabilities - right) * (batch.is_target / np.count_nonzero(batch.is_target))[..., None]


def batch_stream(recipe: Recipe, seed: int) -> np.random.RandomState:
    """The random stream from which the training texts are drawn."""
    return stream(f"{recipe.id}, batches", seed)


def batches(recipe: Recipe, seed: int) -> Iterator[Batch | PairBatch]:
    """The texts of a training: first one that is never trained on, then a batch per step."""
    random = batch_stream(recipe, seed)
    yield recipe.task.batch(random, 1)
    for _ in range(recipe.steps):
        yield recipe.task.batch(random, recipe.batch)


def train(recipe: Recipe, seed: int) -> Iterator[Model]:
    """The model after 0, 1, 2, ... steps, to the last of the recipe."""
    model, drawn = recipe.untrained(seed), batches(recipe, seed)
    parameters, adam = model.arrays, Adam(recipe.rate, recipe.steps, recipe.betas, recipe.decay, recipe.weight_decay)
    next(drawn)
    graphs: dict[tuple[int, ...], tuple[Stage, ...]] = {}  # by the lengths of the texts
    yield model
    for batch in drawn:
        lengths = tuple(rows.shape[1] for rows in batch.rows.values())
        if lengths not in graphs:
            graphs[lengths] = stages_for(model, batch)
        parameters = adam.step(parameters, gradients(graphs[lengths], parameters, batch))
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
