"""Scores: each query's dot product with each key."""

from attnviz.text.condition import hides, hides_none
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import PARTS, Story

_SCORE = "“{query}” scores {value} with “{key}”"

SCORES = Step(
    id="scores",
    title="Scores",
    headings=(Section("scores", "How well does each key match each query?"),),
    why=(
        Section(
            "why",
            "A :blue[**query**] and a :orange[**key**] are compared by their dot product: large numbers of the same "
            "sign in the same dimensions make it large, so it says how well they match.",
        ),
    ),
    sections=(
        Section(
            "dot products",
            "Every :blue[query] meets every :orange[key] in a **dot product**: multiply dimension by dimension and add "
            "up. The larger the score, the better query and key match. Queries are rows and keys are columns, from "
            "here to the softmax.",
        ),
    ),
    stages=("scores",),
    entries={
        "scores": Entry(
            "S_i",
            "Scores",
            "each query's dot product with each key",
            one="score",
            stories=(
                Story(f"{_SCORE}, which the mask hides from it; {PARTS}.", "hidden"),
                Story(f"{_SCORE}, {{value:rank}} of the {{value:count}} keys that it may see; {PARTS}.", of=hides),
                Story(f"{_SCORE}, {{value:rank}} of {{value:count}}; {PARTS}.", of=hides_none),
                Story(f"{_SCORE}, the only key that it may see; {PARTS}.", of=hides),
                Story(f"{_SCORE}, its only key; {PARTS}.", of=hides_none),
                Story(f"{_SCORE}."),
            ),
        )
    },
)
