"""Steps: the row of step names, Previous and Next, and the keys that turn the page."""

from collections.abc import Sequence

import streamlit as st

from attnviz.text.step import Step
from attnviz.text.steps import STEPS
from attnviz.ui.escaping import markdown


def chosen(steps: Sequence[Step]) -> Step:
    """Draw the row of steps and return the one that the address names."""
    titles = [step.title for step in steps]
    _mend(titles)
    title = st.segmented_control(
        "Step", titles, default=titles[0], required=True, key="step", bind="query-params", label_visibility="collapsed"
    )
    return steps[titles.index(title)]


def turn(steps: Sequence[Step], at: Step, key: str, shortcuts: tuple[str, str]) -> None:
    """Draw a line with the heading of the step, Previous and Next, and the keys that press them."""
    titles = [step.title for step in steps]
    place = titles.index(at.title)
    with st.container(horizontal=True, vertical_alignment="center", key=f"turn_{key}"):
        st.subheader(f"{place + 1}. {at.heading}" if key == "top" else "", anchor=False)
        for name, by, shortcut, icon in (
            ("Previous", -1, shortcuts[0], ":material/arrow_back:"),
            ("Next", 1, shortcuts[1], ":material/arrow_forward:"),
        ):
            to = place + by
            exists = 0 <= to < len(titles)
            st.button(
                f"{name}: {titles[to]}" if exists else name,
                key=f"{name}_{key}",
                icon=icon,
                icon_position="left" if name == "Previous" else "right",
                type="primary" if name == "Next" and exists else "secondary",
                shortcut=shortcut,
                disabled=not exists,
                on_click=_go,
                args=(titles, by),
            )


def _go(titles: Sequence[str], by: int) -> None:
    """Turn from where the steps are by now: quick presses come before the page has answered the first."""
    to = titles.index(st.session_state["step"]) + by
    st.session_state["step"] = titles[min(max(to, 0), len(titles) - 1)]


def _mend(titles: Sequence[str]) -> None:
    """Bring a step that the address or the settings no longer allow to the nearest one that there is."""
    if "step" in st.session_state:
        if st.session_state["step"] not in titles:
            st.session_state["step"] = _nearest(st.session_state["step"], titles)
        return
    written = st.query_params.get("step")
    if written is None or written in titles:
        return
    st.session_state["step"] = _nearest(written, titles)
    if st.session_state["step"].casefold() != written.casefold():
        st.warning(
            markdown(
                f"step is one of {', '.join(map(repr, titles))}; "
                f"got {written[:40]!r}, using {st.session_state['step']}."
            ),
            icon=":material/info:",
        )


def _nearest(title: str, titles: Sequence[str]) -> str:
    """The step of that name in any case; else the next one of all steps that is there; else the first."""
    names = [step.title for step in STEPS]
    place = next((i for i, name in enumerate(names) if name.casefold() == title.casefold()), 0)
    return next((name for name in names[place:] if name in titles), titles[0])
