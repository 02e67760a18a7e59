"""The scene of a page: a tab's scene. The address is read on arrival, and each of its parameters has one writer.

A scene is changed by an action in the viewer or its settings (`scene/actions`), without a run of the page, or by the
callback of a widget (`SceneSetter.update`), after which Streamlit's run reads the scene (`read`). The view parameters
(`contract.view_params`) are written by the viewer; every run and action reads them from its address. So no widget has a
value of its own that could contradict the scene (`SceneSetter.set_widget`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn
from urllib.parse import parse_qsl

import streamlit as st

from attnviz.app import browser_tabs, streamlit_private
from attnviz.app.scripts import loader
from attnviz.scene.actions.session import Session
from attnviz.scene.address import PARAMETERS, VIEW_FIELDS, VIEWERS, parse, query, with_view
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import Scene, of_model, parts_for_source
from attnviz.scene.with_pass import SceneWithPass


@dataclass(frozen=True)
class SceneSetter:
    """The session of a tab, and the widgets on its page. Streamlit keeps callbacks and their arguments until the
    session ends, so a setter holds no pass.
    """

    session: Session  # holds the current scene: several callbacks may run before the next draw

    def update(self, **parts: object) -> None:
        """Change parts of the scene; the next run shows it."""
        self.session.update(**parts)

    def set_widget(self, key: str, value: object) -> str:
        """Make the widget with this key show `value`; returns the key. An unchanged value is written too: a select box
        knows its value by its label, and the third key of a new sentence has a new label.
        """
        st.session_state[key] = value
        return key


RECONNECTED = "reconnected"  # the parameter with which `history.js` asks to read an address again after a reconnect
_address = st.components.v2.component("attnviz.address", js=loader("arrival"))


def rerun_through_app() -> None:
    """Rerun the page through `app.py` if Streamlit opened it directly, which it does on a server that just started."""
    if streamlit_private.stop_looking_for_pages():
        st.rerun()


def is_navigation() -> bool:
    """Whether Back or Forward led here; Streamlit also says so of a tab that reconnects, which `RECONNECTED` marks."""
    return streamlit_private.is_navigation() and RECONNECTED not in st.query_params


def keep_address(address: Mapping[str, str | None], read: str) -> None:
    """Make the browser write the address and keep the viewer's parameters, whatever Streamlit writes there.

    Otherwise a switch of pages makes up to three history entries, some with parts of both addresses. A parameter that
    is None is removed. A change on the same page makes a history entry; a correction of `read`, the last address read,
    doesn't.
    """
    shown = {"page": streamlit_private.page(), "address": dict(address), "read": read}
    _address(key="address", data=shown)


_PAGE = "page"
_ADDRESS_READ = "address read"
_NOTICES = "notices"
_SOURCE = {"model", "source", "sentence"}  # the parameters that choose a pass's source
LESSONS = ("lesson", "moment", "room")  # parameters of the lessons page, which the browser writes, besides `present`


@dataclass(frozen=True)
class PageScene(SceneWithPass, SceneSetter):
    """A scene on the page, and the way to change it: what every section receives."""

    address: Mapping[str, str | None] = field(default_factory=dict)  # for the browser to write, see `keep_address`
    address_read: str = ""  # the last query string that was read
    number: int = 0  # grows with every scene of the tab

    @property
    def setter(self) -> SceneSetter:
        """The setter alone, for callbacks."""
        return SceneSetter(self.session)

    def open_page(self, page: str, **parts: object) -> NoReturn:
        """Go to another page with parts of the scene changed. Notices of corrections go along, and refusals too, unless
        that page shows a new pass.
        """
        self.update(**parts)
        refused = self.refused if parts.keys() <= set(VIEW_FIELDS) else ()
        st.session_state[_NOTICES] = (*self.notices, *refused)
        st.switch_page(page)

    def set_text_box(self, key: str, text: str) -> str:
        """Make the text box with this key hold `text`; returns the key.

        Nothing is written over the same text, which would replace what someone is typing. A box with this key on a
        previous page doesn't count: its text is still in the session, but this page's box would be empty.
        """
        page = f"{key} was drawn on"
        if st.session_state.get(key) != text or st.session_state.get(page) != streamlit_private.page():
            st.session_state[key] = text
        st.session_state[page] = streamlit_private.page()
        return key


def read(opening: str = "") -> PageScene:
    """The scene of this run with its pass; Streamlit's own address is updated if it differs.

    Streamlit forgets the address on a switch of pages, and a quick second click still carries the address from before
    the first. So the whole address is only read on arrival: by a link, by Back, or in a process that has taken over.
    The browser shows `PageScene.address`, since Streamlit may write its own too early, or after Back has led elsewhere.
    Corrections on arrival make no history entry, or Back would never leave. `opening` is the model that the page opens
    with when someone arrives with a different one or without an address.
    """
    rerun_through_app()
    others = (RECONNECTED, *LESSONS)  # a lesson's parameters stay until the browser has written its address
    texts = {name: st.query_params.get_all(name) for name in st.query_params if name not in others}
    tab, page_id = browser_tabs.current_tab(), streamlit_private.page()
    has_arrived = tab.session is None or _PAGE not in st.session_state or is_navigation()
    if has_arrived:
        st.session_state[_ADDRESS_READ] = streamlit_private.address()
        named = query(of_model(opening)) if opening and _SOURCE.isdisjoint(texts) else {}
        scene, notices = parse(named | texts, tab.session.uploads if tab.session else {})
        resolved = PASS_CACHE.resolved(scene)
        resolved = replace(resolved, notices=(*notices, *resolved.notices))
        session = tab.session = _arrived(tab.session, resolved.scene, page_id)
        number = session.number()
    else:
        session = tab.session
        is_here = st.session_state[_PAGE] == page_id
        if is_here and session.arrivals_sent == session.arrivals:
            session.scene = with_view(session.scene, texts)
        elif opening and not is_here and session.scene.source != opening:
            session.update(**parts_for_source(opening))
        # corrections that follow from an action in the app need no notice
        number, resolved, notices = session.number(), session.resolved(), st.session_state.pop(_NOTICES, ())
        resolved = replace(resolved, notices=tuple(each for each in notices if each not in resolved.refused))
    st.session_state[_PAGE], session.arrivals_sent = page_id, session.arrivals
    address = query(resolved.scene)
    shown = {name: address.get(name) for name in (*PARAMETERS, *LESSONS) if name not in VIEWERS}
    if has_arrived:
        shown |= {name: address.get(name) for name in (*texts, *address) if texts.get(name) != [address.get(name)]}
    elif st.query_params.to_dict() != address:
        st.query_params.from_dict(address)
    address_read = st.session_state[_ADDRESS_READ]
    return PageScene(**vars(resolved), session=session, address=shown, address_read=address_read, number=number)


def show_lessons() -> None:
    """Record that this is the lessons page. It shows no scene; the tab keeps its scene for the other pages."""
    rerun_through_app()
    st.session_state[_PAGE], st.session_state[_ADDRESS_READ] = streamlit_private.page(), streamlit_private.address()
    keep_address({name: None for name in PARAMETERS if name != "present"}, streamlit_private.address())


def open_in_walkthrough(address: str) -> NoReturn:
    """Go to the walkthrough with an address's scene; an empty address keeps the tab's scene, if there is one."""
    tab = browser_tabs.current_tab()
    if address or tab.session is None:
        uploads = tab.session.uploads if tab.session else {}
        tab.session = _arrived(tab.session, parse(dict(parse_qsl(address, keep_blank_values=True)), uploads).scene, "")
    st.switch_page("pages/walkthrough.py")


def _arrived(session: Session | None, scene: Scene, page: str) -> Session:
    if session is None:
        return Session(scene, arrivals=1)
    elsewhere_in_pass = replace(session.scene, **{part: getattr(scene, part) for part in VIEW_FIELDS})
    if st.session_state[_PAGE] != page or elsewhere_in_pass != scene:  # otherwise the viewer shows it already
        session.arrivals += 1
    session.scene = scene
    return session
