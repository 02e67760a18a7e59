"""Controls: the sentence box and the sidebar, which every page shows and whose values stand in the address."""

import random

import streamlit as st

from attnviz import trace_of
from attnviz.core.errors import SettingsError
from attnviz.core.masks import SIZED
from attnviz.core.settings import (
    CHOICES,
    DEFAULTS,
    MAX_CHARACTERS,
    MAX_TOKENS,
    WHOLE_NUMBERS,
    Settings,
    divisors,
    nearest,
    nearest_heads,
)
from attnviz.core.trace import Trace
from attnviz.examples import EXAMPLES
from attnviz.examples.example import Example
from attnviz.examples.variant import Variant
from attnviz.ui.escaping import markdown
from attnviz.ui.state import address, arrival

EXAMPLE = "the cat sat on the mat"
_KEYS = {
    "d_model": "d_model",
    "heads": "n_heads",
    "mask": "mask",
    "mask_size": "mask_size",
    "initialiser": "initialiser",
    "positions": "positions",
    "scaled": "scaled",
}
"""Parameters of the address that Streamlit drops where it does not know the value, and the settings they stand for."""

OWN = "your own sentence"


def source_of(example: Example, variant: Variant) -> str:
    """What stands in the address, as `source`, for a variant of a worked example."""
    return f"{example.id} {variant.id}"


_SOURCES = {
    source_of(example, variant): (example, variant) for example in EXAMPLES.values() for variant in example.variants
}


def trace() -> Trace:
    """Draw the controls of the page and return the pass that they describe: of a sentence, or a worked example.

    A page calls it first. It stops the page with a sentence of help where
    there is nothing to show, and keeps what was typed.
    """
    arrival.by_the_router()
    arrival.back_with_what_was_kept()
    first = "source" not in st.session_state
    notices = _mend_address() if first else []
    source = st.sidebar.selectbox(
        "Numbers of",
        [OWN, *_SOURCES],
        key="source",
        bind="query-params",
        on_change=address.keep,  # of another pass: what was set by hand in this one stays behind
        args=((),),
        help="A sentence of your own, or a worked example from a notebook.",
    )
    if first:
        with st.sidebar:
            arrival.settle()
    if source == OWN:
        made = _own(notices)
        arrival.keep(("source", "sentence", "context", "step", *_KEYS, "seed"))
        return made
    _say(notices)
    example, variant = _SOURCES[source]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Worked example {example.id}, {example.title}.** {variant.title}: {variant.description}")
        st.button("Your own sentence", icon=":material/close:", key="own_sentence", on_click=_leave_example)
    return variant.trace


def _own(notices: list[str]) -> Trace:
    """Draw the sentence box and the settings, and return their pass; or say why there is none, and stop."""
    sentence = _sentence()
    with st.sidebar:
        picked = _sidebar()
    allowed, changed = nearest({"seed": picked.pop("seed")})
    _say([*notices, *changed])
    try:
        return trace_of(Settings(sentence, **picked, **allowed))
    except SettingsError as error:
        _say([str(error)])
        st.stop()


def _say(notices: list[str]) -> None:
    for notice in notices:
        st.warning(markdown(notice), icon=":material/info:")


def _sentence() -> str:
    return st.text_input(
        "Type a sentence",
        EXAMPLE,
        key="sentence",
        bind="query-params",
        live=True,
        max_chars=MAX_CHARACTERS,
        placeholder="A sentence of your own",
    )


def _sidebar() -> dict:
    picked = {
        "d_model": st.selectbox(
            "d_model",
            WHOLE_NUMBERS["d_model"],
            WHOLE_NUMBERS["d_model"].index(DEFAULTS["d_model"]),
            key="d_model",
            bind="query-params",
            help="How many numbers stand for a token. Up to 16 all are written out; beyond, colours stand for them.",
        )
    }
    offered = divisors(picked["d_model"])
    if st.session_state.get("heads", offered[0]) not in offered:
        st.session_state["heads"] = nearest_heads(st.session_state["heads"], picked["d_model"])
    picked["n_heads"] = st.selectbox(
        "Heads",
        offered,
        offered.index(nearest_heads(DEFAULTS["n_heads"], picked["d_model"])),
        key="heads",
        bind="query-params",
        help="Heads share d_model among them, so their number divides it.",
    )
    picked["mask"] = st.selectbox(
        "Mask",
        CHOICES["mask"],
        key="mask",
        bind="query-params",
        help="causal: no token sees a later one. padding: the last keys are hidden. window: only near keys are seen.",
    )
    if picked["mask"] in SIZED:
        picked["mask_size"] = st.selectbox(
            "Keys hidden at the end" if picked["mask"] == "padding" else "Keys seen on either side",
            WHOLE_NUMBERS["mask_size"],
            DEFAULTS["mask_size"],
            key="mask_size",
            bind="query-params",
        )
    typed, again = st.columns([3, 1], vertical_alignment="bottom")
    again.button(
        "",
        icon=":material/casino:",
        key="another_seed",
        help="Another seed: another untrained model",
        on_click=_another_seed,
        width="stretch",
    )
    picked["seed"] = typed.text_input(
        "Seed",
        str(DEFAULTS["seed"]),
        key="seed",
        bind="query-params",
        max_chars=40,
        help="Decides every embedding and parameter: the same seed gives the same ones, on every machine.",
    )
    with st.expander("More"):
        picked["initialiser"] = st.selectbox(
            "Parameters",
            CHOICES["initialiser"],
            key="initialiser",
            bind="query-params",
            help="Where the matrices come from. normal: N(0, 1/d_model). xavier: uniform, by each head's size. "
            "uniform: [0, 1). standard normal: N(0, 1). pytorch: the very matrices of torch.nn.MultiheadAttention.",
        )
        picked["positions"] = st.selectbox("Positions", CHOICES["positions"], key="positions", bind="query-params")
        picked["scaled"] = st.toggle("Divide scores by √d_k", DEFAULTS["scaled"], key="scaled", bind="query-params")
        context = st.text_input(
            "Keys and values from another sentence",
            key="context",
            bind="query-params",
            live=True,
            max_chars=MAX_CHARACTERS,
            placeholder="Cross-attention, as in translation",
            help=f"At most {MAX_TOKENS} tokens. Leave it empty for self-attention.",
        )
        picked["context"] = context if context.strip() else None
    return picked


def _leave_example() -> None:
    st.session_state["source"] = OWN
    address.keep(())


def _another_seed() -> None:
    others = (str(seed) for seed in range(1000) if str(seed) != st.session_state["seed"])
    st.session_state["seed"] = random.choice(list(others))


def _mend_address() -> list[str]:
    """Bring the address of a first visit to allowed values, as Streamlit drops others without a word."""
    written = {setting: st.query_params[key] for key, setting in _KEYS.items() if key in st.query_params}
    allowed, notices = nearest(written)
    for key, setting in _KEYS.items():
        if setting in allowed and str(allowed[setting]).lower() != written[setting]:
            st.session_state[key] = allowed[setting]
    for key in ("sentence", "context"):
        length = len(st.query_params.get(key, ""))
        if length > MAX_CHARACTERS:
            notices.append(
                f"The {key} may have at most {MAX_CHARACTERS:,} characters; the address has {length:,}, "
                f"so only the first {MAX_CHARACTERS:,} are here."
            )
    if st.query_params.get("source", OWN) not in (OWN, *_SOURCES):
        notices.append(f"source is {OWN!r} or one of {', '.join(_SOURCES)}; got {st.query_params['source'][:40]!r}.")
    return notices
