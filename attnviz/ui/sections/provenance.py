"""Provenance: what a number was made from, one number after the other, and what would move it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.analysis.gradients import gradients
from attnviz.analysis.provenance import format_trail, parse_trail
from attnviz.core.errors import ArrayError
from attnviz.core.terms import Cell, Given, Line, Terms
from attnviz.scene.scene import ORDERS, QUESTIONS
from attnviz.text import movement
from attnviz.text.steps.mask import hides
from attnviz.text.vocabulary import axis_name
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import gallery, pickers
from attnviz.ui.state.store import Shown
from attnviz.ui.viewer import matrix
from attnviz.views import matrices

Trail = tuple[Cell, ...]


def trail(shown: Shown) -> Trail:
    """The cells that were taken apart one after the other; at first the selected cell of the output."""
    if shown.scene.trail:
        return parse_trail(shown.trace, format_trail(shown.scene.trail))[0]
    return (shown.trace.cell_at(shown.trace.output.name, shown.scene.selection),)


def start(shown: Shown, cells: Trail) -> None:
    """Boxes that start another trail: at another stage, or at another cell of this one."""
    trace, first = shown.trace, cells[0]
    with st.container(horizontal=True):
        st.selectbox(
            "Number of",
            sorted((stage.name for stage in trace.stages), key=lambda name: trace[name].is_given),
            key=shown.shows("start_stage", first.stage),
            on_change=_start_at_stage,
            args=(shown, first),
            width=180,
        )
        for place, axis in enumerate(trace.axes(first.stage)):
            st.selectbox(
                axis_name(axis.name),
                range(axis.length),
                format_func=axis.label,
                key=shown.shows(f"start_{place}", first.index[place]),
                on_change=_start_at_place,
                args=(shown, first, place),
                width=150,
            )


def question(shown: Shown) -> None:
    """The switch between what a number was made from and what would move it."""
    _switch(shown, "Ask", QUESTIONS, "question")


def terms(shown: Shown, cells: Trail) -> None:
    """The trail, and what its last number was made from."""
    trace, last = shown.trace, cells[-1]
    made_from = trace.terms(last.stage, last.index)
    _switch(shown, "Terms", ORDERS, "order")

    def ordered(of: Terms) -> Sequence[Line]:
        lines = of.lines(repr)
        return sorted(lines, key=lambda line: -abs(line.value)) if shown.scene.order == ORDERS[0] else lines

    matrix.trail(trace, cells, ordered, on_follow=partial(_follow, shown), key=shown.key("trail"))
    if isinstance(made_from, Given):
        st.markdown("This is where the trail ends: the number comes from nothing else in the pass.")
    else:
        total = made_from.total()
        st.markdown(
            f"Recomputed from its terms in plain Python it is `{total!r}`; the pass holds `{last.value!r}`. "
            f"The difference is `{0.0 if total == last.value else abs(total - last.value):.1g}`."
        )
    equation = matrices.equation(trace, last.stage, trace.selection_at(last, shown.scene.selection))
    gallery.equations(shown, [equation], partial(_extend, cells))


def slopes(shown: Shown, cell: Cell) -> None:
    """What moves a number: its gradient with respect to every earlier stage."""
    trace = shown.trace
    try:
        found = gradients(trace, cell.stage, cell.index)
    except ArrayError as error:
        st.warning(markdown(str(error)), icon=":material/info:")
        return
    st.markdown(markdown(movement.steepest(trace, cell.stage, cell.index, found)))
    drawn = [name for name in found if name != cell.stage]
    st.markdown(
        "Each number below is a **slope**: how fast the chosen number moves when that one does. Orange moves it up, "
        "blue down; where it is pale, nothing you do matters much."
        + " A hidden key's scores have a slope of exactly 0."
        * ("masked" in drawn and hides(trace))
    )
    sloped, selection = trace.with_values(found), trace.selection_at(cell, shown.scene.selection)
    pictures = [replace(matrices.matrix(sloped, name, selection), scale="signed") for name in drawn]
    gallery.draw(shown, pictures, pickers.pick, key="slopes")


def _switch(shown: Shown, label: str, options: Sequence[str], part: str) -> None:
    st.segmented_control(
        label,
        options,
        required=True,
        key=shown.shows(part, getattr(shown.scene, part)),
        on_change=_switched,
        args=(shown, part),
        label_visibility="collapsed",
    )


def _switched(shown: Shown, part: str) -> None:
    shown.update(**{part: shown.value(part)})


def _follow(shown: Shown, trail: Trail) -> None:
    shown.update(trail=tuple(map(str, trail)))


def _start_at_stage(shown: Shown, first: Cell) -> None:
    selection = shown.trace.selection_at(first, shown.kept.selection).within(shown.trace)
    _follow(shown, (shown.trace.cell_at(shown.value("start_stage"), selection),))


def _start_at_place(shown: Shown, first: Cell, place: int) -> None:
    chosen = pickers.place_in(shown, f"start_{place}")
    if chosen is not None:
        _follow(shown, (shown.trace[first.stage].cell((*first.index[:place], chosen, *first.index[place + 1 :])),))


def _extend(cells: Trail, shown: Shown, cell: Cell) -> None:
    """A picked cell goes on the trail if the last was made from it; else it starts another."""
    goes_on = cell in shown.trace.terms(cells[-1].stage, cells[-1].index).cells
    _follow(shown, (*cells, cell) if goes_on else (cell,))
