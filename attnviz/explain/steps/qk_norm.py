"""QK-norm: queries and keys are brought to one size before they are compared."""

from attnviz.explain.step import Entry, Role, Section, Step
from attnviz.explain.story import NORMED, Story, has, lacks


def _stories(role: Role, one: str) -> dict[str, tuple[Story, ...]]:
    """The stories of the norm of queries or keys, and of its gain."""
    gain = f"g_{role}_norm"
    normed = f"The norm makes {{value}} of {{{role}}} in dimension {{column}} of the {one} of “{{row}}”"
    return {
        f"{role}_normed": (
            Story(f"{normed}, with the gain {{{gain}}}.", of=has(gain)),
            Story(f"{normed}.", of=lacks(gain)),
        ),
        gain: (Story(f"In dimension {{column}}, every normed {one} is multiplied by {{value}}."),),
    }


QK_NORM = Step(
    id="qk-norm",
    title="QK-norm",
    heading="Queries and keys are compared at one size",
    why=(
        "A long :blue[**query**] or :orange[**key**] makes all its scores large; at one size only its direction "
        "counts, and no score grows beyond bounds in training."
    ),
    text=(
        Section(
            "rms",
            "**RMSNorm** divides each :blue[query] and each :orange[key] by the root of the mean of its squares. It "
            "keeps its direction, and a score depends on the directions alone.",
        ),
        Section("gain", "Then each dimension has a **gain** that it is multiplied by.", has("g_q_norm")),
    ),
    stages=("q_normed", "k_normed"),
    entries={
        "q_normed": Entry("Q^N_i", "Normed queries", "the queries at one size", "q", one="normed query"),
        "g_q_norm": Entry("g^Q", "Query gain", "a factor for each dimension of a normed query", kind="parameter"),
        "k_normed": Entry("K^N_i", "Normed keys", "the keys at one size", "k", one="normed key"),
        "g_k_norm": Entry("g^K", "Key gain", "a factor for each dimension of a normed key", kind="parameter"),
    },
    stories={**_stories("q", "query"), **_stories("k", "key")},
    band_texts={
        **dict.fromkeys(
            ("q_normed", "k_normed"),
            ("**Norm**: each number over the root of the mean of the squares: {story}", NORMED),
        )
    },
)
