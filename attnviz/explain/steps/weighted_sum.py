"""Weighted sum: each head mixes the values by their attention weights, at once or by blocks of keys."""

from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Section, Step, Term
from attnviz.explain.story import PARTS, SUM, Story, both, has, lacks
from attnviz.explain.texts import crosses, query_noun, sides
from attnviz.explain.wording import counted

_BY = "By the end of the block of “{key}”"


def _blocks_text(trace: Trace, entries: Entries) -> str:
    size = counted(trace["running_max"].operation.block_size, "key")
    return (
        f"**By blocks** a query reads {size} at a time, and keeps the **running maximum** of its scores, the **running "
        "sum** of $\\exp$(score − maximum), and the **running output**, that of these times the values. A larger "
        "score makes less of it: sum and output are multiplied by $\\exp$(old maximum − new)."
    )


BLOCKS = Step(
    id="blocks",
    title="By blocks",
    heading="The same, block after block",
    why=(
        "Read block after block, a text may be long: no whole row of attention weights is needed, only a maximum, a "
        "sum and an output for each query (FlashAttention)."
    ),
    text=(
        Section("read", _blocks_text),
        Section(
            "same",
            "In the end output over sum is, to rounding, what softmax and weighted sum make at once; the attention "
            "weights before are not read.",
        ),
    ),
    stages=("running_max", "running_sum", "running_output"),
    entries={
        "running_max": Entry(
            "M^R_i", "Running maximum", "the largest score so far, at the end of each key’s block", one="max"
        ),
        "running_sum": Entry("L^R_i", "Running sum", "the sum of exp(score − maximum) so far", one="sum"),
        "running_output": Entry(
            "O^R_i", "Running output", "the sum of exp(score − maximum) times the values so far", "v", one="collected"
        ),
    },
    stories={
        "running_max": (
            Story(f"{_BY}, the largest of the sink and the scores of “{{query}}” is {{value}}.", of=has("sinks")),
            Story(f"{_BY}, the largest score of “{{query}}” is {{value}}.", of=lacks("sinks")),
        ),
        "running_sum": (
            Story("“{key}” is hidden from “{query}”: by the end of its block the sum is {value}.", "hidden"),
            Story(
                f"{_BY}, exp(score − {{running_max}}) of “{{query}}” adds up to {{value}}, with that of the sink.",
                of=has("sinks"),
            ),
            Story(f"{_BY}, exp(score − {{running_max}}) of “{{query}}” adds up to {{value}}.", of=lacks("sinks")),
        ),
        "running_output": (
            Story(f"{_BY}, “{{query}}” has collected {{value}} in dimension {{column}}, not yet divided by the sum."),
        ),
    },
    terms=(
        Term(
            "running maximum",
            r"\brunning maximum\b|\bmax so far\b",
            "The largest score of the keys that were read so far, which is subtracted before exp.",
            "At the end of the block of “{key}” it is {running_max}.",
            "RunningMaximum",
        ),
        Term(
            "running sum",
            r"\brunning sum\b|\bsum so far\b",
            "What exp(score − maximum) adds up to for the keys that were read so far.",
            "At the end of the block of “{key}” it is {running_sum}.",
            "RunningSum",
        ),
        Term(
            "running output",
            r"\brunning output\b|\boutput so far\b",
            "The values of the keys that were read so far, each times exp(score − maximum), added up.",
            "At the end of the block of “{key}” it begins with {running_output}.",
            "RunningOutput",
        ),
        Term(
            "by blocks",
            r"\bby blocks\b|\blast block\b",
            "Some keys at a time, so that no whole row of attention weights is needed; what was collected is divided "
            "at the end.",
            operation="LastQuotient",
        ),
    ),
)


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


def _heading(trace: Trace, entries: Entries) -> str:
    if "running_output" in trace:
        return "Divide what was collected by the sum"
    return f"Collect the {_collected_vectors(trace)}, each times its attention weight"


def _why(trace: Trace, entries: Entries) -> str:
    if "running_output" in trace:
        return (
            "What was collected was counted by exp(score − maximum); divided by the sum of these it is counted by "
            "attention weights, though none of them was kept."
        )
    one = "latent" if "latent_heads" in trace else ":green[**value**]"
    return (
        f"Each {one} counts by its attention weight, and they are added up: the only place in the layer where "
        f"{_exchange(trace)}."
    )


def _exchange(trace: Trace) -> str:
    if not crosses(trace):
        return "{unit}s exchange information"
    return f"{query_noun(trace)}s take in something of the {sides(trace)[1]} ones"


def _mixture(trace: Trace, entries: Entries) -> str:
    mixture = f"a mixture of the {_collected_vectors(trace)} of all keys, each times its attention weight"
    if "running_output" in trace:
        return (
            f"Divided by the running sum, the running output after the last block is, to rounding, {mixture}. None of "
            "these attention weights was kept on the way."
        )
    later = "; what would make values of them comes after" if "latent_heads" in trace else ""
    return f"Each query’s result is {mixture}{later}. This is the only step in the layer where {_exchange(trace)}."


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
