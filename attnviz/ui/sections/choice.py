"""Choice: a select box that is heard where it holds one of its options: a message made by hand may hold anything."""

from collections.abc import Callable, Sequence

import streamlit as st

from attnviz.ui.state.store import Shown
from attnviz.ui.state.writer import Writer


def draw(
    shown: Shown,
    key: str,
    label: str,
    options: Sequence,
    value: object,
    pick: Callable[[Writer, object], None],
    **box: object,
) -> None:
    """Draw a box that shows `value`; `pick` is called with another option as someone picks it."""
    st.selectbox(
        label,
        options,
        key=shown.shows(key, value),
        on_change=_picked,
        args=(shown.writer, key, tuple(options), pick),
        **box,
    )


def _picked(writer: Writer, key: str, options: Sequence, pick: Callable[[Writer, object], None]) -> None:
    value = writer.value(key)
    if value in options:
        pick(writer, value)
