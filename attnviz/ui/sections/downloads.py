"""Downloads: the pass as a script and as arrays, each made when it is asked for."""

import streamlit as st

from attnviz.scene.fitting import fit
from attnviz.scene.scene import Scene
from attnviz.text import export


def draw(scene: Scene) -> None:
    """Offer both. Streamlit keeps what makes a file as long as the page is open, so that is given no pass."""
    with st.container(horizontal=True):
        st.download_button(
            "Script (attnviz_pass.py)",
            lambda: export.script(fit(scene).trace),
            "attnviz_pass.py",
            on_click="ignore",
            type="primary",
        )
        st.download_button(
            "Arrays (attnviz.npz)", lambda: export.arrays(fit(scene).trace), "attnviz.npz", on_click="ignore"
        )
