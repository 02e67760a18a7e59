"""The writer: the scene that a session keeps, and the way to change it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from attnviz.scene.address import LOOKED_AT
from attnviz.scene.answers import ANSWERS
from attnviz.scene.fitting import Fitted, fit
from attnviz.scene.scene import Scene

SCENE = "scene"
ARRIVALS = "arrivals"


@dataclass(frozen=True)
class Writer:
    """What a widget's callback is given.

    Streamlit keeps callbacks, with all that they were given, until the session
    ends. So a writer holds no pass: one of 64 words and 128 heads is 27 MB.

    Attributes
    ----------
    name : str
        Stands before the keys of the scene's widgets, and of its place in the session;
        the scene that the address holds has none. Two on one page differ in it.
    """

    name: str = ""

    @property
    def kept(self) -> Scene:
        """The scene as it stands now: several callbacks may run before the page is drawn again."""
        return st.session_state[self.key(SCENE)]

    def fitted(self) -> Fitted:
        """The scene as it stands now beside its pass."""
        return fit(self.kept, ANSWERS.original)

    def update(self, **parts: object) -> None:
        """Change parts of the scene; the run that follows shows it."""
        st.session_state[self.key(SCENE)] = replace(self.kept, **parts)
        if not parts.keys().isdisjoint(LOOKED_AT):
            arrive()

    def key(self, key: str) -> str:
        """The key of a widget of this scene."""
        return self.name + key

    def value(self, key: str) -> object:
        """What the widget of this key holds."""
        return st.session_state[self.key(key)]

    def shows(self, key: str, value: object) -> str:
        """Have the widget of this key show `value`; returns its key.

        The value is written even where it is the same: a select box knows its
        value by its label, and the third key of another sentence has another.
        """
        st.session_state[self.key(key)] = value
        return self.key(key)


def arrive() -> None:
    """Have the viewer look where the scene says, not where it looked before."""
    st.session_state[ARRIVALS] = st.session_state.get(ARRIVALS, 0) + 1
