"""Softmax: masked scores become attention."""

from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.trace import Trace
from attnviz.explain.step import Bars, Entries, Entry, Section, Step, Term, either
from attnviz.explain.steps.mask import before, moves, scored
from attnviz.explain.story import Story, both, has, lacks, unless
from attnviz.explain.texts import crosses, encodes, key_noun, sides, writes


def _sums(trace: Trace) -> bool:
    return isinstance(trace["attention"].operation, SumNormalise)


_exponentiates = unless(_sums)


def _adds_products(trace: Trace) -> bool:
    """Whether a score adds up several products of a query and a key."""
    queries = [] if "content_scores" in trace else trace.inputs("scores")[:1]
    return any(each.shape[-1] > 1 for each in queries)


def _by_hand(trace: Trace) -> bool:
    return bool(trace["attention"].overridden)


def _no_mask(trace: Trace, entries: Entries) -> str:
    masked, seen = entries["masked"], entries[before(trace).name]
    return (
        f"{_hides_nothing(trace)}, so the masked scores are the {seen.title.lower()}: ${masked.symbol} = "
        f"{seen.symbol}$."
    )


def _hides_nothing(trace: Trace) -> str:
    if encodes(trace):
        return f"The {sides(trace)[0]} text is there as a whole, and no mask hides later {trace.origin.unit}s"
    if crosses(trace):
        return f"No mask hides any {key_noun(trace)} here"
    if writes(trace) and len(trace["mask"].value) == 1:
        return "Nothing comes later that a mask would hide"
    return "No mask hides anything here"


def _is_layer_of_a_model(trace: Trace) -> bool:
    return bool(trace.origin.layers)


_GIVES = "“{query}” gives “{key}” {value:percent}"
_REST = "{sink_share:percent} of its row"
_RANKED = f"{_GIVES}: its %(score)s, {{masked}}, is {{masked:rank}} of the {{masked:count}}"

