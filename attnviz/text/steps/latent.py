"""Latent: one short vector for each token, of which the keys and values of all heads are made."""

import math
from collections.abc import Mapping

from attnviz.core.trace import Trace
from attnviz.text.condition import both, has, lacks
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.story import PARTS, Story


def _kept(trace: Trace, entries: Mapping[str, Entry]) -> str:
    """The sentence on how many numbers of a token are kept for later ones, with either order of multiplying."""
    shared = math.prod(trace["w_kr"].shape[::2]) if "w_kr" in trace else 0
    latent = math.prod(trace["w_dkv"].shape[::2]) + shared
    made = sum(math.prod(trace[name].shape[::2]) for name in ("w_uk", "w_uv")) + shared
    if "k" in trace:
        return (
            f"Here keys and values are made: with a KV cache, that is {made} numbers for each {{unit}}, not {latent}."
        )
    return f"Here they are not made: with a KV cache, {latent} numbers are kept for each {{unit}}, not {made}."


def _up(name: str, role: str, one: str, many: str) -> dict[str, Entry]:
    """The entry of the matrix of each head that makes keys or values of latents."""
    return {
        name: Entry(
            f"U^{role.upper()}_i",
            f"{one.capitalize()} parameters of latents",
            f"each head's matrix that makes {many} of latents",
            kind="parameter",
            stories=(
                Story(
                    f"In {{head}}, dimension {{row}} of a latent is multiplied by {{value}} on its way to dimension "
                    f"{{column}} of the {one}.",
                ),
            ),
        )
    }


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
        "w_dkv": Entry(
            "W^D_i",
            "Latent parameters",
            "the matrix that makes latents",
            kind="parameter",
            stories=(
                Story(
                    "Dimension {row} of what enters is multiplied by {value} on its way to dimension {column} of the "
                    "latent.",
                ),
            ),
        ),
        "compressed": Entry(
            "D_i",
            "Latents before the norm",
            "the one short row of each token",
            one="latent before the norm",
            stories=(
                Story(f"Before the norm, the latent of “{{row}}” has {{value}} in dimension {{column}}; {PARTS}."),
                Story("Before the norm, the latent of “{row}” has {value} in dimension {column}."),
            ),
        ),
        "latent": Entry(
            "D^N_i",
            "Latents",
            "what keys and values are made of",
            one="latent",
            stories=(
                Story(
                    "In dimension {column} of the latent of “{row}”, the norm makes {value} of {compressed}, with the "
                    "gain {g_latent}.",
                    of=has("g_latent"),
                ),
                Story("In dimension {column} of the latent of “{row}”, the norm makes {value} of {compressed}."),
            ),
        ),
        "g_latent": Entry(
            "g^D",
            "Latent gain",
            "a factor for each dimension of a latent",
            kind="parameter",
            stories=(Story("In dimension {column}, every latent is multiplied by {value} after it is normed."),),
        ),
        **_up("w_uk", "k", "key", "keys"),
        **_up("w_uv", "v", "value", "values"),
    },
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
)

MADE = both(has("w_dkv"), has("k"))
"""The condition that keys and values are made of latents."""

NOT_MADE = both(has("w_dkv"), lacks("k"))
"""The condition that they aren't, as their matrices are absorbed."""
