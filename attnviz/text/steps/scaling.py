"""Scaling: the scores over the square root of d_k."""

from typing import NamedTuple

import numpy as np

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.wording import number, ordered_alike, same


class Effect(NamedTuple):
    """What scaling does to a head's scores.

    Attributes
    ----------
    before, after : float
        Their spread (standard deviation); the score itself where all are the same.
    spread : bool
        Which of the two.
    ordered : bool
        Whether a larger score stays larger.
    """

    before: float
    after: float
    spread: bool
    ordered: bool


def effect(trace: Trace, head: int) -> Effect:
    """What scaling does to the scores of one head."""
    before, after = trace["scores"].value[head], trace["scaled"].value[head]
    if same(before):
        return Effect(float(before[0, 0]), float(after[0, 0]), spread=False, ordered=False)
    return Effect(spread_of(before), spread_of(after), spread=True, ordered=ordered_alike(before, after))


def spread_of(values: np.ndarray) -> float:
    """The standard deviation; no square overflows."""
    largest = float(np.abs(values).max()) or 1.0
    return largest * float((values / largest).std())


def _scaled(trace: Trace, selection: Selection) -> str:
    operation, n_scores = trace["scaled"].operation, trace["scaled"].value[selection.head].size
    before, after, spread, ordered = effect(trace, selection.head)
    by = _by(operation.d_k, operation.factor)
    scores = "only score" if n_scores == 1 else "scores, all the same,"
    what = f"the spread (standard deviation) of head {selection.head + 1}'s scores"
    what = what if spread else f"head {selection.head + 1}'s {scores}"
    if operation.factor == 1 or (operation.factor is None and operation.d_k == 1):
        return f"{by} leaves {what} at {number(before)}."
    rounded = ", to two decimals" * (number(before) == number(after))
    order = "; their order stays" * ordered
    return f"{by} brings {what} from {number(before)} to {number(after)}{rounded}{order}."


def _by(d_k: int, factor: float | None) -> str:
    if factor is None:
        return f"Dividing by √{d_k} = {number(d_k**0.5)}"
    return "Scaling is off, which" if factor == 1 else f"Multiplying by {factor:g}".replace("-", "−")


def _divided(trace: Trace) -> bool:
    return trace["scaled"].operation.factor is None


def _off(trace: Trace) -> bool:
    return trace["scaled"].operation.factor == 1


def _multiplied(trace: Trace) -> bool:
    return not _divided(trace) and not _off(trace)


SCALING = Step(
    id="scaling",
    title="Scaling",
    headings=(
        Section("divided", "Keep the scores from growing with d_k", _divided),
        Section("off", "Scores as they are: scaling is switched off", _off),
        Section("multiplied", "Scores times a given number", _multiplied),
    ),
    sections=(
        Section("off", "Here the scores are passed on as they are.", _off),
        Section("multiplied", "Here the scores are multiplied by a number that is given.", _multiplied),
        Section(
            "spread",
            "The spread of dot products grows like $\\sqrt{d_k}$ with the `d_k` numbers that each adds up, and the "
            "softmax of widely spread scores is nearly one-hot: almost all attention on one key, and almost no "
            "gradient to learn from.",
        ),
        Section("divided", "Dividing by $\\sqrt{d_k}$ keeps the spread from growing with `d_k`.", _divided),
        Section(
            "not divided",
            "Dividing by $\\sqrt{d_k}$ would keep the spread from growing with `d_k`.",
            lambda trace: not _divided(trace),
        ),
    ),
    stages=("scaled",),
    entries={"scaled": Entry("Z_i", "Scaled scores", "the scores over the square root of d_k", caption=_scaled)},
)
