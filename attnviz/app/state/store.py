"""The store: the scene of a tab. The address is read when someone arrives, and each parameter has one writer.

What a person does changes a scene: by an act in the viewer and its settings
(`scene/actions`), which is answered without a run, or in a widget's callback
(`SceneSetter.update`), and the run that follows reads the scene (`read`). Where one
looks in a pass (`parameters.VIEWERS`) is written by the viewer; every run and act
reads that from the address it comes with. So no widget has a value of its own
that could contradict the scene (`SceneSetter.shows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn
from urllib.parse import parse_qsl

import streamlit as st

from attnviz.app import streamlit_private
from attnviz.app.state import arrival, tabs
from attnviz.app.state.setter import SceneSetter
from attnviz.scene.actions.session import Session
from attnviz.scene.address import parse, query, with_view
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.parameters import LOOKED_AT, PARAMETERS, VIEWERS
from attnviz.scene.scene import Scene, parts_for_source
from attnviz.scene.with_pass import SceneWithPass

_PAGE = "page"
_BROUGHT = "brought"
_NOTICES = "notices"
_SOURCE = {"model", "source", "sentence"}
"""The parameters that say whose pass an address is of."""

LESSONS = ("lesson", "moment", "room")
"""The parameters of the page of lessons and classes, which the browser writes; it has `present` too."""


@dataclass(frozen=True)
class Shown(SceneWithPass, SceneSetter):
    """A scene on the page, and the way to change it: all that a section is given.

    Attributes
    ----------
    address : mapping of str to str or None
        Parameters that the browser's address has where this is shown, or None for those it lacks (see `read`).
    brought : str
        The address that was read last, as it came.
    number : int
        Larger than that of every earlier scene of the tab.
    """

    address: Mapping[str, str | None] = field(default_factory=dict)
    brought: str = ""
    number: int = 0

    @property
    def setter(self) -> SceneSetter:
        """The setter, which a callback is given in place of all this."""
        return SceneSetter(self.session)

    def open_page(self, page: str, **parts: object) -> NoReturn:
        """Go to another page with parts of the scene changed.

        What was mended is said there, and what was refused too, unless another pass is shown.
        """
        self.update(**parts)
        refused = self.refused if parts.keys() <= set(LOOKED_AT) else ()
        st.session_state[_NOTICES] = (*self.notices, *refused)
        st.switch_page(page)

    def holds(self, key: str, text: str) -> str:
        """Have the text box of this key hold `text`; returns its key.

        Nothing is written where it holds that already: it would replace what
        someone is typing. Another page's box of the same key doesn't count: its
        text is still in the session, and yet this page's box would be empty.
        """
        page = f"{key} was drawn on"
        if st.session_state.get(key) != text or st.session_state.get(page) != streamlit_private.page():
            st.session_state[key] = text
        st.session_state[page] = streamlit_private.page()
        return key


def read(opening: str = "") -> Shown:
    """The scene of this run beside its pass; Streamlit is told its address if that is another.

    Streamlit forgets the address on a switch of pages, and a quick second click
    still carries the one from before the first. So within a session the kept
    scene wins; all of the address is read on arrival alone: by a link, by the
    browser's Back, or at a process that has taken over from another.

    Streamlit sends the address it was told with the runs that follow. The browser takes its address
    from what is shown (`Shown.address`): what Streamlit writes there may come
    before the page does, or when Back has led elsewhere already. What is mended
    on arrival is no step of its history, or Back would never leave.

    Parameters
    ----------
    opening : str, optional
        The model that the page opens with where somebody comes to it with another, or with no address.
    """
    arrival.by_the_router()
    others = (arrival.RECONNECTED, *LESSONS)  # those of lessons are there until the browser has written its address
    written = {name: st.query_params.get_all(name) for name in st.query_params if name not in others}
    tab, here = tabs.mine(), streamlit_private.page()
    has_arrived = tab.session is None or _PAGE not in st.session_state or arrival.is_navigation()
    if has_arrived:
        st.session_state[_BROUGHT] = streamlit_private.address()
        named = {"model": opening} if opening and _SOURCE.isdisjoint(written) else {}
        scene, notices = parse(named | written, tab.session.uploads if tab.session else {})
        resolved = PASS_CACHE.resolved(scene)
        resolved = replace(resolved, notices=(*notices, *resolved.notices))
        session = tab.session = _arrived(tab.session, resolved.scene, here)
        number = session.number()
    else:
        session = tab.session
        is_here = st.session_state[_PAGE] == here
        if is_here and session.arrivals_sent == session.arrivals:
            session.scene = with_view(session.scene, written)
        elif opening and not is_here and session.scene.source != opening:
            session.update(**parts_for_source(opening))
        # what people do in the app needs no comment on what follows from it
        number, resolved, brought = session.number(), session.resolved(), st.session_state.pop(_NOTICES, ())
        resolved = replace(resolved, notices=tuple(each for each in brought if each not in resolved.refused))
    st.session_state[_PAGE], session.arrivals_sent = here, session.arrivals
    address = query(resolved.scene)
    shown = {name: address.get(name) for name in (*PARAMETERS, *LESSONS) if name not in VIEWERS}
    if has_arrived:
        shown |= {name: address.get(name) for name in (*written, *address) if written.get(name) != [address.get(name)]}
    elif st.query_params.to_dict() != address:
        st.query_params.from_dict(address)
    read = st.session_state[_BROUGHT]
    return Shown(**vars(resolved), session=session, address=shown, brought=read, number=number)


def show_lessons() -> None:
    """Be on the page of lessons, which shows no scene: the tab keeps its own for the pages that do."""
    arrival.by_the_router()
    st.session_state[_PAGE], st.session_state[_BROUGHT] = streamlit_private.page(), streamlit_private.address()
    arrival.keep_address({name: None for name in PARAMETERS if name != "present"}, streamlit_private.address())


def open_in_walkthrough(address: str) -> NoReturn:
    """Go to the walkthrough with the scene of an address; of an empty one with that of the tab, if it has one."""
    tab = tabs.mine()
    if address or tab.session is None:
        uploads = tab.session.uploads if tab.session else {}
        tab.session = _arrived(tab.session, parse(dict(parse_qsl(address, keep_blank_values=True)), uploads).scene, "")
    st.switch_page("pages/walkthrough.py")


def _arrived(session: Session | None, scene: Scene, page: str) -> Session:
    """The session of a tab that the address has led to a scene."""
    if session is None:
        return Session(scene, arrivals=1)
    if st.session_state[_PAGE] != page or not _only_looks_elsewhere(session.scene, scene):
        session.arrivals += 1
    session.scene = scene
    return session


def _only_looks_elsewhere(before: Scene, now: Scene) -> bool:
    """Whether Back led to another place in the same pass: the viewer is there already."""
    return replace(before, **{part: getattr(now, part) for part in LOOKED_AT}) == now
