"""Arrival: how Streamlit 1.67 lets people come to a page, and what it gets wrong there, set right."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

_one_step_of_history = st.components.v2.component(
    "attnviz.history",
    js="""
export default function () {
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


def brings_an_address(key: str) -> bool:
    """Whether the address of this run is to be read: `key` is not in the session yet, or Back or Forward led here."""
    return key not in st.session_state or get_script_run_ctx().is_history_navigation


def page() -> str:
    """What stands for the page that is run."""
    return get_script_run_ctx().page_script_hash


def keep_history_short() -> None:
    """Have the browser make one step of its history of what changes the address within a second.

    A switch of pages is two steps else, its path and then its parameters: Back
    would lead to the path alone, which is another scene.
    """
    _one_step_of_history(key="history")
