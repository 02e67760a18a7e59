"""A door: a button that leads to a model in the walkthrough, from its first step on."""

import streamlit as st

from attnviz.articles.doors import door_to
from attnviz.ui.state.store import Shown


def draw(shown: Shown, label: str, key: str, model: str, sentence: str, **parts: object) -> None:
    """Draw a button that opens the walkthrough of a model at a sentence, with other parts of the scene if given."""
    if st.button(label, key=key, icon=":material/arrow_forward:"):
        shown.open_page("pages/walkthrough.py", **door_to(model, sentence, **parts))
