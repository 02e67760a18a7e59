"""Downloads: the arrays of the pass, made when they are asked for."""

from collections.abc import Callable

import streamlit as st

from attnviz.core.trace import Trace
from attnviz.scene.session import Session
from attnviz.text import export


def draw(session: Session) -> None:
    """Offer the arrays of the pass that is shown when they are asked for: no run follows an act."""
    st.download_button("Arrays (attnviz.npz)", _maker(session, export.arrays), "attnviz.npz", on_click="ignore")


def _maker(session: Session, make: Callable[[Trace], bytes]) -> Callable[[], bytes]:
    """What makes a file. Streamlit keeps it as long as the page is open, so it is given no pass."""

    def made() -> bytes:
        trace = session.fitted().trace
        return make(trace) if trace else b""

    return made