SOFTMAX = Step(
    id="softmax",
    title="Softmax",
    heading=either(_sums, "Scores over their sum, which is not softmax", "Scores become attention weights"),
    why=either(
        _sums,
        "Dividing by the sum makes attention weights that add up to 1, so what one {unit} gains the others lose; "
        "without exp one may be negative.",
        "Exponentiating makes every score positive and stretches the leads. Dividing by the sum turns them into "
        "weights that compete: what one {unit} gains, the others lose.",
    ),
    text=(
        Section("layer", lambda trace, _: trace.origin.layers[0], _is_layer_of_a_model),
        Section(
            "softmax",
            "Each row goes through the **softmax**: subtract its largest score (so that $\\exp$ cannot overflow), "
            "exponentiate, and divide by the row's sum. The result is the **attention weight** that each query gives "
            "each key.",
            both(_exponentiates, lacks("sinks")),
        ),
        Section(
            "shares",
            "No attention weight is negative, and each row sums to 1 (unless every key is hidden).",
            both(_exponentiates, unless(_by_hand), unless(_is_layer_of_a_model), lacks("sinks")),
        ),
        Section(
            "sinks",
            "Each row goes through the **softmax** with one score more, the **sink**, which is of no key: subtract the "
            "largest, exponentiate, and divide by the sum. The sink’s share goes nowhere, so each row sums to at most "
            "1, and a head that finds nothing may pass on next to nothing. Without one all of its attention must go to "
            "keys, and trained models put what they have no use for on the first (Xiao et al. 2023).",
            has("sinks"),
        ),
        Section(
            "sum",
            "This example divides each row by its **sum**. So an attention weight can be negative, and adding the "
            "same number to all scores changes the attention weights.",
            _sums,
        ),
        Section("sum to 1", "The rows do add up to 1, as those of a softmax do.", both(_sums, unless(_by_hand))),
        Section("by hand", "A row in which an attention weight is set, not computed, need not add up to 1.", _by_hand),
    ),
    stages=("attention", "sink_share"),
    subject="attention",
    entries={
        "attention": Entry(
            "A_i",
            "Attention",
            "how much of its attention a query gives each key",
            one="attention weight",
            scale="share",
        ),
        "sink_share": Entry(
            "T_i", "Share of the sink", "what the sink takes of each row of attention", scale="share", one="sink"
        ),
        "sinks": Entry(
            "σ_i",
            "Sinks",
            "for each head a score of no key, which takes a part of the attention",
            kind="parameter",
            one="sink",
        ),
    },
    stories={
        "attention": (
            Story(f"{_GIVES}, as you set it by hand; its row now adds up to {{value:sum}}.", "set"),
            Story("“{query}” sees no key in {head}, so it gives nothing to any.", "unseeing"),
            Story(
                "“{key}” is hidden from “{query}”: its masked score is −∞, so its attention weight is exactly 0.",
                "hidden",
            ),
            *scored(f"{_RANKED}. The sink takes {_REST}.", of=has("sinks")),
            *scored(
                f"{_RANKED}. %(before)s {{scores}}; {{scores:part.place}} alone contributes {{scores:part}}, "
                "the rest {scores:part.rest}.",
                of=both(_exponentiates, _adds_products),
            ),
            *scored(f"{_RANKED}.", of=_exponentiates),
            Story(f"{_GIVES}: it sees no other key, and the sink takes {_REST}.", of=has("sinks")),
            Story(f"{_GIVES}, as it sees no other key.", of=both(_exponentiates, lacks("sinks"))),
            *scored(f"{_GIVES}: its %(score)s {{masked}} over {{masked:sum}}, the sum of its row.", of=_sums),
        ),
        "sink_share": (
            Story("“{query}” sees no key, so the sink takes all of its row.", "unseeing"),
            Story(
                "Of the row of “{query}” the sink takes {value:percent}: its score {sinks} counts in the sum as "
                "a key’s does. It has no value, so nothing is collected for it."
            ),
        ),
        "sinks": (Story("In {head}, a score of {value} that belongs to no key counts in the sum of each row."),),
    },
    notes=(Section("no mask", _no_mask, unless(moves), stages=("masked",)),),
    arcs=True,
    bars=(
        Bars("masked", when=_exponentiates),
        Bars("attention", "#exp", when=_exponentiates),
        Bars("attention", when=_exponentiates),
    ),
    band_texts={
        "#exp": (
            "**Subtract** the largest{story}, and **exponentiate**.",
            (
                Story(", though “{query}” sees no key", "unseeing"),
                Story(" score, {masked:most}, or the sink, {sinks}, whichever is larger", of=has("sinks")),
                Story(", {masked:most}"),
            ),
        ),
        "attention": (
            "**Share**: {story}",
            (
                Story("“{query}” gives “{key}” {value}, as it is set by hand.", "set"),
                Story("“{query}” sees no key, so the sink takes all of its row.", "unseeing", of=has("sinks")),
                Story("“{query}” sees no key, so it gives nothing to any.", "unseeing"),
                Story(
                    "divide by the sum, in which the sink counts. Largest: {value:best}, {value:most}; the sink takes "
                    "{sink_share:percent}.",
                    of=has("sinks"),
                ),
                Story(
                    "divide by the sum, in which the sink counts: {value:most} for {value:alike}; the sink takes "
                    "{sink_share:percent}.",
                    of=has("sinks"),
                ),
                Story("divide by the sum. Largest: {value:best}, {value:most}."),
                Story("divide by the sum: {value:most} for {value:alike}."),
            ),
        ),
    },
    terms=(
        Term(
            "attention weight",
            r"\battention weights?\b|\bshares?\b",
            "How much of its attention a query gives to one key.",
            "In the row of “{query}”, “{key}” gets {attention:percent}.",
        ),
        Term(
            "attention",
            r"\battention\b",
            "How a {unit} divides its attention: the weights with which it mixes the others’ values.",
            "In the row of “{query}”, “{key}” gets {attention:percent}.",
        ),
        Term(
            "softmax",
            r"\bsoftmax\b",
            "Makes numbers add up to 1: exp of each, over the sum of all these.",
            "Here it makes {attention:percent} of {masked}.",
            "Softmax",
        ),
        Term(
            "rows over their sums",
            r"\brows? over (?:its|their) sums?\b|\bover their sum\b",
            "Each score over the sum of its row: attention weights without exp, which may be negative.",
            "Here it makes {attention} of {masked}.",
            "SumNormalise",
        ),
        Term(
            "sink",
            r"\bsinks?\b",
            "An extra score that belongs to no {unit} and soaks up attention.",
            "That of {head} is {sinks}, and takes {sink_share:percent}.",
            "SinkShare",
        ),
    ),
)
