"""Arrival: how Streamlit 1.67 lets people come to a page, and what it gets wrong there, set right."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.ui.viewer.bundle import bundle

_BROWSER = Path(__file__).parents[1] / "viewer" / "browser"
RECONNECTED = "reconnected"
"""The parameter with which `history.js` has an address read again, by a process that may know the tab or not."""

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


def is_navigation() -> bool:
    """Whether the browser's Back or Forward led here: a tab that is back after a break says it by `RECONNECTED`."""
    return bool(get_script_run_ctx().is_history_navigation) and RECONNECTED not in st.query_params


def page() -> str:
    """What stands for the page that is run."""
    return get_script_run_ctx().page_script_hash


def brought() -> str:
    """The address of this run, as it came."""
    return get_script_run_ctx().query_string


def keep_address(address: Mapping[str, str | None], read: str) -> None:
    """Have the browser write the address, and keep the viewer's place in it, whatever Streamlit writes there.

    A switch of pages is up to three steps of the history else, of which some
    have the path of one page and the parameters of another, or none: Back
    would lead to another scene.

    Parameters
    ----------
    address : mapping of str to str or None
        What the browser's address is to have, or for None to lack. It is a step of its history if the same page had
        another, and not if it is mended on arrival.
    read : str
        The address that was read last.
    """
    shown = {"page": page(), "address": dict(address), "read": read}
    _address(key="address", data=shown)
