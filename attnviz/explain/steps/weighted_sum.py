"""Weighted sum: each head mixes the values by their attention weights."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Step, Term
from attnviz.explain.story import PARTS, SUM, Story, both, has, lacks

_QUOTIENT = ": its running output after the last block, over its running sum"
_OF_LATENTS = "In dimension {column} of the latents, “{query}” collects {value}"
_COLLECTS = "In dimension {column}, “{query}” collects {value}"


_NOTHING = Story("“{query}” sees no key in {head}, so it collects nothing: {value} in dimension {column}.", "unseeing")


def _collected(text: str) -> tuple[Story, Story]:
    """The stories of a weighted sum: its largest term, and whose it is."""
    return (
        Story(f"{text}; {PARTS.replace('{value:part.place}', '“{value:part.place}”')}."),
        Story(f"{text}, all of it from “{{value:part.place}}” ({{value:part.sum}})."),
    )


def _heading(trace: Trace, entries: Mapping[str, Entry]) -> str:
    if "running_output" in trace:
        return "Divide what was collected by the sum"
    return f"Collect the {_collected_vectors(trace)}, each times its attention weight"


def _why(trace: Trace, entries: Mapping[str, Entry]) -> str:
    if "running_output" in trace:
        return (
            "What was collected was counted by exp(score − maximum); divided by the sum of these it is counted by "
            "attention weights, though none of them was kept."
        )
    one = "latent" if "latent_heads" in trace else ":green[**value**]"
    return (
        f"Each {one} counts by its attention weight, and they are added up: the only place in the layer where "
        f"{{unit}}s exchange information."
    )


def _mixture(trace: Trace, entries: Mapping[str, Entry]) -> str:
    mixture = f"a mixture of the {_collected_vectors(trace)} of all keys, each times its attention weight"
    if "running_output" in trace:
        return (
            f"Divided by the running sum, the running output after the last block is, to rounding, {mixture}. None of "
            "these attention weights was kept on the way."
        )
    later = "; what would make values of them comes after" if "latent_heads" in trace else ""
    return (
        f"Each query’s result is {mixture}{later}. This is the only step in the layer where {{unit}}s exchange "
        "information."
    )


def _collected_vectors(trace: Trace) -> str:
    return "latents" if "latent_heads" in trace else ":green[values]"


WEIGHTED_SUM = Step(
    id="weighted-sum",
    title="Weighted sum",
    heading=_heading,
    why=_why,
    text=_mixture,
    stages=("latent_heads", "heads"),
    entries={
        "latent_heads": Entry("H^D_i", "Collected latents", "each head's mixture of latents", one="collected latent"),
        "heads": Entry("H_i", "Head outputs", "each head's mixture of values", "v"),
    },
    stories={
        "latent_heads": (
            _NOTHING,
            Story(f"{_OF_LATENTS}{_QUOTIENT}.", of=has("running_output")),
            *_collected(_OF_LATENTS),
        ),
        "heads": (
            _NOTHING,
            Story(f"{_COLLECTS}{_QUOTIENT}.", of=both(has("running_output"), lacks("latent_heads"))),
            Story(f"{_COLLECTS}; of what it collected, {PARTS}.", of=has("latent_heads")),
            Story(f"{_COLLECTS}.", of=has("latent_heads")),
            *_collected(_COLLECTS),
        ),
    },
    arcs=True,
    band_texts={
        "latent collected": (
            "**Collect**: every {unit} passes on its latent, times its attention weight: {story} Added up, that is "
            "what {head} collected for “{word}”.",
            (Story("“{key}” {attention} × {value} in dimension {column}."),),
        ),
        "v": (
            "**Collect**: every {unit} passes on its :green[**value**], times its attention weight: {story} Added up, "
            "that is what {head} found for “{word}”.",
            (Story("“{key}” {attention} × {value} in dimension {column}."),),
        ),
        "heads": ("**Added up**: what {head} found for “{word}”, {story}", SUM),
        "heads of LastQuotient": (
            "**Divide** what was collected by the sum, both after the last block: what {head} found for “{word}”, "
            "{story}",
            SUM,
        ),
    },
    terms=(
        Term(
            "weighted sum",
            r"\bweighted sums?\b|\bmixture\b",
            "Each value times its attention weight, added up.",
            "“{key}” counts {attention:percent} here.",
            "WeightedSum",
        ),
    ),
)
