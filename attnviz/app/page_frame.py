"""The frame of a page: title, settings and notices. Its styles are in page.css, which comes with Streamlit's page."""

from contextlib import AbstractContextManager

import streamlit as st

from attnviz.app.components import draw_settings
from attnviz.app.page_scene import PageScene, keep_address
from attnviz.explain.styled_text import markdown
from attnviz.scene.with_pass import what_if

# Streamlit marks the link of the page that is open, but not the menu that it is in.
_UNDER_MORE = """<style>
[data-testid="stTopNavSection"] { background: color-mix(in srgb, currentcolor 12%, transparent); font-weight: 600; }
</style>"""

# More rules for pages with the viewer. Others rerun at each choice, and these rules with :has() cost 7 ms a run.
_OF_THE_VIEWER = """
/* one screen: the viewer takes the remaining height */
@media (min-width: 821px) {
  [data-testid="stMainBlockContainer"]:has(.st-key-viewer) {
    display: flex; flex-direction: column; height: 100dvh; padding-bottom: 0.5rem;
  }
}
[data-testid="stMainBlockContainer"]:has(.st-key-viewer) > [data-testid="stVerticalBlock"],
[data-testid="stLayoutWrapper"]:has(> .st-key-viewer) { min-height: 0; }
.st-key-viewer { min-height: 26rem; }
.st-key-viewer
:is([data-testid="stElementContainer"], .stBidiComponent, [data-testid="stBidiComponentIsolated"]) {
  height: 100%;
}

/* the viewer's paper is white, whatever the theme */
@media print { body:has(.st-key-viewer) { background: none; } }
"""


def draw(shown: PageScene, title: str) -> None:
    """Draw the frame of a page that shows a pass."""
    draw_style_and_title(title)
    keep_address(shown.address, shown.address_read)


def article(shown: PageScene, title: str, *, is_under_more: bool = True) -> AbstractContextManager:
    """Draw the frame of a page of text and tables, and its title; returns the container for the rest of it."""
    if is_under_more:
        st.html(_UNDER_MORE)
    keep_address(shown.address, shown.address_read)
    content = st.container(key="article")
    with content:
        st.title(title, anchor=False)
        if shown.notices:
            st.warning("  \n".join(map(markdown, shown.notices)), icon="ℹ️")
    return content


def settings(shown: PageScene, view: str) -> str:
    """Draw the settings of a page on the pass without the viewer; returns the run's request. A request for other
    numbers goes to the walkthrough.
    """
    request = draw_settings(shown, view)
    if request == "other numbers":
        shown.open_page("pages/walkthrough.py", **what_if(shown))
    return request


def pass_container() -> AbstractContextManager:
    """A container for text about the pass, hidden while there is none."""
    return st.container(key="of_pass")


def draw_style_and_title(title: str) -> None:
    """Draw the style of a page with the viewer, and a title for screen readers only: the menu shows it already."""
    st.html(f"<style>{_OF_THE_VIEWER}</style>")
    with st.container(key="heard_title"):
        st.title(title, anchor=False)
