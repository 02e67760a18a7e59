"""Concatenation: the heads' outputs side by side."""

from attnviz.explain.step import Entry, Step, Term, either
from attnviz.explain.story import Story, several_heads

CONCATENATION = Step(
    id="concatenation",
    title="Concatenation",
    heading=either(several_heads, "Put the heads side by side", "One head, so nothing to concatenate"),
    why=either(
        several_heads,
        "Each head looked on its own; side by side, nothing of what any of them found is lost.",
        "With one head there is nothing to concatenate, so what it found is passed on as it is.",
    ),
    text=either(
        several_heads,
        "Each head has worked on its own, with its own queries, keys and values. Their results are written **side "
        "by side**, head 1 first, so that a row is as long as the rows of all heads together. Nothing is added or "
        "mixed yet.",
        "With several heads their results would be written **side by side** here. There is one head, so its "
        "result is passed on as it is.",
    ),
    stages=("concat",),
    entries={"concat": Entry("H", "Concatenation", "the heads' outputs side by side", "v", one="found")},
    stories={"concat": (Story("In dimension {column} of its row, “{query}” has {value}, copied from {head}."),)},
    arcs=True,
    band_texts={
        "concat": (
            "**Each head** looked on its own: {story} Side by side, what they found is one row for “{word}”.",
            (Story("{head} gives “{key}” {attention:percent} and finds {value} in dimension {column}."),),
        )
    },
    terms=(
        Term(
            "concatenation",
            r"\bconcatenation\b|\bside by side\b",
            "Rows written one after the other as one longer row, without adding anything up.",
            "The length of the row is {concat:length} here.",
            "Concatenation",
        ),
        Term(
            "unchanged",
            r"\bas (?:it is|they are)\b",
            "Nothing is computed: the same numbers are passed on.",
            operation="Identity",
        ),
    ),
)
