"""Softmax: masked scores become attention."""

from collections.abc import Mapping

from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.trace import Trace
from attnviz.explain.step import Bars, Entry, Section, Step, Term
from attnviz.explain.steps.mask import before, moves, scored
from attnviz.explain.story import Story, both, has, lacks


def _sums(trace: Trace) -> bool:
    return isinstance(trace["attention"].operation, SumNormalise)


def _exponentiates(trace: Trace) -> bool:
    return not _sums(trace)


def _adds_products(trace: Trace) -> bool:
    """Whether a score adds up several products of a query and a key."""
    queries = [] if "content_scores" in trace else trace.inputs("scores")[:1]
    return any(each.shape[-1] > 1 for each in queries)


def _by_hand(trace: Trace) -> bool:
    return bool(trace["attention"].overridden)


def _untouched(trace: Trace) -> bool:
    return not _by_hand(trace)


def _no_mask(trace: Trace, entries: Mapping[str, Entry]) -> str:
    masked, seen = entries["masked"], entries[before(trace).name]
    return (
        f"No mask hides anything here, so the masked scores are the {seen.title.lower()}: "
        f"${masked.symbol} = {seen.symbol}$."
    )


def _is_layer_of_a_model(trace: Trace) -> bool:
    return bool(trace.origin.layers)


def _is_no_layer_of_a_model(trace: Trace) -> bool:
    return not _is_layer_of_a_model(trace)


def _purpose(trace: Trace, entries: Mapping[str, Entry]) -> str:
    return trace.origin.layers[0]


_GIVES = "“{query}” gives “{key}” {value:percent}"
_REST = "{sink_share:percent} of its row"
_RANKED = f"{_GIVES}: its %s, {{masked}}, is {{masked:rank}} of {{masked:count}}"

SOFTMAX = Step(
    id="softmax",
    title="Softmax",
    headings=(
        Section("softmax", "Scores become shares", _exponentiates),
        Section("sum", "Scores over their sum, which is not softmax", _sums),
    ),
    why=(
        Section(
            "softmax",
            "Exponentiating makes every score positive and stretches the leads. Dividing by the sum turns them into "
            "weights that compete: what one {unit} gains, the others lose.",
            _exponentiates,
        ),
        Section(
            "over sum",
            "Dividing by the sum makes shares that add up to 1, so what one {unit} gains the others lose; without exp "
            "a share may be negative.",
            _sums,
        ),
    ),
    sections=(
        Section("layer", _purpose, _is_layer_of_a_model),
        Section(
            "softmax",
            "Each row goes through the **softmax**: subtract its largest score (so that $\\exp$ cannot overflow), "
            "exponentiate, and divide by the row's sum. The result is the **attention**: the share that each query "
            "gives each key.",
            both(_exponentiates, lacks("sinks")),
        ),
        Section(
            "shares",
            "No share is negative, and each row sums to 1 (unless every key is hidden).",
            both(_exponentiates, _untouched, _is_no_layer_of_a_model, lacks("sinks")),
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
            "This example divides each row by its **sum**. So a share can be negative, and adding the same number to "
            "all scores changes the shares.",
            _sums,
        ),
        Section("sum to 1", "The rows do add up to 1, as those of a softmax do.", both(_sums, _untouched)),
        Section("by hand", "A row in which a share is set, not computed, need not add up to 1.", _by_hand),
    ),
    stages=("attention", "sink_share"),
    subject="attention",
    entries={
        "attention": Entry(
            "A_i",
            "Attention",
            "the share of its attention that a query gives each key",
            one="share",
            scale="share",
            stories=(
                Story(f"{_GIVES}, as you set it by hand; its row now adds up to {{value:sum}}.", "set"),
                Story("“{query}” sees no key in {head}, so it gives nothing to any.", "unseeing"),
                Story("“{key}” is hidden from “{query}”: its masked score is −∞, so its share is exactly 0.", "hidden"),
                *scored(f"{_RANKED}. The sink takes {_REST}.", of=has("sinks")),
                *scored(
                    f"{_RANKED}. Its dot product is {{scores}}; {{scores:part.place}} alone contributes "
                    "{scores:part}.",
                    of=both(_exponentiates, _adds_products),
                ),
                *scored(f"{_RANKED}.", of=_exponentiates),
                Story(f"{_GIVES}: it sees no other key, and the sink takes {_REST}.", of=has("sinks")),
                Story(f"{_GIVES}, as it sees no other key.", of=both(_exponentiates, lacks("sinks"))),
                *scored(f"{_GIVES}: its %s {{masked}} over {{masked:sum}}, the sum of its row.", of=_sums),
            ),
        ),
        "sink_share": Entry(
            "T_i",
            "Share of the sink",
            "what the sink takes of each row of attention",
            scale="share",
            one="sink",
            stories=(
                Story("“{query}” sees no key, so the sink takes all of its row.", "unseeing"),
                Story(
                    "Of the row of “{query}” the sink takes {value:percent}: its score {sinks} counts in the sum as "
                    "a key’s does. It has no value, so nothing is collected for it."
                ),
            ),
        ),
        "sinks": Entry(
            "σ_i",
            "Sinks",
            "for each head a score of no key, whose share is dropped",
            kind="parameter",
            one="sink",
            stories=(Story("In {head}, a score of {value} that belongs to no key counts in the sum of each row."),),
        ),
    },
    notes=(Section("no mask", _no_mask, lambda trace: not moves(trace), stages=("masked",)),),
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
                    "divide by the sum, in which the sink counts. Largest share{value:s}: {value:best}, {value:most}; "
                    "the sink takes {sink_share:percent}.",
                    of=has("sinks"),
                ),
                Story(
                    "divide by the sum, in which the sink counts: {value:most} for {value:alike}; the sink takes "
                    "{sink_share:percent}.",
                    of=has("sinks"),
                ),
                Story("divide by the sum. Largest share{value:s}: {value:best}, {value:most}."),
                Story("divide by the sum: {value:most} for {value:alike}."),
            ),
        ),
    },
    terms=(
        Term(
            "share",
            r"\bshares?\b",
            "How much of its attention a query gives to one key.",
            "“{query}” gives “{key}” {attention:percent}.",
        ),
        Term(
            "attention",
            r"\battention\b",
            "How a {unit} divides its attention: the weights with which it mixes the others’ values.",
            "“{query}” gives “{key}” {attention:percent}.",
        ),
        Term(
            "softmax",
            r"\bsoftmax\b",
            "Makes shares of numbers: exp of each, over the sum of all these.",
            "Here it makes {attention:percent} of {masked}.",
            "Softmax",
        ),
        Term(
            "rows over their sums",
            r"\brows? over (?:its|their) sums?\b|\bover their sum\b",
            "Each score over the sum of its row: shares without exp, which may be negative.",
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
