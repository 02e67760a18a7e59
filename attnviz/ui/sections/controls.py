"""Controls: the boxes in which a person types a sentence and picks settings. Each shows the scene, and changes it."""

import random

import streamlit as st

from attnviz.core.masks import SIZED
from attnviz.core.settings import CHOICES, MAX_CHARACTERS, MAX_TOKENS, WHOLE_NUMBERS, divisors, nearest
from attnviz.scene.scene import OWN, SOURCES, Scene, with_option
from attnviz.ui.state import store
from attnviz.ui.state.store import shown_by, typed_in

HELP = {
    "d_model": "How many numbers stand for a token. Up to 16 all are written out; beyond, colours stand for them.",
    "n_heads": "Heads share d_model among them, so their number divides it.",
    "mask": "causal: no token sees a later one. padding: the last keys are hidden. window: only near keys are seen.",
    "seed": "Decides every embedding and parameter: the same seed gives the same ones, on every machine.",
    "initialiser": "Where the matrices come from. normal: N(0, 1/d_model). xavier: uniform, by each head's size. "
    "uniform: [0, 1). standard normal: N(0, 1). pytorch: the very matrices of torch.nn.MultiheadAttention.",
}
SIZES = {"padding": "Keys hidden at the end", "window": "Keys seen on either side"}


def source(scene: Scene) -> None:
    """The box that says whose numbers are shown."""
    st.selectbox(
        "Numbers of",
        [OWN, *SOURCES],
        key=shown_by("source", scene.source),
        on_change=_source_picked,
        help="A sentence of your own, or a worked example from a notebook.",
    )


def sentence_and_settings(scene: Scene) -> tuple[str, ...]:
    """The sentence box and the settings; returns a notice for what was typed and is not used as it stands."""
    _typed("Type a sentence", "sentence", scene.sentence, placeholder="A sentence of your own")
    with st.sidebar:
        _option(scene, "d_model", "d_model", WHOLE_NUMBERS["d_model"])
        _option(scene, "n_heads", "Heads", divisors(scene.options["d_model"]))
        _option(scene, "mask", "Mask", CHOICES["mask"])
        if scene.options["mask"] in SIZED:
            _option(scene, "mask_size", SIZES[scene.options["mask"]], WHOLE_NUMBERS["mask_size"])
        mended = _seed(scene)
        with st.expander("More"):
            _option(scene, "initialiser", "Parameters", CHOICES["initialiser"])
            _option(scene, "positions", "Positions", CHOICES["positions"])
            key = shown_by("scaled", scene.options["scaled"])
            st.toggle("Divide scores by √d_k", key=key, on_change=_option_picked, args=("scaled",))
            _typed(
                "Keys and values from another sentence",
                "context",
                scene.context,
                placeholder="Cross-attention, as in translation",
                help=f"At most {MAX_TOKENS} tokens. Leave it empty for self-attention.",
            )
    return mended


def _typed(label: str, name: str, text: str, **box: str) -> None:
    st.text_input(
        label,
        key=typed_in(name, text),
        live=True,
        max_chars=MAX_CHARACTERS,
        on_change=_sentence_typed,
        args=(name,),
        **box,
    )


def _option(scene: Scene, name: str, label: str, offered: object) -> None:
    key = shown_by(name, scene.options[name])
    st.selectbox(label, offered, key=key, help=HELP.get(name), on_change=_option_picked, args=(name,))


def _seed(scene: Scene) -> tuple[str, ...]:
    """The box of the seed: what was typed stays in it, also where the nearest seed is used in its place."""
    typed, another = st.columns([3, 1], vertical_alignment="bottom")
    another.button(
        "",
        icon=":material/casino:",
        key="another_seed",
        help="Another seed: another untrained model",
        on_click=_another_seed,
        width="stretch",
    )
    text = st.session_state.get("seed", "")
    key = typed_in(
        "seed", text if text and _nearest_seed(text) == scene.options["seed"] else str(scene.options["seed"])
    )
    typed.text_input("Seed", key=key, max_chars=40, help=HELP["seed"], on_change=_seed_typed)
    return tuple(nearest({"seed": st.session_state["seed"]})[1])


def _source_picked() -> None:
    store.update(source=st.session_state["source"], changes=())  # what is set by hand belongs to the pass that is left


def _sentence_typed(name: str) -> None:
    store.update(**{name: st.session_state[name]})


def _option_picked(name: str) -> None:
    _set(name, st.session_state[name])


def _seed_typed() -> None:
    _set("seed", _nearest_seed(st.session_state["seed"]))


def _another_seed() -> None:
    present = store.scene().options["seed"]
    _set("seed", random.choice([seed for seed in range(1000) if seed != present]))


def _set(name: str, value: int | str | bool) -> None:
    store.update(options=with_option(store.scene().options, name, value))


def _nearest_seed(text: str) -> int:
    return nearest({"seed": text})[0]["seed"]
