"""Scores: each query's dot product with each key."""

from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.steps.latent import MADE, NOT_MADE
from attnviz.explain.story import PARTS, SCORE_SET_IN_BAND, Story, both, has, hides, lacks, unless

_BOTH = "content gives {content_scores}, positions {position_scores}"
_SCORE = "“{query}” scores {value} with “{key}”"

_ASKS = (
    Story("for “{key}”, {scores:part.place} counts most: {scores:part.sum} = {scores:part}."),
    Story("“{key}” with {value} in dimension {column}."),
)
_SCORED = (SCORE_SET_IN_BAND, Story("“{key}” has {value}."))

SCORES = Step(
    id="scores",
    title="Scores",
    heading="How well does each key match each query?",
    why=(
        "A :blue[**query**] and a :orange[**key**] are compared by their dot product: large numbers of the same "
        "sign in the same dimensions make it large, so it says how well they match."
    ),
    text=(
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
        ),
        "position_scores": Entry(
            "S^P_i",
            "Position scores",
            "the dot product of each query's part for positions with each key's",
            one="position score",
            label="posi\N{SOFT HYPHEN}tion",
        ),
        "scores": Entry("S_i", "Scores", "each query's dot product with each key", one="score"),
    },
    stories={
        "content_scores": (
            Story(f"By content “{{query}}” scores {{value}} with “{{key}}”; {PARTS}."),
            Story("By content “{query}” scores {value} with “{key}”."),
        ),
        "position_scores": (
            Story(f"By position “{{query}}” scores {{value}} with “{{key}}”; {PARTS}."),
            Story("By position “{query}” scores {value} with “{key}”."),
        ),
        "scores": (
            Story(f"{_SCORE}, which the mask hides from it; {_BOTH}.", "hidden", has("content_scores")),
            Story(
                f"{_SCORE}, {{value:rank}} of the {{value:count}} keys that it may see; {_BOTH}.",
                of=both(hides, has("content_scores")),
            ),
            Story(
                f"{_SCORE}, {{value:rank}} of the {{value:count}}; {_BOTH}.",
                of=both(unless(hides), has("content_scores")),
            ),
            Story(f"{_SCORE}; {_BOTH}.", of=has("content_scores")),
            Story(f"{_SCORE}, which the mask hides from it; {PARTS}.", "hidden"),
            Story(f"{_SCORE}, {{value:rank}} of the {{value:count}} keys that it may see; {PARTS}.", of=hides),
            Story(f"{_SCORE}, {{value:rank}} of the {{value:count}}; {PARTS}.", of=unless(hides)),
            Story(f"{_SCORE}, the only key that it may see; {PARTS}.", of=hides),
            Story(f"{_SCORE}, its only key; {PARTS}.", of=unless(hides)),
            Story(f"{_SCORE}."),
        ),
    },
    band_texts={
        "k": (
            "“{word}” asks with its :blue[**query**], every {unit} answers with its :orange[**key**]: {story}",
            _ASKS,
        ),
        "k_normed compared": (
            "“{word}” asks with its normed :blue[**query**], every {unit} answers with its normed :orange[**key**]: "
            "{story}",
            _ASKS,
        ),
        "k_rotated compared": (
            "“{word}” asks with its :blue[**query**], every {unit} answers with its :orange[**key**], each turned by "
            "its position: {story}",
            _ASKS,
        ),
        "latent compared": (
            "“{word}” asks with its absorbed :blue[**query**], every {unit} answers with its latent: {story}",
            _ASKS,
        ),
        **{
            f"{keys} in content_scores": (
                f"**Content**: “{{word}}” asks with its {query}, every {{unit}} answers with its {answer}: {{story}}",
                _ASKS,
            )
            for keys, query, answer in (
                ("k", ":blue[**query**]", ":orange[**key**]"),
                ("k_normed", "normed :blue[**query**]", "normed :orange[**key**]"),
                ("latent", "absorbed :blue[**query**]", "latent"),
            )
        },
        "k_r in position_scores": (
            "**Positions**: “{word}” asks with that part of its :blue[**query**], every {unit} answers with that of "
            "its :orange[**key**]: {story}",
            _ASKS,
        ),
        "k_rotated in position_scores": (
            "**Positions**: “{word}” asks with that part of its :blue[**query**], every {unit} answers with that of "
            "its :orange[**key**], each turned by its position: {story}",
            _ASKS,
        ),
        "content_scores": ("**Compare** contents, dimension by dimension, and add up: {story}", _SCORED),
        "position_scores": ("**Compare** positions, dimension by dimension, and add up: {story}", _SCORED),
        "scores of Addition": ("**Add** both scores: {story}", _SCORED),
        "scores": (
            "**Compare**, dimension by dimension, and add up. {story}",
            (
                Story("“{query}” may see no {unit}.", "unseeing"),
                Story("“{query}” scores {value} with “{key}”, as it is set by hand.", "set"),
                Story("Best match{value:es} of the {unit}s it may see: {value:best}, {value:most}.", of=hides),
                Story("Of the {unit}s it may see: {value:most} for {value:alike}.", of=hides),
                Story("Best match{value:es}: {value:best}, {value:most}.", of=unless(hides)),
                Story("{value:most} for {value:alike}."),
            ),
        ),
    },
    terms=(
        Term(
            "score",
            r"\bscores?\b",
            "How well a query and a key match: their dot product.",
            "“{query}” scores {scores} with “{key}”.",
        ),
        Term(
            "dot product",
            r"\bdot products?\b",
            "Two vectors, multiplied dimension by dimension and added up.",
            "Products that are added here: {k:length}.",
            "DotProducts",
        ),
    ),
)
