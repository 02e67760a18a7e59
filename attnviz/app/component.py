"""The viewer and its settings as a Streamlit component. What is done in it goes to the server's own route for that."""

import streamlit as st

from attnviz.app.loader import loader, runs
from attnviz.app.state import tabs
from attnviz.app.state.store import Shown
from attnviz.lessons.lesson import contents
from attnviz.scene.document.reply_notes import ReplyNotes

_LOADER = loader("component")
_ROOT = '<div class="{}" aria-busy="true"></div>'  # until the browser has its script
_component = st.components.v2.component("attnviz.viewer", html=_ROOT.format("attnviz"), js=_LOADER)
_lessons = st.components.v2.component("attnviz.lessons", html=_ROOT.format("attnviz lessons"), js=_LOADER)
_outlet = st.components.v2.component("attnviz.outlet", html=_ROOT.format("attnviz outlet"), js=_LOADER)


def draw(shown: Shown) -> None:
    """Draw the settings and the pass of a scene. No run is needed for what is done in them, but for a talk to go on."""
    with st.container(key="viewer", height="stretch"):
        request = _component(key="pass", height="stretch", data=_answer(shown, "pass"), on_run_change=runs).run
    if request == "lessons":
        st.switch_page("pages/lessons.py")


def draw_settings(shown: Shown, view: str) -> str:
    """Draw the settings of a scene; what is shown of it stands where `draw_outlet` says.

    Parameters
    ----------
    shown : Shown
    view : str
        What is shown of it, one of `scene.document.reply.PARTS`.

    Returns
    -------
    str
        What this run was asked for, which no act does: "other numbers", "recompute" or "".
    """
    request = _component(key=view, data=_answer(shown, view), on_run_change=runs).run
    return request or ""


def draw_lessons() -> str | None:
    """Draw the lessons; returns the address of the scene that somebody opens in the walkthrough, if they do."""
    with st.container(key="viewer", height="stretch"):
        return _lessons(key="lessons", height="stretch", data=contents(), on_opened_change=runs).opened


def draw_outlet() -> None:
    """Say where what is shown of a scene stands, if Streamlit's own text is between it and the settings."""
    _outlet(key="outlet", data={})


def _answer(shown: Shown, view: str) -> bytes:
    return shown.session.answer(shown, ReplyNotes(notices=shown.notices), tabs.mine().token, view, shown.number)
