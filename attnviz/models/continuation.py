"""Continuing a text: how the next token is drawn from the probabilities, and whole texts written that way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.rng import stream
from attnviz.models.model import Model
from attnviz.models.task import Batch
from attnviz.models.training import forward_batch, stages_for

SAMPLING_CHOICES = {
    "temperature": (0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
    "top_k": (0, 1, 2, 3, 5, 10),
    "top_p": (1.0, 0.95, 0.9, 0.75, 0.5),
    "seed": range(1000),
}
"""The range of each sampling setting; a top_k of 0 and a top_p of 1 keep all tokens."""


@dataclass(frozen=True)
class Sampling:
    """How the next token is sampled."""

    temperature: float = 1.0  # the divisor of the logits; below 1 it sharpens the distribution, above 1 it flattens it
    top_k: int = 0  # the number of most probable tokens to keep; 0 for all
    top_p: float = 1.0  # keep the fewest most probable tokens that together have this probability
    seed: int = 0


def filtered_probabilities(probabilities: np.ndarray, drawing: Sampling) -> np.ndarray:
    """The sampling probabilities: temperature, then top-k, then top-p, normalised to a sum of 1.

    Top-k is from Fan et al. 2018 (arXiv:1805.04833), top-p from Holtzman et al. 2020 (arXiv:1904.09751). Of tokens that
    are equally probable the earlier ones stay.

    >>> filtered_probabilities(np.array([0.5, 0.3, 0.2]), Sampling(top_k=2)).round(3).tolist()
    [0.625, 0.375, 0.0]
    """
    given = np.clip(probabilities, 0.0, None)
    weights = (given / (given.max() or 1.0)) ** (1.0 / drawing.temperature)
    order = np.argsort(-weights, kind="stable")
    total = weights.sum() or 1.0
    before = np.concatenate([[0.0], np.cumsum(weights[order])[:-1]]) / total
    n_top = drawing.top_k or len(weights)
    within_k = np.arange(len(weights)) < n_top
    kept = weights[order[:n_top]].sum() / total or 1.0
    weights[order[~(within_k & (before < drawing.top_p * kept))]] = 0.0
    return weights / (weights.sum() or 1.0)


def sample_token(probabilities: np.ndarray, drawing: Sampling | None, place: int) -> int:
    """The next token: sampled, or without a drawing the most probable (the first if several are)."""
    if drawing is None:
        return int(probabilities.argmax())
    weights = filtered_probabilities(probabilities, drawing)
    if not weights.any():
        return int(probabilities.argmax())
    point = stream(f"token {place}", drawing.seed).random_sample()
    return min(int(np.searchsorted(np.cumsum(weights), point, side="right")), int(np.flatnonzero(weights)[-1]))


def sample_texts(model: Model, drawing: Sampling, count: int) -> tuple[str, ...]:
    """`count` sampled texts from consecutive seeds, each identical to sampling it alone.

    All texts grow by one token per step, so a batch has one length; finished texts leave it.
    """
    task, end = model.task, len(model.task.answers) - 1
    tokens, texts, unfinished = np.full((count, 1), task.words.index(task.begin)), [""] * count, list(range(count))
    for place in range(model.max_tokens - 1):
        batch = Batch(tokens, tokens, np.ones(tokens.shape, dtype=bool))
        try:
            with np.errstate(over="raise", invalid="raise"):
                rows = forward_batch(stages_for(model, batch), model.arrays, batch)["probabilities"][:, -1]
        except FloatingPointError:
            raise ArrayError(
                "A text that it writes has numbers beyond float64 (1.8e308); give smaller parameters."
            ) from None
        drawn = [
            sample_token(row, replace(drawing, seed=drawing.seed + number), place)
            for number, row in zip(unfinished, rows, strict=True)
        ]
        continued = [at for at, answer in enumerate(drawn) if answer != end]
        for at in continued:
            texts[unfinished[at]] += task.answers[drawn[at]]
        if not continued:
            break
        tokens = np.column_stack([tokens[continued], [drawn[at] for at in continued]])
        unfinished = [unfinished[at] for at in continued]
    return tuple(texts)
