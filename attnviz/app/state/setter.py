"""The scene setter: what a widget's callback is given to change a scene."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attnviz.scene.actions.session import Session
from attnviz.scene.scene import Scene


@dataclass(frozen=True)
class SceneSetter:
    """The session of a tab, and the widgets on its page.

    Streamlit keeps callbacks, with all that they were given, until the session
    ends. So a setter holds no pass.
    """

    session: Session

    @property
    def kept(self) -> Scene:
        """The scene as it stands now: several callbacks may run before the page is drawn again."""
        return self.session.scene

    def update(self, **parts: object) -> None:
        """Change parts of the scene; the run that follows shows it."""
        self.session.update(**parts)

    def value(self, key: str) -> object:
        """The value of the widget of this key."""
        return st.session_state[key]

    def shows(self, key: str, value: object) -> str:
        """Have the widget of this key show `value`; returns its key.

        The value is written even where it is the same: a select box knows its
        value by its label, and the third key of another sentence has another.
        """
        st.session_state[key] = value
        return key
