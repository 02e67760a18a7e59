"""Blocks: softmax and weighted sum over one block of keys at a time."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.story import Story, has, lacks
from attnviz.explain.wording import counted

_BY = "By the end of the block of “{key}”"


def _read(trace: Trace, entries: Mapping[str, Entry]) -> str:
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
        Section("read", _read),
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
