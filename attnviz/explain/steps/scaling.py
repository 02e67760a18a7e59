"""Scaling: the scores over the square root of d_k."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.story import SCORE_SET_IN_BAND, Condition, Story


def _divided(trace: Trace) -> bool:
    return trace["scaled"].operation.factor is None


def is_unscaled(trace: Trace) -> bool:
    """Whether scaling is off, so that the scaled scores are the scores."""
    return trace["scaled"].operation.factor == 1


def is_scaled(trace: Trace) -> bool:
    """Whether scaling is on."""
    return not is_unscaled(trace)


def scale_in_words(trace: Trace) -> str:
    """The scaling of a score, in words."""
    scale = trace["scaled"].operation
    if scale.factor is None:
        return f"divided by √{scale.d_k}"
    if scale.base:
        return f"times ln {scale.base}, so that exp makes a power of {scale.base}"
    return f"multiplied by {scale.factor:g}".replace("-", "−")


def _power_of(base: int) -> Condition:
    return lambda trace: trace["scaled"].operation.base == base


def _multiplied(trace: Trace) -> bool:
    scale = trace["scaled"].operation
    return scale.factor is not None and scale.factor != 1 and scale.base is None


def _by_a_number(trace: Trace) -> bool:
    return not _divided(trace) and is_scaled(trace)


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


_BASES = (2, 3)

_IS = "The scaled score of “{query}” with “{key}” is {value}: the score {scores}"

SCALING = Step(
    id="scaling",
    title="Scaling",
    headings=(
        Section("divided", "Keep scores from growing with $d_k$", _divided),
        Section("off", "Scores as they are: scaling is switched off", is_unscaled),
        Section("multiplied", "Scores times a given number", _multiplied),
        *(
            Section(f"powers of {b}", f"Scores times ln {b}, for shares that are fractions", _power_of(b))
            for b in _BASES
        ),
    ),
    why=(
        Section(
            "divided",
            "The more products a score adds up, the wider scores spread, and the softmax of a wide spread gives nearly "
            "all to one {unit}; dividing by $\\sqrt{d_k}$ keeps the spread.",
            _divided,
        ),
        Section(
            "off",
            "Scaling is off, so the spread of the scores grows with $\\sqrt{d_k}$, and the softmax of a wide spread "
            "gives nearly all to one {unit}.",
            is_unscaled,
        ),
        Section(
            "multiplied",
            "The factor sets how far apart scores are, and so how evenly the softmax shares attention among {unit}s.",
            _by_a_number,
        ),
    ),
    sections=(
        Section("spread", _spread),
        Section("divided", "Dividing by $\\sqrt{d_k}$ keeps the spread from growing with `d_k`.", _divided),
        Section("off", "Dividing by $\\sqrt{d_k}$ would keep the spread from growing with `d_k`.", is_unscaled),
        Section(
            "multiplied",
            "Here the scores are multiplied by a number that is given; dividing by $\\sqrt{d_k}$ would keep the spread "
            "from growing with `d_k`.",
            _multiplied,
        ),
        *(
            Section(
                f"powers of {base}",
                f"Here the scores are multiplied by $\\ln {base}$, so that exp makes powers of {base} and every share "
                "is a fraction to compute by hand; dividing by $\\sqrt{d_k}$ would keep the spread from growing with "
                "`d_k`.",
                _power_of(base),
            )
            for base in _BASES
        ),
    ),
    stages=("scaled",),
    entries={
        "scaled": Entry(
            "Z_i",
            "Scaled scores",
            "the scores times the scale: 1/√d_k, unless another is given",
            one="scaled score",
            stories=(
                Story(f"{_IS} divided by √d_k.", of=_divided),
                Story("The score of “{query}” with “{key}” stays {value}, as scaling is switched off.", of=is_unscaled),
                Story(f"{_IS} times the given number.", of=_multiplied),
                *(Story(f"{_IS} times ln {base}.", of=_power_of(base)) for base in _BASES),
            ),
        )
    },
    band_texts={
        "scaled": ("**Scale**: {story}", (SCORE_SET_IN_BAND, Story("{scaling}, “{key}” has {value}."))),
    },
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
