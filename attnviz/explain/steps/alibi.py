"""ALiBi: a score loses a number that grows with the distance of its key."""

from collections.abc import Mapping

from attnviz.core.operations.scores import slopes
from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Step, Term
from attnviz.explain.story import Story, computed_from
from attnviz.explain.wording import precise


def _slopes(trace: Trace, entries: Mapping[str, Entry]) -> str:
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
