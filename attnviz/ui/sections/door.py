"""A door: a button that leads to a model in the walkthrough, from its first step on."""

import streamlit as st

from attnviz.scene.scene import Scene, parts_for_source
from attnviz.ui.state.store import Shown


def draw(shown: Shown, label: str, key: str, model: str, sentence: str, **parts: object) -> None:
    """Draw a button that opens the walkthrough of a model at a sentence, with other parts of the scene if given."""
    if st.button(label, key=key, icon=":material/arrow_forward:"):
        shown.open_page("pages/walkthrough.py", **parts_of(model, sentence, **parts))


def parts_of(model: str, sentence: str, **parts: object) -> dict[str, object]:
    """The parts of a scene that show a sentence of a model from the first step on."""
    return parts_for_source(model) | {"step": Scene().step, "sentence": sentence} | parts
