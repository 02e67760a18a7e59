"""The frame of a page: its settings, what was mended, what is set by hand."""

import streamlit as st

from attnviz.ui.escaping import markdown
from attnviz.ui.sections import banner, style
from attnviz.ui.state import arrival
from attnviz.ui.state.store import Shown
from attnviz.ui.viewer import component


def draw(shown: Shown, title: str) -> None:
    """Give a page its style, its title and its address.

    The title takes no room: it is heard, and the menu shows it.
    """
    style.draw()
    with st.container(key=shown.key("heard_title")):
        st.title(title, anchor=False)
    arrival.keep_address(shown.address, shown.brought)


def draw_with_settings(shown: Shown, title: str) -> None:
    """Draw the frame, the settings, and what is set by hand if anything is.

    Ends the page where there is no pass; a notice of the settings says why.
    """
    draw(shown, title)
    component.draw_settings(shown)
    if shown.trace is None:
        st.stop()
    banner.draw(shown)


def draw_without_settings(shown: Shown) -> None:
    """Draw the frame of a page that shows no pass of its own."""
    style.draw()
    arrival.keep_address(shown.address, shown.brought)
    if shown.notices:
        st.warning("  \n".join(map(markdown, shown.notices)), icon=":material/info:")
