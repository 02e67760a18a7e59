"""Pickers: boxes that choose a cell place by place, for phones, keyboards and cells too small to point at."""

from collections.abc import Sequence
from dataclasses import fields, replace

import streamlit as st

from attnviz.core.axes import Axis
from attnviz.core.selection import Selection
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.ui.state import store
from attnviz.ui.state.store import shown_by


def draw(trace: Trace, names: Sequence[str], selection: Selection) -> None:
    """One box for each coordinate of the selection that the axes of some stages have."""
    offered = {
        coordinate: (axis, length)
        for name in names
        for axis in trace.axes(name)
        for coordinate, length in axis.coordinates
    }
    with st.container(horizontal=True):
        for coordinate in (each.name for each in fields(selection) if each.name in offered):
            axis, length = offered[coordinate]
            st.selectbox(
                _title(axis, coordinate),
                range(length),
                format_func=lambda place, axis=axis, coordinate=coordinate: _label(axis, coordinate, place),
                key=shown_by(f"pick_{coordinate}", getattr(selection, coordinate)),
                on_change=_picked,
                args=(coordinate,),
                width=150,
            )


def pick(trace: Trace, cell: Cell) -> None:
    """Select a cell of the trace, in a callback."""
    store.update(selection=trace.selection_at(cell, store.scene().selection), picked=cell.stage)


def _picked(coordinate: str) -> None:
    place = st.session_state[f"pick_{coordinate}"]
    if isinstance(place, int):  # else it is a label of the sentence before, which a quick change has taken away
        store.update(selection=replace(store.scene().selection, **{coordinate: place}))


def _title(axis: Axis, coordinate: str) -> str:
    """What a box is called: by its axis, or by the coordinate where an axis has several."""
    if len(axis.coordinates) > 1:
        return coordinate.capitalize()
    return axis.name if axis.name.startswith("d_") else axis.name.capitalize()


def _label(axis: Axis, coordinate: str, place: int) -> str:
    """A place in its box: by its word, or its number."""
    numbered = coordinate == "head" or len(axis.coordinates) > 1
    return str(place + 1) if numbered else axis.label(place)
