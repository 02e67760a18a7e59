"""Arrival: what Streamlit 1.67 gets wrong when someone comes to a page by a link or by Back, set right."""

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

_component = st.components.v2.component(
    "attnviz.arrival",
    js="""
export default function ({ setTriggerValue }) {
  setTriggerValue("arrived", true);
  if (window.attnvizKeepsHistory) return;
  window.attnvizKeepsHistory = true;
  const push = history.pushState.bind(history);
  let last = 0;
  history.pushState = (state, title, url) => {
    const here = new URL(url ?? "", location.href).pathname === location.pathname;
    const atOnce = performance.now() - last < 1000;
    last = performance.now();
    (here && atOnce ? history.replaceState.bind(history) : push)(state, title, url);
  };
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


def back_with_what_was_kept() -> None:
    """Bring bound values back when the browser's Back has come to a page whose address has lost them.

    Streamlit takes them out of a page's address as it leaves the page, and
    Back then sets each to its default. Called before the widgets are made.
    """
    run = get_script_run_ctx()
    kept = st.session_state.get("kept", {})
    if run.is_history_navigation and st.session_state.get("page") != run.page_script_hash and kept:
        st.session_state["page"], st.session_state["back"] = run.page_script_hash, kept
        st.rerun()  # as in this run the address has the say
    st.session_state["came_back"] = run.is_history_navigation or "back" in st.session_state
    for key, value in st.session_state.pop("back", {}).items():
        st.session_state[key] = value


def came_back() -> bool:
    """Whether the browser's Back or Forward led to this run, so that what its address lacks is not to be there."""
    return st.session_state.get("came_back", False)


def keep(keys: Sequence[str]) -> None:
    """Remember bound values for `back_with_what_was_kept`. Called after the widgets were made."""
    st.session_state["page"] = get_script_run_ctx().page_script_hash
    st.session_state["kept"] = {key: st.session_state[key] for key in keys if key in st.session_state}


@st.fragment
def settle() -> None:
    """Have the browser ask for a run of this fragment, once; nothing else runs, and nothing is shown.

    Streamlit carries bound values to another page only if they were there
    before the last run that the browser asked for; those that a first visit's
    address has just set are dropped (`SessionState._remove_stale_widgets`
    looks at the old state alone). After this run they are old.

    And when it carries them over, it writes them into the address one by one,
    each a step of the browser's history: Back would take one setting away after
    the other. Steps that follow within a second are made one.
    """
    _component(key="arrival", on_arrived_change=lambda: None)
