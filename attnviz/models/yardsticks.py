"""Yardsticks: what else a language model's loss may be compared with, measured on the same held-out texts."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from attnviz.models.model import Model
from attnviz.models.task import Batch

FILE = Path(__file__).parent / "recordings" / "microgpt-parts.json"
SMOOTHING = 0.1
"""Added to each count of a pair: one that was never seen would have no probability."""

MUTED = {"attention": "w_o", "the MLP": "w_mlp"}
"""The writers to the residual stream, and the parameters without which they write nothing."""


def guessing(n_answers: int) -> float:
    """The loss of guessing among so many, in nats."""
    return math.log(n_answers)


def pairs(trained_on: Batch, held_out: Batch, n_words: int) -> float:
    """The loss of a table of how often each token follows the one before, in nats a token.

    Parameters
    ----------
    trained_on, held_out : Batch
    n_words : int
        The last of which begins texts and, as an answer, ends them.
    """
    counts = np.full((n_words, n_words), SMOOTHING)
    np.add.at(counts, (trained_on.tokens[trained_on.is_target], trained_on.answers[trained_on.is_target]), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(-np.log(shares[held_out.tokens[held_out.is_target], held_out.answers[held_out.is_target]]).mean())


def muted(model: Model, what: str) -> Model:
    """The model whose attention, or whose MLP, writes nothing to the residual stream."""
    without = {
        name: np.zeros_like(each) if name.startswith(MUTED[what]) else each for name, each in model.arrays.items()
    }
    return model.with_arrays(without, model.kind)


def headless(model: Model, head: int) -> Model:
    """The model of one layer, one of whose heads, counted from 0, writes nothing to the residual stream."""
    w_o = model.arrays["w_o"].copy()
    np.split(w_o, model.n_heads)[head][:] = 0.0
    return model.with_arrays(model.arrays | {"w_o": w_o}, model.kind)


@cache
def recorded() -> list[dict]:
    """Of each training of microgpt what its parts do at its end.

    `muted` are the losses without attention and without the MLP; `heads` has of each head where it looks and the loss
    without it, and `loss` is that of the whole model.
    """
    return json.loads(FILE.read_text("utf-8"))


def passed_at(curve: Sequence[Sequence[float]], loss: float) -> int | None:
    """The first step of a curve from which on its loss is below another; None where it ends above it."""
    above = [place for place, (_, current, _) in enumerate(curve) if current >= loss]
    first = above[-1] + 1 if above else 0
    return int(curve[first][0]) if first < len(curve) else None
