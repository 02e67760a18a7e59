"""The article as a Streamlit component.

Streamlit's own elements take 2 to 3 ms each in the browser, with every run; a page of fifty is slow. Ours are one.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from attnviz.app.loader import loader, runs
from attnviz.app.state.setter import SceneSetter
from attnviz.app.state.store import Shown
from attnviz.articles.pieces import Door
from attnviz.contract.article import Article, Piece
from attnviz.scene.document.encoding import to_json

_component = st.components.v2.component(
    "attnviz.article", html='<div class="article" aria-busy="true"></div>', js=loader("articles")
)


def draw(
    shown: Shown,
    key: str,
    pieces: Sequence[Piece],
    doors: Mapping[str, Door],
    choose: Callable[[SceneSetter, Mapping[str, object]], None],
) -> None:
    """Draw an article, and do what is done in it.

    Parameters
    ----------
    shown : Shown
    key : str
    pieces : sequence of Piece
    doors : mapping of str to Door
        Where each door in it leads in the walkthrough, by its name.
    choose : callable
        Given the setter and, by the events of choices, what is chosen; a message made by hand may hold anything.
    """
    result = _component(
        key=key,
        data=to_json(Article(pieces)),
        on_chosen_change=partial(_chosen, shown.setter, key, choose),
        on_opened_change=runs,
    )
    if isinstance(result.opened, str) and result.opened in doors:
        shown.open_page("pages/walkthrough.py", **doors[result.opened])


def _chosen(setter: SceneSetter, key: str, choose: Callable[[SceneSetter, Mapping[str, object]], None]) -> None:
    chosen = setter.value(key).get("chosen")
    if isinstance(chosen, Mapping):
        choose(setter, chosen)
