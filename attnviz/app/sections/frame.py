"""The frame of a page: its style and title, the settings and what is said of them, and where its text stands."""

from contextlib import AbstractContextManager

import streamlit as st

from attnviz.app import component
from attnviz.app.sections import style
from attnviz.app.state import arrival
from attnviz.app.state.store import Shown
from attnviz.explain.markup import markdown
from attnviz.scene.with_pass import what_if


def draw(shown: Shown, title: str) -> None:
    """Give a page its style, its title and its address.

    The title takes no room: it is heard, and the menu shows it.
    """
    style.draw_of_a_pass()
    _draw_heard_title(title)
    arrival.keep_address(shown.address, shown.brought)


def draw_with_settings(shown: Shown, title: str, view: str) -> str:
    """Draw the frame and the settings of a page that shows something else of the pass than the viewer.

    Returns what the run was asked for (see `component.draw_settings`). For other numbers it goes to the viewer.
    """
    draw(shown, title)
    request = component.draw_settings(shown, view)
    if request == "other numbers":
        shown.open_page("pages/walkthrough.py", **what_if(shown))
    return request


def of_pass(shown: Shown) -> AbstractContextManager:
    """Where a page says what is shown of the pass; it can't be seen where there is none."""
    return st.container(key="of_pass")


def draw_without_settings(shown: Shown) -> None:
    """Draw the frame of a page that shows no pass of its own."""
    style.draw()
    arrival.keep_address(shown.address, shown.brought)
    if shown.notices:
        st.warning("  \n".join(map(markdown, shown.notices)), icon=":material/info:")


def draw_lessons() -> None:
    """Draw the frame of the page of lessons."""
    style.draw_of_a_pass()
    _draw_heard_title("Lessons")


def _draw_heard_title(title: str) -> None:
    with st.container(key="heard_title"):
        st.title(title, anchor=False)
