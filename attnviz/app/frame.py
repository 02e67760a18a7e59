"""The frame of a page: stylesheet, title, settings and notices. Colours are the theme's."""

from contextlib import AbstractContextManager

import streamlit as st

from attnviz.app.components import draw_settings
from attnviz.app.store import PageScene, keep_address
from attnviz.explain.markup import markdown
from attnviz.scene.with_pass import what_if

_STYLE = """
[data-testid="stHeader"] { height: 2.75rem; min-height: 2.75rem; }
[data-testid="stMainBlockContainer"] { padding: 3rem 1.5rem 1rem; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 0.5rem; }
[data-testid="stAlertContainer"] { padding: 0.4rem 0.75rem; }
.st-key-address { display: none; }

/* heard, not seen */
[class*="st-key-scrolled"] > :first-child {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}

@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding: 3rem 0.75rem 1rem; }
}

/* what one chooses stays beside the pictures that it changes, unless they are below it */
@media (min-width: 641px) {
  [data-testid="stColumn"] > [data-testid="stVerticalBlock"]:has(> * > .st-key-beside) {
    position: sticky; top: 3rem; max-height: calc(100dvh - 3rem); overflow-y: auto; height: auto;
  }
}

/* a matrix that is wider than a phone is scrolled: Plotly would push its letters together */
[class*="st-key-scrolled"] { overflow-x: auto; }
[class*="st-key-scrolled"] > [data-testid="stElementContainer"] { max-width: none; }

/* Plotly's grey letters are too faint on a coloured cell: they are the page's */
.js-plotly-plot text { fill: currentColor !important; }

/* what is chosen can be read on its own colour */
[data-selected="true"] p { color: light-dark(#1b2430, #e8ecf2); }

/* nothing moves by itself where people want it still; delays stay: without, each short run would grey the page */
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after {
    transition-duration: 0s !important; animation: none !important; scroll-behavior: auto !important;
  }
}

/* what has the keyboard in Streamlit's own parts is outlined as it is in ours, in the theme's colour of links */
[data-testid="stApp"] :is(a, button, main):focus-visible {
  outline: 2px solid light-dark(#1f5fae, #6cb0ff); outline-offset: -2px;
}

/* a menu that is out of sight is out of reach */
[data-testid="stSidebar"][data-collapsed="true"] { visibility: hidden; }

/* on a phone the menu's button says what it opens, and a finger hits it and what is in the menu */
[data-testid="stExpandSidebarButton"] {
  width: auto; height: 2.75rem; padding: 0 0.9rem; margin: 0; font-weight: 600;
  color: light-dark(#1f5fae, #6cb0ff); text-decoration: underline; text-underline-offset: 0.2em;
}
[data-testid="stExpandSidebarButton"] > * { display: none; }
[data-testid="stExpandSidebarButton"]::after { content: "Pages"; }
[data-testid="stSidebarNavLink"] { min-height: 2.75rem; }

/* in somebody's frame there is no header; while presenting the viewer alone is there, and on paper nothing to press */
.streamlit-embedded [data-testid="stHeader"] { display: none; }
.streamlit-embedded [data-testid="stMainBlockContainer"] { padding: 0.5rem; }
[data-presenting] [data-testid="stHeader"] { display: none; }
[data-presenting] [data-testid="stDialog"] { display: none; } /* a talk goes on without a server */
[data-presenting] [data-testid="stMainBlockContainer"] { padding: 0; }
[data-presenting] main:focus-visible { outline: none !important; } /* nothing of it answers */
[data-presenting] main::before { content: none !important; } /* Streamlit's own ring */
@page { size: landscape; margin: 10mm; }
@media print {
  [data-testid="stHeader"] { display: none; }
  [data-testid="stMainBlockContainer"] { display: block; height: auto; padding: 0; }
}
"""

_OF_A_PASS = """
/* where there is no pass, nothing is said of one */
[class*="st-key-of_pass"]:has([data-empty]) { display: none; }

/* heard, not seen */
[data-testid="stLayoutWrapper"]:has(> .st-key-heard_title) {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}

/* one screen: the viewer has all the height that is left */
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
"""The further rules of pages of a pass. Others have runs at each choice, and these rules with :has() cost one 7 ms."""


def _apply_style() -> None:
    """Give the page its stylesheet."""
    st.html(f"<style>{_STYLE}</style>")


def _apply_pass_style() -> None:
    """Give a page that shows a pass its stylesheet."""
    st.html(f"<style>{_STYLE}{_OF_A_PASS}</style>")


def draw(shown: PageScene, title: str) -> None:
    """Draw a page's style and address, and a title for screen readers only: the menu shows it already."""
    _apply_pass_style()
    _draw_heard_title(title)
    keep_address(shown.address, shown.brought)


def draw_with_settings(shown: PageScene, title: str, view: str) -> str:
    """Draw the frame and settings of a page on the pass without the viewer; returns the run's request.

    A request for other numbers goes to the walkthrough.
    """
    draw(shown, title)
    request = draw_settings(shown, view)
    if request == "other numbers":
        shown.open_page("pages/walkthrough.py", **what_if(shown))
    return request


def pass_container(shown: PageScene) -> AbstractContextManager:
    """A container for text about the pass, hidden while there is none."""
    return st.container(key="of_pass")


def draw_without_settings(shown: PageScene) -> None:
    """Draw the frame of a page that shows no pass of its own."""
    _apply_style()
    keep_address(shown.address, shown.brought)
    if shown.notices:
        st.warning("  \n".join(map(markdown, shown.notices)), icon=":material/info:")


def draw_lessons() -> None:
    """Draw the frame of the page of lessons."""
    _apply_pass_style()
    _draw_heard_title("Lessons")


def _draw_heard_title(title: str) -> None:
    with st.container(key="heard_title"):
        st.title(title, anchor=False)
