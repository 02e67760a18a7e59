"""Arrival: what Streamlit 1.67 gets wrong when someone opens the app on a page of its own, set right."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

_component = st.components.v2.component(
    "attnviz.arrival",
    js="""
export default function ({ setTriggerValue }) {
  setTriggerValue("arrived", true);
}
""",
)


def by_the_router() -> None:
    """Run the page again by way of `app.py`, if Streamlit came to it without.

    A folder `pages/` is also Streamlit's old way of making pages: on a server
    that has just started, the link of a page runs it without the router, under
    a menu of file names. The first visitor's run switches that off.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


@st.fragment
def settle() -> None:
    """Have the browser ask for a run of this fragment, once; nothing else runs, and nothing is shown.

    Streamlit carries bound values to another page only if they were there
    before the last run that the browser asked for; those that a first visit's
    address has just set are dropped (`SessionState._remove_stale_widgets`
    looks at the old state alone). After this run they are old.
    """
    _component(key="arrival", on_arrived_change=lambda: None)
