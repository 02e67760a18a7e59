"""Downloads: the arrays of the pass, made when they are asked for."""

from collections.abc import Callable

import streamlit as st

from attnviz.core.trace import Trace
from attnviz.scene.tabscene import TabScene
from attnviz.text import export


def draw(place: TabScene) -> None:
    """Offer the arrays of the pass that is shown when they are asked for: no run follows an act."""
    st.download_button("Arrays (attnviz.npz)", _maker(place, export.arrays), "attnviz.npz", on_click="ignore")


def _maker(place: TabScene, make: Callable[[Trace], bytes]) -> Callable[[], bytes]:
    """What makes a file. Streamlit keeps it as long as the page is open, so it is given no pass."""

    def made() -> bytes:
        trace = place.fitted().trace
        return make(trace) if trace else b""

    return made
