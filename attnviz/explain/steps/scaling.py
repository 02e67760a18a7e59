"""Scaling: the scores over the square root of d_k."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.story import SCORE_SET_IN_BAND, Condition, Story


def is_unscaled(trace: Trace) -> bool:
    """Whether scaling is off, so that the scaled scores are the scores."""
    return trace["scaled"].operation.factor == 1


def scale_in_words(trace: Trace) -> str:
    """The scaling of a score, in words."""
    scale = trace["scaled"].operation
    if scale.factor is None:
        return f"divided by √{scale.d_k}"
    if scale.base:
        return f"times ln {scale.base}, so that exp makes a power of {scale.base}"
    return f"multiplied by {scale.factor:g}".replace("-", "−")


def _spread(trace: Trace, entries: Mapping[str, Entry]) -> str:
    parts = ""
    if "q_r" in trace:
        content, positions = (trace[name].shape[-1] for name in ("q", "q_r"))
        parts = f", here {content} of content and {positions} for positions"
    if "q_absorbed" in trace:
        begins = f"These are the scores of keys of `d_k` numbers{parts}: the more, the wider they spread"
    else:
        begins = f"A dot product adds `d_k` products{parts}; the more it adds, the wider the scores spread"
    then = "The softmax of widely spread scores gives almost all attention to one key."
    return f"{begins}, by about $\\sqrt{{d_k}}$. {then}"


def _heading(trace: Trace, entries: Mapping[str, Entry]) -> str:
    scale = trace["scaled"].operation
    if scale.factor is None:
        return "Keep scores from growing with $d_k$"
    if scale.factor == 1:
        return "Scores as they are: scaling is switched off"
    if scale.base:
        return f"Scores times ln {scale.base}, for attention weights that are fractions"
    return "Scores times a given number"


def _why(trace: Trace, entries: Mapping[str, Entry]) -> str:
    factor = trace["scaled"].operation.factor
    if factor is None:
        return (
            "The more products a score adds up, the wider scores spread, and the softmax of a wide spread gives nearly "
            "all to one {unit}; dividing by $\\sqrt{d_k}$ keeps the spread."
        )
    if factor == 1:
        return (
            "Scaling is off, so the spread of the scores grows with $\\sqrt{d_k}$, and the softmax of a wide spread "
            "gives nearly all to one {unit}."
        )
    return "The factor sets how far apart scores are, and so how evenly the softmax shares attention among {unit}s."


def _scaled(trace: Trace, entries: Mapping[str, Entry]) -> str:
    scale = trace["scaled"].operation
    if scale.factor is None:
        return "Dividing by $\\sqrt{d_k}$ keeps the spread from growing with `d_k`."
    would = "dividing by $\\sqrt{d_k}$ would keep the spread from growing with `d_k`."
    if scale.factor == 1:
        return f"D{would[1:]}"
    if scale.base:
        return (
            f"Here the scores are multiplied by $\\ln {scale.base}$, so that exp makes powers of {scale.base} and "
            f"every attention weight is a fraction to compute by hand; {would}"
        )
    return f"Here the scores are multiplied by a number that is given; {would}"


def _divided(trace: Trace) -> bool:
    return trace["scaled"].operation.factor is None


def _multiplied(trace: Trace) -> bool:
    scale = trace["scaled"].operation
    return scale.factor not in (None, 1) and scale.base is None


def _power_of(base: int) -> Condition:
    return lambda trace: trace["scaled"].operation.base == base


_IS = "The scaled score of “{query}” with “{key}” is {value}: the score {scores}"

SCALING = Step(
    id="scaling",
    title="Scaling",
    heading=_heading,
    why=_why,
    text=(Section("spread", _spread), Section("scaled", _scaled)),
    stages=("scaled",),
    entries={
        "scaled": Entry(
            "Z_i", "Scaled scores", "the scores times the scale: 1/√d_k, unless another is given", one="scaled score"
        )
    },
    stories={
        "scaled": (
            Story(f"{_IS} divided by √d_k.", of=_divided),
            Story("The score of “{query}” with “{key}” stays {value}, as scaling is switched off.", of=is_unscaled),
            Story(f"{_IS} times the given number.", of=_multiplied),
            *(Story(f"{_IS} times ln {base}.", of=_power_of(base)) for base in (2, 3)),
        )
    },
    band_texts={"scaled": ("**Scale**: {story}", (SCORE_SET_IN_BAND, Story("{scaling}, “{key}” has {value}.")))},
    terms=(
        Term(
            "scaling",
            r"\bscal(?:ed|ing|e)\b",
            "Multiplying every score by the same number, mostly 1/√d_k, so that scores do not spread more as d_k "
            "grows.",
            "Here {scores} is scaled to {scaled}.",
            "Scale",
        ),
    ),
)
