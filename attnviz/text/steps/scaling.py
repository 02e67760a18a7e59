"""Scaling: the scores over the square root of d_k."""

from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import Story


def _divided(trace: Trace) -> bool:
    return trace["scaled"].operation.factor is None


def _off(trace: Trace) -> bool:
    return trace["scaled"].operation.factor == 1


def _multiplied(trace: Trace) -> bool:
    return not _divided(trace) and not _off(trace)


_GOES = "the score of “{query}” with “{key}” goes from {scores} to {value}"

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
            "softmax of widely spread scores gives almost all attention to one key.",
        ),
        Section("divided", "Dividing by $\\sqrt{d_k}$ keeps the spread from growing with `d_k`.", _divided),
        Section(
            "not divided",
            "Dividing by $\\sqrt{d_k}$ would keep the spread from growing with `d_k`.",
            lambda trace: not _divided(trace),
        ),
    ),
    stages=("scaled",),
    entries={
        "scaled": Entry(
            "Z_i",
            "Scaled scores",
            "the scores over the square root of d_k",
            stories=(
                Story(f"Divided by √d_k, {_GOES}.", of=_divided),
                Story("The score of “{query}” with “{key}” stays {value}, as scaling is switched off.", of=_off),
                Story(f"Multiplied by the given number, {_GOES}.", of=_multiplied),
            ),
        )
    },
)
