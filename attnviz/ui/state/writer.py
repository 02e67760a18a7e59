"""The writer: what a widget's callback is given to change a scene."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attnviz.scene.scene import Scene
from attnviz.scene.tabscene import TabScene


@dataclass(frozen=True)
class Writer:
    """The place of a scene, and the widgets on the page that are about it.

    Streamlit keeps callbacks, with all that they were given, until the session
    ends. So a writer holds no pass.
    """

    place: TabScene

    @property
    def kept(self) -> Scene:
        """The scene as it stands now: several callbacks may run before the page is drawn again."""
        return self.place.scene

    def update(self, **parts: object) -> None:
        """Change parts of the scene; the run that follows shows it."""
        self.place.update(**parts)

    def key(self, key: str) -> str:
        """The key of a widget of this scene."""
        return self.place.name + key

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
