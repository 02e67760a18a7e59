"""The frame of a page: stylesheet, title, settings and notices. Colours are the theme's."""

from contextlib import AbstractContextManager

import streamlit as st

from attnviz.app.components import draw_settings
from attnviz.app.page_scene import PageScene, keep_address
from attnviz.explain.styled_text import markdown
from attnviz.scene.with_pass import what_if

_STYLE = """
[data-testid="stHeader"] { height: 2.75rem; min-height: 2.75rem; }
[data-testid="stMainBlockContainer"] { padding: 3rem 1.5rem 1rem; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 0.5rem; }
[data-testid="stAlertContainer"] { padding: 0.4rem 0.75rem; }
.st-key-address { display: none; }

/* for screen readers only */
[class*="st-key-scrolled"] > :first-child {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}

@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding: 3rem 0.75rem 1rem; }
}

/* controls stay in view beside the pictures that they change, unless these are below */
@media (min-width: 641px) {
  [data-testid="stColumn"] > [data-testid="stVerticalBlock"]:has(> * > .st-key-beside) {
    position: sticky; top: 3rem; max-height: calc(100dvh - 3rem); overflow-y: auto; height: auto;
  }
}

/* a matrix that is wider than a phone scrolls: Plotly would squeeze its labels */
[class*="st-key-scrolled"] { overflow-x: auto; }
[class*="st-key-scrolled"] > [data-testid="stElementContainer"] { max-width: none; }

/* Plotly's grey is too faint for small labels: they take the page's colour */
.js-plotly-plot :is([class$="axislayer-above"], .infolayer) text { fill: currentColor !important; }

/* a selected option stays readable on its colour */
[data-selected="true"] p { color: light-dark(#1d1f24, #eceae4); }

/* no animation for those who prefer none; delays stay: without them each short run would grey the page */
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after {
    transition-duration: 0s !important; animation: none !important; scroll-behavior: auto !important;
  }
}

/* the keyboard focus of Streamlit's own parts looks as in ours, in the theme's link colour */
[data-testid="stApp"] :is(a, button, main):focus-visible {
  outline: 2px solid light-dark(#1d1f24, #eceae4); outline-offset: -2px;
}

/* the keyboard skips a collapsed menu */
[data-testid="stSidebar"][data-collapsed="true"] { visibility: hidden; }

/* on a phone the menu's button names what it opens, and targets are large enough for a finger */
[data-testid="stExpandSidebarButton"] {
  width: auto; height: 2.75rem; padding: 0 0.9rem; margin: 0; font-weight: 600;
  color: light-dark(#1d1f24, #eceae4); text-decoration: underline; text-underline-offset: 0.2em;
}
[data-testid="stExpandSidebarButton"] > * { display: none; }
[data-testid="stExpandSidebarButton"]::after { content: "Pages"; }
[data-testid="stSidebarNavLink"] { min-height: 2.75rem; }

/* no header in another site's frame; only the viewer while presenting; no controls on paper */
.streamlit-embedded [data-testid="stHeader"] { display: none; }
.streamlit-embedded [data-testid="stMainBlockContainer"] { padding: 0.5rem; }
[data-presenting] [data-testid="stHeader"] { display: none; }
[data-presenting] [data-testid="stDialog"] { display: none; } /* a talk goes on without a server */
[data-presenting] [data-testid="stMainBlockContainer"] { padding: 0; }
[data-presenting] main:focus-visible { outline: none !important; } /* it isn't interactive */
[data-presenting] main::before { content: none !important; } /* Streamlit's own ring */
@page { size: landscape; margin: 10mm; }
@media print {
  [data-testid="stHeader"] { display: none; }
  [data-testid="stMainBlockContainer"] { display: block; height: auto; padding: 0; }
}
"""

# More rules for pages with a pass. Others rerun at each choice, and these rules with :has() cost 7 ms a run.
_OF_A_PASS = """
/* without a pass there is no text about it */
[class*="st-key-of_pass"]:has([data-empty]) { display: none; }

/* for screen readers only */
[data-testid="stLayoutWrapper"]:has(> .st-key-heard_title) {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}

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


def draw_with_settings(shown: PageScene, title: str, view: str) -> str:
    """Draw the frame and settings of a page on the pass without the viewer; returns the run's request. A request for
    other numbers goes to the walkthrough.
    """
    draw(shown, title)
    request = draw_settings(shown, view)
    if request == "other numbers":
        shown.open_page("pages/walkthrough.py", **what_if(shown))
    return request


def pass_container() -> AbstractContextManager:
    """A container for text about the pass, hidden while there is none."""
    return st.container(key="of_pass")


def draw_without_settings(shown: PageScene) -> None:
    """Draw the frame of a page that shows no pass of its own."""
    st.html(f"<style>{_STYLE}</style>")
    keep_address(shown.address, shown.address_read)
    if shown.notices:
        st.warning("  \n".join(map(markdown, shown.notices)), icon=":material/info:")


def draw_style_and_title(title: str) -> None:
    """Draw the style of a page with a pass, and a title for screen readers only: the menu shows it already."""
    st.html(f"<style>{_STYLE}{_OF_A_PASS}</style>")
    with st.container(key="heard_title"):
        st.title(title, anchor=False)
