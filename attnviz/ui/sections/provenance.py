"""Provenance: what a number was made from, one number after the other, and what would move it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.analysis.gradients import gradients
from attnviz.analysis.provenance import parse_trail
from attnviz.core.errors import ArrayError
from attnviz.core.terms import Cell, Given, Line, Terms
from attnviz.core.trace import Trace
from attnviz.scene.fitting import Fitted
from attnviz.scene.scene import ORDERS, QUESTIONS
from attnviz.text import movement
from attnviz.text.steps.mask import hides
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import gallery, pickers
from attnviz.ui.state import store
from attnviz.ui.state.store import shown_by
from attnviz.ui.viewer import matrix
from attnviz.views import matrices

Trail = tuple[Cell, ...]


def trail(fitted: Fitted) -> Trail:
    """The cells that were taken apart one after the other; at first the selected cell of the output."""
    if fitted.scene.trail:
        return parse_trail(fitted.trace, "<".join(fitted.scene.trail))[0]
    return (fitted.trace.cell_at(fitted.trace.output.name, fitted.scene.selection),)


def start(trace: Trace, cells: Trail) -> None:
    """Boxes that start another trail: at another stage, or at another cell of this one."""
    first = cells[0]
    with st.container(horizontal=True):
        st.selectbox(
            "Number of",
            sorted((stage.name for stage in trace.stages), key=lambda name: trace[name].is_given),
            key=shown_by("start_stage", first.stage),
            on_change=_start_at_stage,
            args=(trace, first),
            width=180,
        )
        for place, axis in enumerate(trace.axes(first.stage)):
            st.selectbox(
                axis.name if axis.name.startswith(("d_", "heads *")) else axis.name.capitalize(),
                range(axis.length),
                format_func=axis.label,
                key=shown_by(f"start_{place}", first.index[place]),
                on_change=_start_at_place,
                args=(trace, first, place),
                width=150,
            )


def question(fitted: Fitted) -> None:
    """The switch between what a number was made from and what would move it."""
    _switch("Ask", QUESTIONS, "question", fitted.scene.question)


def terms(fitted: Fitted, cells: Trail) -> None:
    """The trail, and what its last number was made from."""
    trace, last = fitted.trace, cells[-1]
    made_from = trace.terms(last.stage, last.index)
    _switch("Terms", ORDERS, "order", fitted.scene.order)

    def ordered(of: Terms) -> Sequence[Line]:
        lines = of.lines(repr)
        return sorted(lines, key=lambda line: -abs(line.value)) if fitted.scene.order == ORDERS[0] else lines

    matrix.trail(trace, cells, ordered, on_follow=_follow, key="trail")
    if isinstance(made_from, Given):
        st.markdown("This is where the trail ends: the number comes from nothing else in the pass.")
    else:
        total = made_from.total()
        st.markdown(
            f"Recomputed from its terms in plain Python it is `{total!r}`; the pass holds `{last.value!r}`. "
            f"The difference is `{0.0 if total == last.value else abs(total - last.value):.1g}`."
        )
    equation = matrices.equation(trace, last.stage, trace.selection_at(last, fitted.scene.selection))
    gallery.equations(trace, [equation], partial(_extend, cells))


def slopes(fitted: Fitted, cell: Cell) -> None:
    """What moves a number: its gradient with respect to every earlier stage."""
    trace = fitted.trace
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
    sloped, selection = trace.with_values(found), trace.selection_at(cell, fitted.scene.selection)
    pictures = [replace(matrices.matrix(sloped, name, selection), scale="signed") for name in drawn]
    gallery.draw(trace, pictures, pickers.pick, key="slopes")


def _switch(label: str, options: Sequence[str], part: str, value: str) -> None:
    st.segmented_control(
        label,
        options,
        required=True,
        key=shown_by(part, value),
        on_change=_switched,
        args=(part,),
        label_visibility="collapsed",
    )


def _switched(part: str) -> None:
    store.update(**{part: st.session_state[part]})


def _follow(text: str) -> None:
    store.update(trail=tuple(text.split("<")))


def _start_at(cell: Cell) -> None:
    store.update(trail=(str(cell),))


def _start_at_stage(trace: Trace, first: Cell) -> None:
    selection = trace.selection_at(first, store.scene().selection).within(trace)
    _start_at(trace.cell_at(st.session_state["start_stage"], selection))


def _start_at_place(trace: Trace, first: Cell, place: int) -> None:
    chosen = st.session_state[f"start_{place}"]
    if isinstance(chosen, int):  # else it is a label of the sentence before, which a quick change has taken away
        _start_at(trace[first.stage].cell((*first.index[:place], chosen, *first.index[place + 1 :])))


def _extend(cells: Trail, trace: Trace, cell: Cell) -> None:
    """A picked cell goes on the trail if the last was made from it; else it starts another."""
    if cell in trace.terms(cells[-1].stage, cells[-1].index).cells:
        store.update(trail=tuple(map(str, (*cells, cell))))
    else:
        _start_at(cell)
