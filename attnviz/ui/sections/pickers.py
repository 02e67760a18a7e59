"""Pickers: boxes that choose a cell place by place, for phones, keyboards and cells too small to point at."""

from collections.abc import Sequence
from dataclasses import fields, replace

import streamlit as st

from attnviz.core.axes import Axis
from attnviz.core.terms import Cell
from attnviz.text.vocabulary import axis_name
from attnviz.ui.state.store import Shown


def draw(shown: Shown, names: Sequence[str]) -> None:
    """One box for each coordinate of the selection that the axes of some stages have."""
    offered = {
        coordinate: (axis, length)
        for name in names
        for axis in shown.trace.axes(name)
        for coordinate, length in axis.coordinates
    }
    with st.container(horizontal=True):
        for coordinate in (each.name for each in fields(shown.scene.selection) if each.name in offered):
            axis, length = offered[coordinate]
            st.selectbox(
                _title(axis, coordinate),
                range(length),
                format_func=lambda place, axis=axis, coordinate=coordinate: _label(axis, coordinate, place),
                key=shown.shows(f"pick_{coordinate}", getattr(shown.scene.selection, coordinate)),
                on_change=_picked,
                args=(shown, coordinate),
                width=150,
            )


def pick(shown: Shown, cell: Cell) -> None:
    """Select a cell of the pass, in a callback."""
    shown.update(selection=shown.trace.selection_at(cell, shown.kept.selection), picked=cell.stage)


def place_in(shown: Shown, key: str) -> int | None:
    """The place that a box holds; None if it is a label of the sentence before, which a quick change has replaced."""
    place = shown.value(key)
    return place if isinstance(place, int) else None


def _picked(shown: Shown, coordinate: str) -> None:
    place = place_in(shown, f"pick_{coordinate}")
    if place is not None:
        shown.update(selection=replace(shown.kept.selection, **{coordinate: place}))


def _title(axis: Axis, coordinate: str) -> str:
    """What a box is called: by its axis, or by the coordinate where an axis has several."""
    return axis_name(axis.name) if len(axis.coordinates) == 1 else coordinate.capitalize()


def _label(axis: Axis, coordinate: str, place: int) -> str:
    """A place in its box: by its word, or its number."""
    numbered = coordinate == "head" or len(axis.coordinates) > 1
    return str(place + 1) if numbered else axis.label(place)
