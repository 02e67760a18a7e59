"""Arrival: how Streamlit 1.67 lets people come to a page, and what it gets wrong there, set right."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.ui.viewer.bundle import bundle

_BROWSER = Path(__file__).parents[1] / "viewer" / "browser"
_address = st.components.v2.component("attnviz.address", js=bundle(_BROWSER / "arrival.js"))


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


def session() -> str:
    """What stands for the visitor's session."""
    return get_script_run_ctx().session_id


def keep_address(unwritten: Mapping[str, str | None]) -> None:
    """Have the browser keep the viewer's place in the address, and its history short, whatever Streamlit writes there.

    A switch of pages is two steps of the history else, its path and then its
    parameters: Back would lead to the path alone, which is another scene.

    Parameters
    ----------
    unwritten : mapping of str to str or None
        What the browser is to write, or for None to drop, without a step of its history.
    """
    _address(key="address", data=dict(unwritten), on_reconnect_change=_run)


def _run() -> None:
    """A tab that comes back from a lost process asks for this run alone: Streamlit loses what the first one is for."""
