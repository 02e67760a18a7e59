"""Writing: many texts at once, each letter drawn of what a model says may come next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.models.continuation import Drawing, chosen
from attnviz.models.model import Model
from attnviz.models.task import Batch
from attnviz.models.training import passed, stages_for


def names(model: Model, drawing: Drawing, count: int) -> tuple[str, ...]:
    """So many texts from nothing, by a drawing and the seeds that follow its own: the very ones that each writes alone.

    All are a letter longer in each step, so that a batch has one length; one that has ended is not looked at again.

    Parameters
    ----------
    model : Model
        Of an open task, whose last answer is the end.
    drawing : Drawing
    count : int

    Raises
    ------
    ArrayError
        If a text is written whose numbers go beyond float64.
    """
    try:
        with np.errstate(over="raise", invalid="raise"):
            return _names(model, drawing, count)
    except FloatingPointError:
        raise ArrayError(
            "A text that it writes has numbers beyond float64 (1.8e308); give smaller parameters."
        ) from None


def _names(model: Model, drawing: Drawing, count: int) -> tuple[str, ...]:
    words, end = model.task.words, len(model.task.answers) - 1
    tokens, texts = np.full((count, 1), words.index(model.task.begin)), [""] * count
    going = list(range(count))
    for place in range(model.longest - 1):
        batch = Batch(tokens, tokens, np.ones(tokens.shape, dtype=bool))
        rows = passed(stages_for(model, batch), model.arrays, batch)["probabilities"][:, -1]
        drawn = [
            chosen(row, replace(drawing, seed=drawing.seed + number), place)
            for number, row in zip(going, rows, strict=True)
        ]
        tokens, going = _longer(tokens, going, drawn, texts, model.task.answers, end)
        if not going:
            break
    return tuple(texts)


def _longer(
    tokens: np.ndarray, going: list[int], drawn: list[int], texts: list[str], answers: Sequence[str], end: int
) -> tuple[np.ndarray, list[int]]:
    """The texts that go on, with what was drawn for each."""
    on = [at for at, answer in enumerate(drawn) if answer != end]
    for at in on:
        texts[going[at]] += answers[drawn[at]]
    longer = np.concatenate([tokens[on], np.array([[drawn[at]] for at in on]).reshape(-1, 1)], axis=1)
    return longer, [going[at] for at in on]
