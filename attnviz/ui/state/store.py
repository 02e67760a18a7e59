"""The store: the scenes of a session. The address is read when someone arrives, and each parameter has one writer.

Callbacks change a scene (`Writer.update`); the run that follows reads it (`read`)
and writes it into the address. Where one looks in a pass (`address.VIEWERS`) is
written by the viewer, without a run; every run reads that from the address it
comes with. So no widget has a value of its own that could contradict the scene
(`Shown.shows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

import streamlit as st

from attnviz.scene.address import LOOKED_AT, looking, parse, query
from attnviz.scene.answers import ANSWERS
from attnviz.scene.fitting import Fitted, fit
from attnviz.scene.scene import Scene
from attnviz.ui.state import arrival
from attnviz.ui.state.writer import ARRIVALS, SCENE, Writer, arrive

_PAGE = "page"
_NOTICES = "notices"


@dataclass(frozen=True)
class Shown(Writer, Fitted):
    """A scene on the page, and the way to change it: all that a section is given.

    Attributes
    ----------
    unwritten : mapping of str to str or None
        Parameters that the browser is to write into its address, or to drop from it (see `read`).
    """

    unwritten: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def writer(self) -> Writer:
        """What a callback is given in place of all this."""
        return Writer(self.name)

    def open_page(self, page: str, **parts: object) -> NoReturn:
        """Go to another page with parts of the scene changed; what was mended is said there."""
        self.update(**parts)
        st.session_state[_NOTICES] = self.notices
        st.switch_page(page)

    @property
    def arrival(self) -> int:
        """Another number whenever the viewer is to look where the scene says."""
        return st.session_state[ARRIVALS]

    def holds(self, key: str, text: str) -> str:
        """Have the text box of this key hold `text`; returns its key.

        Nothing is written where it holds that already: it would replace what
        someone is typing. Another page's box of the same key doesn't count: its
        text is still in the session, and yet this page's box would be empty.
        """
        key = self.key(key)
        page = f"{key} was drawn on"
        if st.session_state.get(key) != text or st.session_state.get(page) != arrival.page():
            st.session_state[key] = text
        st.session_state[page] = arrival.page()
        return key


def read() -> Shown:
    """The scene of this run beside its pass; its address is written if it is another.

    Streamlit forgets the address on a switch of pages, and a quick second click
    still carries the one from before the first. So within a session the kept
    scene wins; all of the address is read on arrival alone: by a link, by the
    browser's Back, or at a process that has taken over from another.

    What is mended on arrival is written by the browser: the server's writing
    would be a step of the history, and Back would never leave.
    """
    arrival.by_the_router()
    written = {name: st.query_params.get_all(name) for name in st.query_params}
    has_arrived = arrival.brings_an_address(SCENE)
    if has_arrived:
        fitted = parse(written, ANSWERS.original)
        is_elsewhere = st.session_state.get(_PAGE, ("",))[0] != arrival.page()
        if is_elsewhere or not _only_looks_elsewhere(st.session_state[SCENE], fitted.scene):
            arrive()
        kept = fitted.scene
    else:
        kept = st.session_state[SCENE]
        if st.session_state[_PAGE] == (arrival.page(), st.session_state[ARRIVALS]):
            kept = looking(kept, written)
        # what people do in the app needs no comment on what follows from it
        fitted = replace(fit(kept, ANSWERS.original), notices=st.session_state.pop(_NOTICES, ()))
    st.session_state[SCENE] = kept
    st.session_state[_PAGE] = (arrival.page(), st.session_state[ARRIVALS])
    address = query(fitted.scene)
    if has_arrived:
        # what stands there already is left alone: a quick second Back may have led elsewhere by then
        wanted = dict.fromkeys(written) | address
        mended = {name: text for name, text in wanted.items() if written.get(name) != [text]}
        return Shown(**vars(fitted), unwritten=mended)
    if st.query_params.to_dict() != address:
        st.query_params.from_dict(address)
    return Shown(**vars(fitted))


def _only_looks_elsewhere(before: Scene, now: Scene) -> bool:
    """Whether Back led to another place in the same pass: the viewer is there already."""
    return replace(before, **{part: getattr(now, part) for part in LOOKED_AT}) == now
