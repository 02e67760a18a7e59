"""Steps: the row of step names, Previous and Next, and the keys that turn to them."""

from collections.abc import Sequence

import streamlit as st

from attnviz.text.step import Step
from attnviz.ui.state.store import Shown


def row(shown: Shown, steps: Sequence[Step]) -> None:
    """The names of the steps, the present one highlighted."""
    titles = {step.id: step.title for step in steps}
    st.segmented_control(
        "Step",
        list(titles),
        format_func=titles.get,
        required=True,
        key=shown.shows("step", shown.scene.step),
        on_change=_picked,
        args=(shown,),
        label_visibility="collapsed",
    )


def turn(shown: Shown, steps: Sequence[Step], key: str, shortcuts: tuple[str, str]) -> None:
    """A line with the heading of the step, Previous and Next, and the keys that press them."""
    place = [step.id for step in steps].index(shown.scene.step)
    with st.container(horizontal=True, vertical_alignment="center", key=shown.key(f"turn_{key}")):
        st.subheader(f"{place + 1}. {steps[place].heading}" if key == "top" else "", anchor=False)
        for name, by, shortcut, icon in (
            ("Previous", -1, shortcuts[0], ":material/arrow_back:"),
            ("Next", 1, shortcuts[1], ":material/arrow_forward:"),
        ):
            exists = 0 <= place + by < len(steps)
            st.button(
                f"{name}: {steps[place + by].title}" if exists else name,
                key=shown.key(f"{name}_{key}"),
                icon=icon,
                icon_position="left" if name == "Previous" else "right",
                type="primary" if name == "Next" and exists else "secondary",
                shortcut=shortcut,
                disabled=not exists,
                on_click=_go,
                args=(shown, [step.id for step in steps], by),
            )


def _picked(shown: Shown) -> None:
    shown.update(step=shown.value("step"))


def _go(shown: Shown, ids: Sequence[str], by: int) -> None:
    """Turn from where the steps are by now: quick presses come before the page has answered the first."""
    present = shown.kept.step
    place = ids.index(present if present in ids else shown.scene.step)
    shown.update(step=ids[min(max(place + by, 0), len(ids) - 1)])
