"""The address: the focus stands in it as `cell`, so that a link opens on the same number."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from attnviz.errors import SettingsError
from attnviz.focus import Focus, coordinates
from attnviz.pictures import Matrix, d_v
from attnviz.trace import Trace
from attnviz.ui.text import markdown


def focus(trace: Trace) -> Focus:
    """The focus of the address, inside the trace; says so where the address means nothing or lies outside."""
    text = st.query_params.get("cell")
    if text is None:
        return Focus().within(trace)
    try:
        wanted = Focus.parse(text)
    except SettingsError as error:
        st.warning(markdown(str(error)), icon=":material/info:")
        return Focus().within(trace)
    return wanted.within(trace)


def move(to: Focus) -> None:
    """Write a focus into the address."""
    st.query_params["cell"] = str(to)


def picking(trace: Trace, at: Focus) -> Callable[[Matrix, int, int], None]:
    """What to do when a cell of a picture is picked: move the focus to it."""

    def pick(matrix: Matrix, row: int, column: int) -> None:
        stage = trace[matrix.stage]
        index = matrix.index(row, column)
        if len(index) == len(stage.shape) and all(0 <= i < n for i, n in zip(index, stage.shape, strict=True)):
            move(at.moved(stage, index, d_v(trace)))

    return pick


def pickers(trace: Trace, names: Sequence[str], at: Focus) -> None:
    """Boxes that move the focus along the axes of some stages: for a phone, a keyboard, and where cells are tiny."""
    offered: dict[str, tuple[str, int]] = {}
    for stage in (trace[name] for name in names):
        for axis, length in zip(stage.axes, stage.shape, strict=True):
            for coordinate in coordinates(axis):
                n = length if axis != "heads * d_v" else trace["heads"].shape[0 if coordinate == "head" else 2]
                offered.setdefault(coordinate, (axis, n))
    with st.container(horizontal=True):
        for coordinate in sorted(offered, key=list(vars(at)).index):
            axis, length = offered[coordinate]
            key = f"pick_{coordinate}"
            st.session_state[key] = getattr(at, coordinate)  # the address has the say, the box shows it
            st.selectbox(
                coordinate.capitalize(),
                range(length),
                format_func=lambda place, axis=axis: trace.label(axis, place).removeprefix("head "),
                key=key,
                on_change=_picked,
                args=(at, coordinate),
                width=150,
            )


def _picked(at: Focus, coordinate: str) -> None:
    move(replace(at, **{coordinate: st.session_state[f"pick_{coordinate}"]}))
