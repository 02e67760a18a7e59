"""Continuation: which token comes next, of the probabilities that a model gives to each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.core.rng import stream

OFFERED = {
    "temperature": (0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
    "top_k": (0, 1, 2, 3, 5, 10),
    "top_p": (1.0, 0.95, 0.9, 0.75, 0.5),
    "seed": range(1000),
}
"""The values of each part of a drawing. A top_k of 0 and a top_p of 1 leave all in."""


@dataclass(frozen=True)
class Drawing:
    """The way in which the next token is drawn.

    Attributes
    ----------
    temperature : float
        Logits are divided by it: below 1 what is probable becomes more so, above 1 less.
    top_k : int
        Only so many of the most probable are drawn from; 0 for all.
    top_p : float
        Only the most probable are drawn from, as few as have this probability together.
    seed : int
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


def weighed(probabilities: np.ndarray, drawing: Drawing) -> np.ndarray:
    """With which probability each token is drawn: by temperature, then top-k, then top-p, and scaled to a sum of 1.

    Top-k is from Fan et al. 2018 (arXiv:1805.04833), top-p from Holtzman et al. 2020 (arXiv:1904.09751). Of tokens
    that are equally probable the earlier ones stay.

    Parameters
    ----------
    probabilities : (tokens,) array
        Where all are 0, as may be where they were set by hand, so is what comes of them.
    drawing : Drawing

    Examples
    --------
    >>> weighed(np.array([0.5, 0.3, 0.2]), Drawing(top_k=2)).round(3).tolist()
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


def chosen(probabilities: np.ndarray, drawing: Drawing | None, place: int) -> int:
    """The token that comes next: the most probable without a drawing, the first of several.

    Parameters
    ----------
    probabilities : (tokens,) array
    drawing : Drawing or None
    place : int
        How many tokens there are before it. What is drawn depends on that and the seed alone.
    """
    if drawing is None:
        return int(probabilities.argmax())
    weights = weighed(probabilities, drawing)
    if not weights.any():
        return int(probabilities.argmax())
    point = stream(f"token {place}", drawing.seed).random_sample()
    return min(int(np.searchsorted(np.cumsum(weights), point, side="right")), int(np.flatnonzero(weights)[-1]))
