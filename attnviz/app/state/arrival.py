"""Arrival: how Streamlit 1.67 lets people come to a page, and what it gets wrong there, set right."""

from collections.abc import Mapping

import streamlit as st

from attnviz.app import streamlit_private
from attnviz.viewer.bundle import bundle, module

RECONNECTED = "reconnected"
"""The parameter with which `history.js` has an address read again, by a process that may know the tab or not."""

_address = st.components.v2.component("attnviz.address", js=bundle(module("arrival")))


def by_the_router() -> None:
    """Run the page again by way of `app.py`, if Streamlit came to it without: on a server that has just started."""
    if streamlit_private.stop_looking_for_pages():
        st.rerun()


def is_navigation() -> bool:
    """Whether the browser's Back or Forward led here: a tab that is back after a break says it by `RECONNECTED`."""
    return streamlit_private.is_navigation() and RECONNECTED not in st.query_params


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
    shown = {"page": streamlit_private.page(), "address": dict(address), "read": read}
    _address(key="address", data=shown)
