"""Downloads: files of the pass that is shown, made when they are asked for."""

from collections.abc import Callable

import streamlit as st

from attnviz.core.trace import Trace
from attnviz.explain import export
from attnviz.scene.actions.session import Session


def draw(session: Session, label: str, name: str, make: Callable[[Trace | None], bytes]) -> None:
    """Offer a file of the pass that is shown when it is asked for: no run follows an act.

    Streamlit keeps what makes it as long as the page is open, so that is given no pass.
    """
    st.download_button(label, lambda: make(session.resolved().trace), name, on_click="ignore")


def draw_arrays(session: Session) -> None:
    """Offer the arrays of the pass."""
    draw(session, "Arrays (attnviz.npz)", "attnviz.npz", lambda trace: export.arrays(trace) if trace else b"")
