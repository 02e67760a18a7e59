"""The address: it holds the selection as `cell` and what is set by hand as `changes`, so that a link opens on both."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from attnviz.core.axes import Axis
from attnviz.core.changes import Change, format_changes
from attnviz.core.errors import SettingsError
from attnviz.core.selection import Selection
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.ui.escaping import markdown
from attnviz.ui.state import arrival

_CELL = "last_cell"
_CHANGES = "last_changes"


def selection(trace: Trace) -> Selection:
    """The selection of the address, inside the trace; on a first visit says so where the address lies outside."""
    first = _CELL not in st.session_state
    text = st.query_params.get("cell")
    if text is None and not first:
        text = st.query_params["cell"] = st.session_state[_CELL]  # back from another page, whose address has no cell
    st.session_state[_CELL] = text or str(Selection())
    if text is None:
        return Selection().within(trace)
    try:
        wanted = Selection.parse(text)
    except SettingsError as error:
        st.warning(markdown(str(error)), icon=":material/info:")
        return Selection().within(trace)
    inside = wanted.within(trace)
    if first and inside != wanted:
        st.warning(markdown(f"cell={wanted} lies outside this pass; showing {inside}."), icon=":material/info:")
    return inside


def move(to: Selection) -> None:
    """Write a selection into the address."""
    st.query_params["cell"] = st.session_state[_CELL] = str(to)


def changes() -> str:
    """The changes of the address; on another page, come to by a link that has none, those that were made before."""
    if "changes" not in st.query_params and not arrival.came_back() and st.session_state.get(_CHANGES):
        st.query_params["changes"] = st.session_state[_CHANGES]
    st.session_state[_CHANGES] = st.query_params.get("changes", "")
    return st.session_state[_CHANGES]


def keep(made: Sequence[Change]) -> None:
    """Write changes into the address; none takes them out."""
    st.session_state[_CHANGES] = format_changes(made)
    if made:
        st.query_params["changes"] = st.session_state[_CHANGES]
    else:
        st.query_params.pop("changes", None)


def picked() -> str | None:
    """The stage whose cell was picked last, as far as the address says."""
    return st.query_params.get("picked")


def picking(trace: Trace, at: Selection) -> Callable[[Cell], None]:
    """What to do when a cell is picked: move the selection to it."""

    def pick(cell: Cell) -> None:
        move(trace.selection_at(cell, at))
        st.query_params["picked"] = cell.stage

    return pick


def pickers(trace: Trace, names: Sequence[str], at: Selection) -> None:
    """Boxes that move the selection along the axes of some stages: for phones, keyboards and tiny cells."""
    offered: dict[str, tuple[Axis, int]] = {}
    for axis in (axis for name in names for axis in trace.axes(name)):
        for coordinate, length in axis.coordinates:
            offered.setdefault(coordinate, (axis, length))
    with st.container(horizontal=True):
        for coordinate in sorted(offered, key=list(vars(at)).index):
            axis, length = offered[coordinate]
            key = f"pick_{coordinate}"
            st.session_state[key] = getattr(at, coordinate)  # the address has the say, the box shows it
            st.selectbox(
                _called(axis, coordinate),
                range(length),
                format_func=lambda place, axis=axis: axis.label(place).removeprefix("head "),
                key=key,
                on_change=_picked,
                args=(at, coordinate),
                width=150,
            )


def _picked(at: Selection, coordinate: str) -> None:
    move(replace(at, **{coordinate: st.session_state[f"pick_{coordinate}"]}))


def _called(axis: Axis, coordinate: str) -> str:
    if axis.band:
        return "Head" if coordinate == "head" else "d_v"
    return axis.name if axis.name.startswith("d_") else axis.name.capitalize()
