"""Scaling: the scores over the square root of d_k."""

from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import Story


def _divided(trace: Trace) -> bool:
    return trace["scaled"].operation.factor is None


def is_unscaled(trace: Trace) -> bool:
    """Whether scaling is switched off, so that the scaled scores are the scores."""
    return trace["scaled"].operation.factor == 1


def is_scaled(trace: Trace) -> bool:
    """Whether it is not."""
    return not is_unscaled(trace)


def _multiplied(trace: Trace) -> bool:
    return not _divided(trace) and is_scaled(trace)


_BECOMES = "the score of “{query}” with “{key}”, {scores}, becomes a scaled score of {value}"

SCALING = Step(
    id="scaling",
    title="Scaling",
    headings=(
        Section("divided", "Keep the scores from growing with $\\sqrt{d_k}$", _divided),
        Section("off", "Scores as they are: scaling is switched off", is_unscaled),
        Section("multiplied", "Scores times a given number", _multiplied),
    ),
    sections=(
        Section(
            "spread",
            "A dot product adds `d_k` products; the more it adds, the wider the scores spread, by about $\\sqrt{d_k}$. "
            "The softmax of widely spread scores gives almost all attention to one key.",
        ),
        Section("divided", "Dividing by $\\sqrt{d_k}$ keeps the spread from growing with `d_k`.", _divided),
        Section("off", "Dividing by $\\sqrt{d_k}$ would keep the spread from growing with `d_k`.", is_unscaled),
        Section(
            "multiplied",
            "Here the scores are multiplied by a number that is given; dividing by $\\sqrt{d_k}$ would keep the spread "
            "from growing with `d_k`.",
            _multiplied,
        ),
    ),
    stages=("scaled",),
    entries={
        "scaled": Entry(
            "Z_i",
            "Scaled scores",
            "the scores over the square root of d_k",
            one="scaled score",
            stories=(
                Story(f"Divided by √d_k, {_BECOMES}.", of=_divided),
                Story("The score of “{query}” with “{key}” stays {value}, as scaling is switched off.", of=is_unscaled),
                Story(f"Multiplied by the given number, {_BECOMES}.", of=_multiplied),
            ),
        )
    },
)
