"""Steps: the row of step names, Previous and Next, and the keys that turn to them."""

from collections.abc import Sequence

import streamlit as st

from attnviz.scene.scene import Scene
from attnviz.text.step import Step
from attnviz.ui.state import store
from attnviz.ui.state.store import shown_by


def row(scene: Scene, steps: Sequence[Step]) -> None:
    """The names of the steps, the present one lit."""
    titles = {step.id: step.title for step in steps}
    st.segmented_control(
        "Step",
        list(titles),
        format_func=titles.get,
        required=True,
        key=shown_by("step", scene.step),
        on_change=_picked,
        label_visibility="collapsed",
    )


def turn(scene: Scene, steps: Sequence[Step], key: str, shortcuts: tuple[str, str]) -> None:
    """A line with the heading of the step, Previous and Next, and the keys that press them."""
    place = [step.id for step in steps].index(scene.step)
    with st.container(horizontal=True, vertical_alignment="center", key=f"turn_{key}"):
        st.subheader(f"{place + 1}. {steps[place].heading}" if key == "top" else "", anchor=False)
        for name, by, shortcut, icon in (
            ("Previous", -1, shortcuts[0], ":material/arrow_back:"),
            ("Next", 1, shortcuts[1], ":material/arrow_forward:"),
        ):
            exists = 0 <= place + by < len(steps)
            st.button(
                f"{name}: {steps[place + by].title}" if exists else name,
                key=f"{name}_{key}",
                icon=icon,
                icon_position="left" if name == "Previous" else "right",
                type="primary" if name == "Next" and exists else "secondary",
                shortcut=shortcut,
                disabled=not exists,
                on_click=_go,
                args=([step.id for step in steps], scene.step, by),
            )


def _picked() -> None:
    store.update(step=st.session_state["step"])


def _go(ids: Sequence[str], shown: str, by: int) -> None:
    """Turn from where the steps are by now: quick presses come before the page has answered the first."""
    present = store.scene().step
    place = ids.index(present if present in ids else shown)
    store.update(step=ids[min(max(place + by, 0), len(ids) - 1)])
