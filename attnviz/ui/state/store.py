"""The store: the scene of a session. The address is read when someone arrives, and written here alone.

Callbacks change the scene (`update`); the run that follows reads it (`read`) and
writes it into the address. So there is one scene and one writer, and no widget
has a value of its own that could contradict them (`shown_by`).
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.scene.address import parse, query
from attnviz.scene.fitting import Fitted, fit
from attnviz.scene.scene import Scene
from attnviz.ui.state import arrival

_SCENE = "scene"


def read() -> Fitted:
    """The scene of this run beside its pass; its address is written if it is another.

    Streamlit forgets the address on a switch of pages, and a quick second click
    still carries the one from before the first. So within a session the scene
    that is kept has the say; the address has it for whoever arrives: by a link,
    by the browser's Back, or at a process that has taken over from another.
    """
    arrival.by_the_router()
    if arrival.brings_an_address(_SCENE):
        written = {name: st.query_params.get_all(name) for name in st.query_params}
        present, notices = parse(written)
        fitted = replace(fit(present), notices=notices, refused=())
    else:
        present = scene()
        fitted = replace(fit(present), notices=())  # what people do in the app needs no comment on what follows from it
    st.session_state[_SCENE] = present
    address = query(fitted.scene)
    if st.query_params.to_dict() != address:
        st.query_params.from_dict(address)
    return fitted


def scene() -> Scene:
    """The scene as it stands now, for a callback: several may run before the page is drawn again."""
    return st.session_state[_SCENE]


def update(**parts: object) -> None:
    """Change parts of the scene, in a callback; the run that follows shows it."""
    st.session_state[_SCENE] = replace(scene(), **parts)


def shown_by(key: str, value: object) -> str:
    """Have the widget of this key show `value`, and return the key.

    Also where it shows that already: a select box knows its value by its label,
    and the third key of another sentence has another.
    """
    st.session_state[key] = value
    return key


def typed_in(key: str, text: str) -> str:
    """Have the text box of this key hold `text`, and return the key.

    Nothing is written where it holds that already: it would replace what someone is typing. Another page's box of
    the same key doesn't count; its text is still there, and yet this page's box would be empty.
    """
    page = f"{key} was drawn on"
    if st.session_state.get(key) != text or st.session_state.get(page) != arrival.page():
        st.session_state[key] = text
    st.session_state[page] = arrival.page()
    return key
