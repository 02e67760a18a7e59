"""The viewer on the page."""

import streamlit as st

from attnviz.ui.state.store import Shown

_box = st.components.v2.component(
    "attnviz.box",
    html='<div class="box">viewer</div>',
    css="""
:host > div, :host > div > div { height: 100%; }
.box { height: 100%; box-sizing: border-box; border: 1px solid; }
""",
)


def draw(shown: Shown, ask: str = "") -> None:
    """Draw the pass; `ask` is what is asked of the selected number where the address asks nothing."""
    with st.container(key=shown.key("viewer"), height="stretch"):
        _box(key=shown.key("box"), data={"ask": ask or shown.scene.question}, height="stretch")
