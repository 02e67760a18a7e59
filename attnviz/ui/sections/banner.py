"""The banner of a changed pass: what is set by hand, and the way to change or reset it."""

import streamlit as st

from attnviz.scene.opening import what_if
from attnviz.text.movement import described
from attnviz.ui.escaping import markdown
from attnviz.ui.state.store import Shown


def draw(shown: Shown) -> None:
    """Draw the banner, if a number is set by hand or was meant to be."""
    if not (shown.scene.changes or shown.kept.changes):
        return
    listed = "; ".join(described(shown.original, change) for change in shown.scene.changes)
    with st.container(horizontal=True, vertical_alignment="center", key=shown.key("changed")):
        st.markdown(f"**Set by hand:** {markdown(listed or 'nothing that fits this pass')}")
        if st.button("Change it", icon=":material/tune:", key=shown.key("change_it")):
            shown.open_page("pages/walkthrough.py", **what_if(shown))
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            key=shown.key("reset"),
            on_click=shown.writer.update,
            kwargs={"changes": ()},
        )
