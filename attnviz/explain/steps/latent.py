"""Latents: one short vector per token, from which the keys and values of all heads are made, or their queries."""

import math
from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.explain.step import Entry, Section, Step, Term
from attnviz.explain.story import NORMED, PARTS, PRODUCT, SUM, Story, both, has, lacks


def _kept(trace: Trace, entries: Mapping[str, Entry]) -> str:
    """The sentence on the size of the KV cache per token, in either order of multiplying."""
    shared = math.prod(trace["w_kr"].shape[::2]) if "w_kr" in trace else 0
    latent = math.prod(trace["w_dkv"].shape[::2]) + shared
    made = sum(math.prod(trace[name].shape[::2]) for name in ("w_uk", "w_uv")) + shared
    if "k" in trace:
        return (
            f"Here keys and values are made: with a KV cache, that is {made} numbers for each {{unit}}, not {latent}."
        )
    return f"Here they are not made: with a KV cache, {latent} numbers are kept for each {{unit}}, not {made}."


def _parameters(trace: Trace, entries: Mapping[str, Entry]) -> str:
    """The sentence on how many parameters make queries, with and without latents."""
    matrices = [trace[name].shape for name in ("w_uq", "w_qr") if name in trace]
    width, length = trace["w_dq"].shape[0], sum(n_heads * columns for n_heads, _, columns in matrices)
    through = trace["w_dq"].size + sum(map(math.prod, matrices))
    return f"So {through} parameters make all queries here, and straight from what enters {width * length} would."


def _up(name: str, role: str, one: str, many: str, of: str = "latent") -> dict[str, Entry]:
    """The entry of each head's matrix that makes queries, keys or values from latents."""
    return {
        name: Entry(
            f"U^{role.upper()}_i",
            f"{one.capitalize()} parameters of latents",
            f"each head's matrix that makes {many} of {of}s",
            kind="parameter",
            stories=(
                Story(
                    f"In {{head}}, dimension {{row}} of a {of} is multiplied by {{value}} on its way to dimension "
                    f"{{column}} of the {one}.",
                ),
            ),
        )
    }


def _latents(names: tuple[str, str, str, str], symbol: str, one: str, whose: str, makes: str) -> dict[str, Entry]:
    """The entries of latents before and after the norm, of their matrix and of the norm's gain."""
    w, compressed, latent, gain = names
    many, of_head = f"{one}s", "_i" * (symbol == "D")
    normed = f"In dimension {{column}} of the {one} of “{{row}}”, the norm makes {{value}} of {{{compressed}}}"
    return {
        w: Entry(
            f"W^{symbol}{of_head}",
            f"{one.capitalize()} parameters",
            f"the matrix that makes {many}",
            kind="parameter",
            stories=(
                Story(
                    "Dimension {row} of what enters is multiplied by {value} on its way to dimension {column} of the "
                    f"{one}.",
                ),
            ),
        ),
        compressed: Entry(
            f"{symbol}{of_head}",
            f"{many.capitalize()} before the norm",
            f"the one short row of each token{whose}",
            one=f"{one} before the norm",
            stories=(
                Story(f"Before the norm, the {one} of “{{row}}” has {{value}} in dimension {{column}}; {PARTS}."),
                Story(f"Before the norm, the {one} of “{{row}}” has {{value}} in dimension {{column}}."),
            ),
        ),
        latent: Entry(
            f"{symbol}^N{of_head}",
            many.capitalize(),
            f"what {makes} are made of",
            one=one,
            stories=(
                Story(f"{normed}, with the gain {{{gain}}}.", of=has(gain)),
                Story(f"{normed}."),
            ),
        ),
        gain: Entry(
            f"g^{symbol}",
            f"{one.capitalize()} gain",
            f"a factor for each dimension of a {one}",
            kind="parameter",
            stories=(Story(f"In dimension {{column}}, every {one} is multiplied by {{value}} after it is normed."),),
        ),
    }


QUERY_LATENT = Step(
    id="query-latent",
    title="Query latent",
    headings=(Section("latent", "One short vector for the queries of all heads"),),
    why=(
        Section(
            "why",
            "No :blue[**query**] is kept, but the matrices that make those of many heads are large; from one short "
            "**query latent** they can be smaller.",
        ),
    ),
    sections=(
        Section(
            "latent",
            "A matrix makes one short row of each {unit} for all heads, and **RMSNorm** makes its **query latent** of "
            "that; the :blue[query] of a head is a matrix away.",
        ),
        Section("parameters", _parameters),
        Section("gain", "After the norm, each dimension has a **gain**.", has("g_q_latent")),
    ),
    stages=("q_compressed", "q_latent"),
    entries={
        **_latents(
            ("w_dq", "q_compressed", "q_latent", "g_q_latent"), "B", "query latent", " for its queries", "queries"
        ),
        **_up("w_uq", "q", "query", "queries", "query latent"),
    },
    band_texts={
        "w_dq": ("What “{word}” enters with, times the **query latent parameters**: {story}", PRODUCT),
        "q_compressed from": ("Where the **query latent** of “{word}” is from", ()),
        "q_compressed sum": ("**Added up**: {story}", SUM),
        "w_uq": ("The query latent of “{word}”, times the head’s **query parameters**: {story}", PRODUCT),
        "q_latent": ("**Norm**: each number over the root of the mean of the squares: {story}", NORMED),
    },
)

