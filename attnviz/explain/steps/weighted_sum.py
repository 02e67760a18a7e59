"""Weighted sum: each head mixes the values by the shares."""

from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.story import PARTS, SUM, Story, both, has, lacks

_QUOTIENT = ": its running output after the last block, over its running sum"
_OF_LATENTS = "In dimension {column} of the latents, “{query}” collects {value}"
_COLLECTS = "In dimension {column}, “{query}” collects {value}"


def _collected(text: str) -> tuple[Story, Story]:
    """The stories of a weighted sum: its largest term, and whose it is."""
    return (
        Story(f"{text}; {PARTS.replace('{value:part.place}', '“{value:part.place}”')}."),
        Story(f"{text}, all of it from “{{value:part.place}}” ({{value:part.sum}})."),
    )


WEIGHTED_SUM = Step(
    id="weighted-sum",
    title="Weighted sum",
    headings=(
        Section("values", "Collect the values, in those shares", lacks("latent_heads", "running_output")),
        Section("latents", "Collect the latents, in those shares", both(has("latent_heads"), lacks("running_output"))),
        Section("quotient", "Divide what was collected by the sum", has("running_output")),
    ),
    why=(
        Section(
            "why",
            "Each :green[**value**] counts by its share, and they are added up: the only place in the layer where "
            "{unit}s exchange information.",
            lacks("latent_heads", "running_output"),
        ),
        Section(
            "why latents",
            "Each latent counts by its share, and they are added up: the only place in the layer where {unit}s "
            "exchange information.",
            both(has("latent_heads"), lacks("running_output")),
        ),
        Section(
            "quotient",
            "What was collected was counted by exp(score − maximum); divided by the sum of these it is counted by "
            "shares, though none of them was kept.",
            has("running_output"),
        ),
    ),
    sections=(
        Section(
            "mixture",
            "Each query's result is a mixture of the :green[values] of all keys, each by its share of the attention. "
            "This is the only step in the layer where {unit}s exchange information.",
            lacks("latent_heads", "running_output"),
        ),
        Section(
            "latents",
            "Each query’s result is a mixture of the latents of all keys, each by its share of the attention; what "
            "would make values of them comes after. This is the only step in the layer where {unit}s exchange "
            "information.",
            both(has("latent_heads"), lacks("running_output")),
        ),
        *(
            Section(
                f"quotient of {kind}",
                "Divided by the running sum, the running output after the last block is, to rounding, a mixture of the "
                f"{kind} of all keys, each by its share of the attention. None of these shares was kept on the way.",
                both(has("running_output"), condition),
            )
            for kind, condition in ((":green[values]", lacks("latent_heads")), ("latents", has("latent_heads")))
        ),
    ),
    stages=("latent_heads", "heads"),
    entries={
        "latent_heads": Entry(
            "H^D_i",
            "Collected latents",
            "each head's mixture of latents",
            one="collected latent",
            stories=(
                Story(
                    "“{query}” sees no key in {head}, so it collects nothing: {value} in dimension {column}.",
                    "unseeing",
                ),
                Story(f"{_OF_LATENTS}{_QUOTIENT}.", of=has("running_output")),
                *_collected(_OF_LATENTS),
            ),
        ),
        "heads": Entry(
            "H_i",
            "Head outputs",
            "each head's mixture of values",
            "v",
            stories=(
                Story(
                    "“{query}” sees no key in {head}, so it collects nothing: {value} in dimension {column}.",
                    "unseeing",
                ),
                Story(f"{_COLLECTS}{_QUOTIENT}.", of=both(has("running_output"), lacks("latent_heads"))),
                Story(f"{_COLLECTS}; of what it collected, {PARTS}.", of=has("latent_heads")),
                Story(f"{_COLLECTS}.", of=has("latent_heads")),
                *_collected(_COLLECTS),
            ),
        ),
    },
    arcs=True,
    band_texts={
        "latent collected": (
            "**Collect**: every {unit} passes on its latent, in that share: {story} Added up, that is what {head} "
            "collected for “{word}”.",
            (Story("“{key}” {attention} × {value} in dimension {column}."),),
        ),
        "v": (
            "**Collect**: every {unit} passes on its :green[**value**], in that share: {story} Added up, that is what "
            "{head} found for “{word}”.",
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
            "Each value times its share, added up.",
            "“{key}” counts {attention:percent} here.",
            "WeightedSum",
        ),
    ),
)
