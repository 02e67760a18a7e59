"""The frame of a page: its controls, what was mended, what is set by hand; and help where there is no pass to show."""

from collections.abc import Sequence

import streamlit as st

from attnviz.scene.fitting import Fitted
from attnviz.scene.scene import OWN, SOURCES
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import banner, controls
from attnviz.ui.state import arrival, store


def draw(fitted: Fitted) -> None:
    """Draw what every page begins with. Ends the page with a sentence of help where there is no pass."""
    with st.sidebar:
        controls.source(fitted.scene)
        arrival.keep_history_short()
    if fitted.scene.source == OWN:
        mended = controls.sentence_and_settings(fitted.scene)
    else:
        mended = ()
        _example(fitted.scene.source)
    _say((*fitted.notices, *mended, *fitted.refused))
    if fitted.trace is None:
        st.stop()


def draw_with_banner(fitted: Fitted) -> None:
    """Draw the frame, and say what is set by hand if anything is."""
    draw(fitted)
    banner.draw(fitted)


def draw_without_controls(fitted: Fitted) -> None:
    """Draw the frame of a page that shows no pass of its own."""
    with st.sidebar:
        arrival.keep_history_short()
    _say(fitted.notices)


def _say(sentences: Sequence[str]) -> None:
    """What was mended, and what could not be shown."""
    for sentence in sentences:
        st.warning(markdown(sentence), icon=":material/info:")


def _example(source: str) -> None:
    example, variant = SOURCES[source]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Worked example {example.id}, {example.title}.** {variant.title}: {variant.description}")
        st.button("Your own sentence", icon=":material/close:", key="own_sentence", on_click=_leave_example)


def _leave_example() -> None:
    store.update(source=OWN, changes=())
