"""Softcap: no score gets beyond a limit."""

from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Step, Term
from attnviz.explain.story import Story
from attnviz.explain.wording import precise


def _limit(trace: Trace, entries: Mapping[str, Entry]) -> str:
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
