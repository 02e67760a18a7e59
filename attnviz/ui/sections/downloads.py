"""Downloads: the pass as a script and as arrays, or as microgpt's numbers, each made when it is asked for."""

from collections.abc import Callable

import streamlit as st

from attnviz.core.trace import Trace
from attnviz.scene.fitting import fit
from attnviz.scene.pass_cache import ANSWERS
from attnviz.scene.tabscene import TabScene
from attnviz.text import export, micropython


def draw(place: TabScene) -> None:
    """Offer all, of the pass that is shown when one is asked for: no run follows an act."""
    files = [
        ("Script (attnviz_pass.py)", "attnviz_pass.py", export.script, "primary"),
        ("Arrays (attnviz.npz)", "attnviz.npz", export.arrays, "secondary"),
    ]
    if place.scene.source == "microgpt":
        files.append((f"For microgpt ({micropython.NAME})", micropython.NAME, _numbers, "secondary"))
    with st.container(horizontal=True):
        for label, name, make, kind in files:
            st.download_button(label, _maker(place, make), name, on_click="ignore", type=kind)


def _numbers(trace: Trace) -> bytes:
    return micropython.numbers(trace) if micropython.is_microgpt(trace) else b""


def _maker(place: TabScene, make: Callable[[Trace], str | bytes]) -> Callable[[], str | bytes]:
    """What makes a file. Streamlit keeps it as long as the page is open, so it is given no pass."""

    def made() -> str | bytes:
        trace = fit(place.scene, ANSWERS.original).trace
        return make(trace) if trace else b""

    return made
