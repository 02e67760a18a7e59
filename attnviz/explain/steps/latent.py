"""Latents: one short vector per token, from which the keys and values of all heads are made, or their queries."""

import math

from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Section, Step, Term
from attnviz.explain.story import NORMED, PARTS, PRODUCT, SUM, Story, both, has, lacks


def _kept(trace: Trace, entries: Entries) -> str:
    """The sentence on the size of the KV cache per token, in either order of multiplying."""
    shared = math.prod(trace["w_kr"].shape[::2]) if "w_kr" in trace else 0
    latent = math.prod(trace["w_dkv"].shape[::2]) + shared
    made = sum(math.prod(trace[name].shape[::2]) for name in ("w_uk", "w_uv")) + shared
    if "k" in trace:
        return (
            f"Here keys and values are made: with a KV cache, that is {made} numbers for each {{unit}}, not {latent}."
        )
    return f"Here they are not made: with a KV cache, {latent} numbers are kept for each {{unit}}, not {made}."


def _parameters(trace: Trace, entries: Entries) -> str:
    """The sentence on how many parameters make queries, with and without latents."""
    matrices = [trace[name].shape for name in ("w_uq", "w_qr") if name in trace]
    width, length = trace["w_dq"].shape[0], sum(n_heads * columns for n_heads, _, columns in matrices)
    n_parameters = trace["w_dq"].size + sum(map(math.prod, matrices))
    return f"So {n_parameters} parameters make all queries here, and straight from what enters {width * length} would."


def _up_stories(one: str, of: str = "latent") -> tuple[Story, ...]:
    weighs = "is multiplied by {value} on its way to dimension {column} of the"
    return (Story(f"In {{head}}, dimension {{row}} of a {of} {weighs} {one}."),)


def _stories(w: str, compressed: str, latent: str, gain: str, one: str) -> dict[str, tuple[Story, ...]]:
    before = f"Before the norm, the {one} of “{{row}}” has {{value}} in dimension {{column}}"
    normed = f"In dimension {{column}} of the {one} of “{{row}}”, the norm makes {{value}} of {{{compressed}}}"
    weighs = "Dimension {row} of what enters is multiplied by {value} on its way to dimension {column} of the"
    return {
        w: (Story(f"{weighs} {one}."),),
        compressed: (Story(f"{before}; {PARTS}."), Story(f"{before}.")),
        latent: (Story(f"{normed}, with the gain {{{gain}}}.", of=has(gain)), Story(f"{normed}.")),
        gain: (Story(f"In dimension {{column}}, every {one} is multiplied by {{value}} after it is normed."),),
    }


QUERY_LATENT = Step(
    id="query-latent",
    title="Query latent",
    heading="One short vector for the queries of all heads",
    why=(
        "No :blue[**query**] is kept, but the matrices that make those of many heads are large; from one short "
        "**query latent** they can be smaller."
    ),
    text=(
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
        "w_dq": Entry("W^B", "Query latent parameters", "the matrix that makes query latents", kind="parameter"),
        "q_compressed": Entry(
            "B",
            "Query latents before the norm",
            "the one short row of each token for its queries",
            one="query latent before the norm",
        ),
        "q_latent": Entry("B^N", "Query latents", "what queries are made of", one="query latent"),
        "g_q_latent": Entry(
            "g^B", "Query latent gain", "a factor for each dimension of a query latent", kind="parameter"
        ),
        "w_uq": Entry(
            "U^Q_i",
            "Query parameters of latents",
            "each head's matrix that makes queries of query latents",
            kind="parameter",
        ),
    },
    stories={
        **_stories("w_dq", "q_compressed", "q_latent", "g_q_latent", "query latent"),
        "w_uq": _up_stories("query", "query latent"),
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
    heading="One short vector for the keys and values of all heads",
    why=(
        "The keys and values of many heads are much to keep of each {unit}; one **latent**, of which all of them "
        "can be made, is little."
    ),
    text=(
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
        "w_dkv": Entry("W^D_i", "Latent parameters", "the matrix that makes latents", kind="parameter"),
        "compressed": Entry(
            "D_i", "Latents before the norm", "the one short row of each token", one="latent before the norm"
        ),
        "latent": Entry("D^N_i", "Latents", "what keys and values are made of", one="latent"),
        "g_latent": Entry("g^D", "Latent gain", "a factor for each dimension of a latent", kind="parameter"),
        "w_uk": Entry(
            "U^K_i", "Key parameters of latents", "each head's matrix that makes keys of latents", kind="parameter"
        ),
        "w_uv": Entry(
            "U^V_i", "Value parameters of latents", "each head's matrix that makes values of latents", kind="parameter"
        ),
    },
    stories={
        **_stories("w_dkv", "compressed", "latent", "g_latent", "latent"),
        "w_uk": _up_stories("key"),
        "w_uv": _up_stories("value"),
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
    heading="Queries are taken to the latents, not latents to the queries",
    why=(
        "To make a key of each latent and compare it with the :blue[**query**] comes to the same as to take the "
        "query to the latents: that is done once, and no key is made or kept."
    ),
    text=(
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
            "Q^D_i", "Absorbed queries", "what each token looks for in the latents", "q", one="absorbed query"
        )
    },
    stories={
        "q_absorbed": (
            Story(f"“{{row}}” asks the latents with {{value}} in dimension {{column}}; of its query, {PARTS}."),
            Story("“{row}” asks the latents with {value} in dimension {column}."),
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
    heading="Make of the collected latents what the head found",
    why=(
        "A mixture of latents times the value parameters is the same mixture of :green[**values**]: so one row is "
        "multiplied, and not one for each {unit}."
    ),
    text=(
        "What each head collected is in the latents’ dimensions. Its value parameters make of that what they would "
        "have made of each latent before: the output of the head, number by number."
    ),
    stages=("heads",),
    when=has("latent_heads"),
    arcs=True,
    band_texts={
        "w_uv times latent_heads": ("What the head collected, times its **value parameters**: {story}", PRODUCT)
    },
)

MADE = both(has("w_dkv"), has("k"))  # the condition that keys and values are made of latents
NOT_MADE = both(has("w_dkv"), lacks("k"))  # the condition that they aren't, as their matrices are absorbed
