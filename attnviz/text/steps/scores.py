"""Scores: each query's dot product with each key."""

from typing import NamedTuple

import numpy as np

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.wording import alike, each, number, tied, word, words


class Extremes(NamedTuple):
    """The highest and the lowest score of a query, each with all keys that have it."""

    highest: float
    best: np.ndarray
    lowest: float
    worst: np.ndarray


def extremes(row: np.ndarray) -> Extremes:
    """Which keys a query matches best and worst."""
    best, worst = int(row.argmax()), int(row.argmin())
    return Extremes(float(row[best]), tied(row, best), float(row[worst]), tied(row, worst))


def _scores(trace: Trace, selection: Selection) -> str:
    row = trace["scores"].value[selection.head, selection.query]
    who = f"In head {selection.head + 1} {word(trace, 'query', selection.query)}"
    if len(row) == 1:
        return f"{who} has one key to look at, {word(trace, 'key', 0)}, and scores {number(row[0])} with it."
    if alike(row):
        return f"{who} has the same score with all {len(row)} keys: {each(row)}."
    highest, best, lowest, worst = extremes(row)
    return (
        f"{who} scores highest with {words(trace, 'key', best)} ({number(highest)}) "
        f"and lowest with {words(trace, 'key', worst)} ({number(lowest)})."
    )


SCORES = Step(
    id="scores",
    title="Scores",
    headings=(Section("scores", "How well does each key answer each query?"),),
    sections=(
        Section(
            "dot products",
            "Every :blue[query] meets every :orange[key] in a **dot product**: multiply place by place and add up. The "
            "larger the score, the better they match. Queries are rows and keys are columns, from here to the softmax.",
        ),
    ),
    stages=("scores",),
    entries={"scores": Entry("S_i", "Scores", "each query's dot product with each key", caption=_scores)},
)
