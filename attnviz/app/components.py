"""The Streamlit components: the viewer with its settings, the lessons, and articles. Streamlit's own elements take the
browser 2 to 3 ms each in every run, so a page of fifty is slow; an article is one.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from attnviz.app import browser_tabs
from attnviz.app.page_scene import PageScene, SceneSetter
from attnviz.app.scripts import loader, page_loader, rerun
from attnviz.articles.pieces import Door
from attnviz.contract.article import Article, Piece
from attnviz.lessons.lesson import contents
from attnviz.scene.document.encoding import to_json
from attnviz.scene.document.reply_notes import ReplyNotes

_PASS = page_loader("pass")
_ROOT = '<div class="{}" aria-busy="true"></div>'  # until the browser has its script
_viewer = st.components.v2.component("attnviz.viewer", html=_ROOT.format("attnviz"), js=_PASS)
_lessons = st.components.v2.component(
    "attnviz.lessons", html=_ROOT.format("attnviz lessons"), js=page_loader("lessons")
)
_outlet = st.components.v2.component("attnviz.outlet", html=_ROOT.format("attnviz outlet"), js=_PASS)


def draw_pass(shown: PageScene) -> None:
    """Draw the settings and the pass of a scene. Actions in them need no run, except the way back to a talk."""
    with st.container(key="viewer", height="stretch"):
        request = _viewer(key="pass", height="stretch", data=_document(shown, "pass"), on_run_change=rerun).run
    if request == "lessons":
        st.switch_page("pages/lessons.py")


def draw_settings(shown: PageScene, view: str) -> str:
    """Draw the settings of a scene; a view of `scene.document.reply.PARTS` appears where `draw_outlet` is called.
    Returns this run's request that no action covers: "other numbers", "recompute" or "".
    """
    return _viewer(key=view, data=_document(shown, view), on_run_change=rerun).run or ""


def draw_lessons() -> str | None:
    """Draw the lessons; returns the address of a scene to open in the walkthrough, if the user asked for one."""
    with st.container(key="viewer", height="stretch"):
        return _lessons(key="lessons", height="stretch", data=contents(), on_opened_change=rerun).opened


def draw_outlet() -> None:
    """Mark where the content of a scene appears, below Streamlit's own text."""
    _outlet(key="outlet", data={})


def _document(shown: PageScene, view: str) -> bytes:
    return shown.session.reply(
        shown, ReplyNotes(notices=shown.notices), browser_tabs.current_tab().token, view, shown.number
    )


Choose = Callable[[SceneSetter, Mapping[str, object]], None]

_article = st.components.v2.component(
    "attnviz.article", html='<div class="article" aria-busy="true"></div>', js=loader("articles")
)


def draw_article(
    shown: PageScene, key: str, pieces: Sequence[Piece], doors: Mapping[str, Door], choose: Choose | None = None
) -> None:
    """Draw an article, and handle its links to scenes in the walkthrough (`doors`, by name) and its choices. `choose`
    is called with the setter and the choices by event; a forged message may hold anything.
    """
    data, chosen = to_json(Article(pieces)), partial(_chosen, shown.setter, key, choose)
    result = _article(key=key, data=data, on_chosen_change=chosen, on_opened_change=rerun)
    if isinstance(result.opened, str) and result.opened in doors:
        shown.open_page("pages/walkthrough.py", **doors[result.opened])


def _chosen(setter: SceneSetter, key: str, choose: Choose | None) -> None:
    chosen = st.session_state[key].get("chosen")
    if choose and isinstance(chosen, Mapping):
        choose(setter, chosen)
