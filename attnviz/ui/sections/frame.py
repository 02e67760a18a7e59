"""The frame of a page: its settings, what was mended, what is set by hand; and help where there is no pass to show."""

from collections.abc import Sequence

import streamlit as st

from attnviz.ui.escaping import markdown
from attnviz.ui.sections import banner, controls, style
from attnviz.ui.state import arrival
from attnviz.ui.state.store import Shown


def draw(shown: Shown, title: str) -> None:
    """Draw what every page of a pass begins with. Ends the page with a sentence of help where there is no pass.

    The title takes no room: it is heard, and the menu shows it.
    """
    style.draw()
    with st.container(key=shown.key("heard_title")):
        st.title(title, anchor=False)
    arrival.keep_address(shown.unwritten)
    _say((*shown.notices, *controls.draw(shown), *shown.refused))
    if shown.trace is None:
        controls.offer(shown)
        st.stop()


def draw_with_banner(shown: Shown, title: str) -> None:
    """Draw the frame, and say what is set by hand if anything is."""
    draw(shown, title)
    banner.draw(shown)


def draw_without_controls(shown: Shown) -> None:
    """Draw the frame of a page that shows no pass of its own."""
    style.draw()
    arrival.keep_address(shown.unwritten)
    _say(shown.notices)


def _say(sentences: Sequence[str]) -> None:
    """What was mended, and what could not be shown, a line for each."""
    if sentences:
        st.warning("  \n".join(map(markdown, sentences)), icon=":material/info:")