LATENT = Step(
    id="latent",
    title="Latent",
    headings=(Section("latent", "One short vector for the keys and values of all heads"),),
    why=(
        Section(
            "why",
            "The keys and values of many heads are much to keep of each {unit}; one **latent**, of which all of them "
            "can be made, is little.",
        ),
    ),
    sections=(
        Section(
            "latent",
            "A matrix makes one short row of each {unit} for many heads, and **RMSNorm** makes its **latent** of that; "
            "the keys and values of a head are its matrices away (MLA).",
        ),
        Section("kept", _kept),
        Section("gain", "After the norm, each dimension has a **gain** that it is multiplied by.", has("g_latent")),
    ),
    stages=("compressed", "latent"),
    entries={
        **_latents(("w_dkv", "compressed", "latent", "g_latent"), "D", "latent", "", "keys and values"),
        **_up("w_uk", "k", "key", "keys"),
        **_up("w_uv", "v", "value", "values"),
    },
    band_texts={
        "w_dkv": ("What “{key}” enters with, times the **latent parameters**: {story}", PRODUCT),
        "latent of each": (
            "The **latent** of each {unit}: {story}",
            (Story("“{key}” has {value} in dimension {column}."),),
        ),
        "compressed from": ("Where the **latent** of “{key}” is from", ()),
        "compressed sum": ("**Added up**: {story}", SUM),
        "w_uk": ("The latent of “{key}”, times the head’s **key parameters**: {story}", PRODUCT),
        "w_uv": ("The latent of “{key}”, times the head’s **value parameters**: {story}", PRODUCT),
        "latent": ("**Norm**: each number over the root of the mean of the squares: {story}", NORMED),
    },
    terms=(
        Term(
            "latent",
            r"\blatents?\b|\bMLA\b|\bd_c\b",
            "One short vector of a {unit}, of which the keys and values of all heads are made, and that is kept for "
            "them.",
            "d_c = {latent:length} here.",
            "HeadProjection",
        ),
        Term(
            "d_n",
            r"\bd_n\b",
            "How many numbers of a query, and of a key, are compared by content.",
            "d_n = {q:length} here.",
        ),
        Term(
            "d_r",
            r"\bd_r\b",
            "How many numbers of a query, and of a key, are for positions.",
            "d_r = {q_r:length} here.",
        ),
    ),
)

ABSORBED_QUERIES = Step(
    id="absorbed-queries",
    title="Absorbed queries",
    headings=(Section("absorbed", "Queries are taken to the latents, not latents to the queries"),),
    why=(
        Section(
            "why",
            "To make a key of each latent and compare it with the :blue[**query**] comes to the same as to take the "
            "query to the latents: that is done once, and no key is made or kept.",
        ),
    ),
    sections=(
        Section(
            "order",
            "A key would be a latent times the head’s key parameters. A dot product with it is the same number if the "
            ":blue[query] is multiplied by the transpose of these instead, and then compared with the latent itself: "
            "the matrix is **absorbed**.",
        ),
        Section(
            "positions",
            "A rotation between them could not be absorbed, so the part for positions stands apart.",
            has("q_rotated"),
        ),
    ),
    stages=("q_absorbed",),
    entries={
        "q_absorbed": Entry(
            "Q^D_i",
            "Absorbed queries",
            "what each token looks for in the latents",
            "q",
            one="absorbed query",
            stories=(
                Story(f"“{{row}}” asks the latents with {{value}} in dimension {{column}}; of its query, {PARTS}."),
                Story("“{row}” asks the latents with {value} in dimension {column}."),
            ),
        )
    },
    band_texts={
        "w_uk times q": ("The :blue[**query**] of “{word}”, times the head’s **key parameters**, transposed", ()),
        "q_absorbed sum": ("**Added up**: the absorbed :blue[**query**] of “{word}”, {story}", SUM),
    },
    terms=(
        Term(
            "absorbed",
            r"\babsorbed\b",
            "Multiplied in another order: queries and what heads collect take over a matrix, so keys need not be made.",
            "An absorbed query has {q_absorbed:length} numbers here.",
        ),
    ),
)

ABSORBED_VALUES = Step(
    id="absorbed-values",
    title="Absorbed values",
    headings=(Section("absorbed", "Make of the collected latents what the head found"),),
    why=(
        Section(
            "why",
            "A mixture of latents times the value parameters is the same mixture of :green[**values**]: so one row is "
            "multiplied, and not one for each {unit}.",
        ),
    ),
    sections=(
        Section(
            "order",
            "What each head collected is in the latents’ dimensions. Its value parameters make of that what they would "
            "have made of each latent before: the output of the head, number by number.",
        ),
    ),
    stages=("heads",),
    when=has("latent_heads"),
    arcs=True,
    band_texts={
        "w_uv times latent_heads": ("What the head collected, times its **value parameters**: {story}", PRODUCT),
    },
)

MADE = both(has("w_dkv"), has("k"))
"""The condition that keys and values are made of latents."""

NOT_MADE = both(has("w_dkv"), lacks("k"))
"""The condition that they aren't, as their matrices are absorbed."""
