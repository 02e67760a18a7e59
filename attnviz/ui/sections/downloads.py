"""Downloads: the pass as a script and as arrays, each made when it is asked for."""

from collections.abc import Callable

import streamlit as st

from attnviz.core.trace import Trace
from attnviz.scene.tabscene import TabScene
from attnviz.text import export


def draw(place: TabScene) -> None:
    """Offer both, of the pass that is shown when one is asked for: no run follows an act."""
    with st.container(horizontal=True):
        for label, name, make, kind in (
            ("Script (attnviz_pass.py)", "attnviz_pass.py", export.script, "primary"),
            ("Arrays (attnviz.npz)", "attnviz.npz", export.arrays, "secondary"),
        ):
            st.download_button(label, _maker(place, make), name, on_click="ignore", type=kind)


def _maker(place: TabScene, make: Callable[[Trace], str | bytes]) -> Callable[[], str | bytes]:
    """What makes a file. Streamlit keeps it as long as the page is open, so it is given no pass."""

    def made() -> str | bytes:
        trace = place.fitted().trace
        return make(trace) if trace else b""

    return made
