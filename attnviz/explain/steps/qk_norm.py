"""QK-norm: queries and keys are brought to one size before they are compared."""

from attnviz.explain.step import Entry, Role, Section, Step
from attnviz.explain.story import NORMED, Story, has, lacks


def _entries(role: Role, one: str, many: str) -> dict[str, Entry]:
    """The entries of the norm of queries or keys, and of its gain."""
    name, gain = f"{role}_normed", f"g_{role}_norm"
    normed = f"The norm makes {{value}} of {{{role}}} in dimension {{column}} of the {one} of “{{row}}”"
    return {
        name: Entry(
            f"{role.upper()}^N_i",
            f"Normed {many}",
            f"the {many} at one size",
            role,
            one=f"normed {one}",
            stories=(
                Story(f"{normed}, with the gain {{{gain}}}.", of=has(gain)),
                Story(f"{normed}.", of=lacks(gain)),
            ),
        ),
        gain: Entry(
            f"g^{role.upper()}",
            f"{one.capitalize()} gain",
            f"a factor for each dimension of a normed {one}",
            kind="parameter",
            stories=(Story(f"In dimension {{column}}, every normed {one} is multiplied by {{value}}."),),
        ),
    }


QK_NORM = Step(
    id="qk-norm",
    title="QK-norm",
    headings=(Section("normed", "Queries and keys are compared at one size"),),
    why=(
        Section(
            "why",
            "A long :blue[**query**] or :orange[**key**] makes all its scores large; at one size only its direction "
            "counts, and no score grows beyond bounds in training.",
        ),
    ),
    sections=(
        Section(
            "rms",
            "**RMSNorm** divides each :blue[query] and each :orange[key] by the root of the mean of its squares. It "
            "keeps its direction, and a score depends on the directions alone.",
        ),
        Section("gain", "Then each dimension has a **gain** that it is multiplied by.", has("g_q_norm")),
    ),
    stages=("q_normed", "k_normed"),
    entries={**_entries("q", "query", "queries"), **_entries("k", "key", "keys")},
    band_texts={
        **dict.fromkeys(
            ("q_normed", "k_normed"),
            ("**Norm**: each number over the root of the mean of the squares: {story}", NORMED),
        ),
    },
)
