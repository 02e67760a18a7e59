"""The viewer and its settings as a Streamlit component. What is done in it goes to the server's own route for that."""

import streamlit as st

from attnviz.scene.answer import drawn, framed
from attnviz.scene.written import json_of
from attnviz.ui.state import tabs
from attnviz.ui.state.store import Shown
from attnviz.ui.viewer.script import SCRIPTS

_component = st.components.v2.component(
    "attnviz.viewer", html='<div class="attnviz"></div>', js=SCRIPTS["component"].loader
)


def draw(shown: Shown) -> None:
    """Draw the settings and the pass of a scene. No run is needed for what is done in them."""
    with st.container(key=shown.key("viewer"), height="stretch"):
        _component(
            key=shown.key("pass"),
            height="stretch",
            data=drawn(shown.place, shown, tabs.mine().token, shown.notices),
        )


def draw_settings(shown: Shown) -> None:
    """Draw the settings alone: the page is drawn anew, by a run, when they change."""
    _component(
        key=shown.key("boxes"),
        data=json_of(framed(shown.place, shown, tabs.mine().token, shown.notices)),
        on_change_change=_run,
    )
    shown.place.said = ""  # an act is answered here, and by a run after that: both say it, the next run no more


def _run() -> None:
    """The run itself is what was asked for."""
