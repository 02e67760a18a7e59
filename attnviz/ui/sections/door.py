"""A door: a button that leads to a model in the walkthrough, from its first step on."""

import streamlit as st

from attnviz.scene.scene import Scene
from attnviz.ui.state.store import Shown


def draw(shown: Shown, label: str, key: str, model: str, sentence: str, **parts: object) -> None:
    """Draw a button that opens the walkthrough of a model at a sentence, with other parts of the scene if given."""
    if st.button(label, key=shown.key(key), icon=":material/arrow_forward:"):
        shown.open_page("pages/walkthrough.py", **of_model(model, sentence, **parts))


def of_model(model: str, sentence: str, **parts: object) -> dict[str, object]:
    """The parts of a scene that shows a model anew: what a person set and picked in another pass is left there."""
    first = Scene()
    left = ("changes", "selection", "picked", "trail", "model_seed", "checkpoint", "step")
    return {name: getattr(first, name) for name in left} | {"source": model, "sentence": sentence} | parts
