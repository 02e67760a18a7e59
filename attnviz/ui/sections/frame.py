"""The frame of a page: its controls, what was mended, what is set by hand; and help where there is no pass to show."""

from collections.abc import Sequence

import streamlit as st

from attnviz.scene.scene import OWN, SOURCES
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import banner, controls
from attnviz.ui.state import arrival
from attnviz.ui.state.store import Shown


def draw(shown: Shown) -> None:
    """Draw what every page begins with. Ends the page with a sentence of help where there is no pass."""
    with st.sidebar:
        controls.source(shown)
        arrival.keep_history_short()
    if shown.scene.source == OWN:
        mended = controls.sentence_and_settings(shown)
    else:
        mended = ()
        _example(shown)
    _say((*shown.notices, *mended, *shown.refused))
    if shown.trace is None:
        st.stop()


def draw_with_banner(shown: Shown) -> None:
    """Draw the frame, and say what is set by hand if anything is."""
    draw(shown)
    banner.draw(shown)


def draw_without_controls(shown: Shown) -> None:
    """Draw the frame of a page that shows no pass of its own."""
    with st.sidebar:
        arrival.keep_history_short()
    _say(shown.notices)


def _say(sentences: Sequence[str]) -> None:
    """What was mended, and what could not be shown."""
    for sentence in sentences:
        st.warning(markdown(sentence), icon=":material/info:")


def _example(shown: Shown) -> None:
    example, variant = SOURCES[shown.scene.source]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Worked example {example.id}, {example.title}.** {variant.title}: {variant.description}")
        leave = {"source": OWN, "changes": ()}
        key = shown.key("own_sentence")
        st.button("Your own sentence", icon=":material/close:", key=key, on_click=shown.update, kwargs=leave)
