"""Scores: each query's dot product with each key."""

from attnviz.explain.condition import both, has, hides, hides_none, lacks
from attnviz.explain.entry import Entry
from attnviz.explain.step import Section, Step
from attnviz.explain.steps.latent import MADE, NOT_MADE
from attnviz.explain.story import PARTS, Story

_BOTH = "content gives {content_scores}, positions {position_scores}"
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
            lacks("w_dkv"),
        ),
        Section(
            "latents",
            "Every absorbed :blue[query] meets every latent in a **dot product**, the score that the query would have "
            "with the head’s :orange[key]. Queries are rows and keys are columns, from here to the softmax.",
            NOT_MADE,
        ),
        Section(
            "made",
            "Every :blue[query] meets every :orange[key] in a **dot product**: multiply dimension by dimension and add "
            "up. Queries are rows and keys are columns, from here to the softmax.",
            MADE,
        ),
        Section(
            "both parts",
            "The parts for positions are compared in the same way, and the two scores are added.",
            has("content_scores"),
        ),
    ),
    stages=("position_scores", "content_scores", "scores"),
    entries={
        "content_scores": Entry(
            "S^C_i",
            "Content scores",
            "each query's dot product with each key, without their parts for positions",
            one="content score",
            label="con\N{SOFT HYPHEN}tent",
            stories=(
                Story(f"By content “{{query}}” scores {{value}} with “{{key}}”; {PARTS}."),
                Story("By content “{query}” scores {value} with “{key}”."),
            ),
        ),
        "position_scores": Entry(
            "S^P_i",
            "Position scores",
            "the dot product of each query's part for positions with each key's",
            one="position score",
            label="posi\N{SOFT HYPHEN}tion",
            stories=(
                Story(f"By position “{{query}}” scores {{value}} with “{{key}}”; {PARTS}."),
                Story("By position “{query}” scores {value} with “{key}”."),
            ),
        ),
        "scores": Entry(
            "S_i",
            "Scores",
            "each query's dot product with each key",
            one="score",
            stories=(
                Story(f"{_SCORE}, which the mask hides from it; {_BOTH}.", "hidden", has("content_scores")),
                Story(
                    f"{_SCORE}, {{value:rank}} of the {{value:count}} keys that it may see; {_BOTH}.",
                    of=both(hides, has("content_scores")),
                ),
                Story(
                    f"{_SCORE}, {{value:rank}} of {{value:count}}; {_BOTH}.",
                    of=both(hides_none, has("content_scores")),
                ),
                Story(f"{_SCORE}; {_BOTH}.", of=has("content_scores")),
                Story(f"{_SCORE}, which the mask hides from it; {PARTS}.", "hidden"),
                Story(f"{_SCORE}, {{value:rank}} of the {{value:count}} keys that it may see; {PARTS}.", of=hides),
                Story(f"{_SCORE}, {{value:rank}} of {{value:count}}; {PARTS}.", of=hides_none),
                Story(f"{_SCORE}, the only key that it may see; {PARTS}.", of=hides),
                Story(f"{_SCORE}, its only key; {PARTS}.", of=hides_none),
                Story(f"{_SCORE}."),
            ),
        ),
    },
)
