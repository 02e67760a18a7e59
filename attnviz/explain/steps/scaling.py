"""Scaling: the scores over the square root of d_k; then a softcap, and ALiBi, which takes from distant keys."""

from attnviz.core.operations.scores import slopes
from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Section, Step, Term
from attnviz.explain.story import SCORE_SET_IN_BAND, Condition, Story, computed_from
from attnviz.explain.wording import precise


def _slopes(trace: Trace, entries: Entries) -> str:
    numbers = [precise(slope) for slope in slopes(trace["biased"].operation.n_heads)]
    first = "**ALiBi** takes a number from each score, a slope times the distance of query and key."
    if len(numbers) == 1:
        return f"{first} The slope is {numbers[0]}."
    listed = ", ".join(numbers) if len(numbers) <= 4 else f"{', '.join(numbers[:3])} and so on"
    return f"{first} The heads’ slopes are {listed}: a head with a steep one looks nearby."


ALIBI = Step(
    id="alibi",
    title="ALiBi",
    heading="What is far away loses",
    why=(
        "A score alone doesn’t say how far apart two {unit}s are; taking away more the further they are lets it, "
        "and holds for texts of any length."
    ),
    text=_slopes,
    stages=("biased",),
    entries={
        "biased": Entry("Z^B_i", "Biased scores", "the scores, less a slope times the distance", one="biased score")
    },
    stories={
        "biased": tuple(
            Story(
                f"Of the {called} {{{source}}} of “{{query}}” with “{{key}}” the distance leaves {{value}}.",
                of=computed_from("biased", source),
            )
            for source, called in (("capped", "capped score"), ("scaled", "scaled score"))
        )
    },
    terms=(
        Term(
            "ALiBi",
            r"\bALiBi\b|\bbiased\b",
            "Takes more from a score the further its key is: a slope of the head, times the distance.",
            "Here it leaves {biased} of {scaled}.",
            "ALiBi",
        ),
    ),
)


def _limit(trace: Trace, entries: Entries) -> str:
    limit = precise(trace["capped"].operation.limit)
    return (
        f"Each scaled score is divided by {limit}, goes through tanh, and is multiplied by {limit} again. So a score "
        f"near 0 stays nearly what it is, and none gets beyond ±{limit}."
    )


SOFTCAP = Step(
    id="softcap",
    title="Softcap",
    heading="No score gets beyond a limit",
    why=(
        "One score far above the others takes almost all attention; a limit, which scores near but never reach, "
        "leaves some for the others."
    ),
    text=_limit,
    stages=("capped",),
    entries={"capped": Entry("Z^C_i", "Capped scores", "the scaled scores, none beyond the limit", one="capped score")},
    stories={
        "capped": (
            Story("The scaled score {scaled} of “{query}” with “{key}” is brought to {value}, inside the limit."),
        )
    },
    terms=(
        Term(
            "softcap",
            r"\bsoftcap\b|\bcapped\b",
            "Keeps scores inside a limit: the limit times tanh of the score over the limit.",
            "Here it makes {capped} of {scaled}.",
            "Softcap",
        ),
    ),
)


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


def _spread(trace: Trace, entries: Entries) -> str:
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


def _heading(trace: Trace, entries: Entries) -> str:
    scale = trace["scaled"].operation
    if scale.factor is None:
        return "Keep scores from growing with $d_k$"
    if scale.factor == 1:
        return "Scores as they are: scaling is switched off"
    if scale.base:
        return f"Scores times ln {scale.base}, for attention weights that are fractions"
    return "Scores times a given number"


def _why(trace: Trace, entries: Entries) -> str:
    factor = trace["scaled"].operation.factor
    if factor is None:
        return (
            "The more products a score adds up, the wider scores spread, and the softmax of a wide spread gives nearly "
            "all to one {unit}. Dividing by $\\sqrt{d_k}$ stops the spread from growing."
        )
    if factor == 1:
        return (
            "Scaling is off, so the spread of the scores grows with $\\sqrt{d_k}$, and the softmax of a wide spread "
            "gives nearly all to one {unit}."
        )
    return "The factor sets how far apart scores are, and so how evenly the softmax shares attention among {unit}s."


def _scaled(trace: Trace, entries: Entries) -> str:
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
            Story(f"{_IS} divided by √d_k.", of=lambda trace: trace["scaled"].operation.factor is None),
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
