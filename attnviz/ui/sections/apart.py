"""Taking a number apart: its terms, one inside the other, and what would move it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from attnviz.analysis.gradients import gradients
from attnviz.analysis.provenance import format_trail, parse_trail
from attnviz.core import terms as kinds
from attnviz.core.operations import Source
from attnviz.core.selection import Selection, d_v
from attnviz.core.terms import Cell, Line, Terms
from attnviz.core.trace import Trace
from attnviz.text import movement
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import lesson
from attnviz.ui.state import address
from attnviz.ui.viewer import matrix
from attnviz.views import matrices

QUESTIONS = ("what made it", "what would move it")
ORDERS = ("large ones first", "in order")


def trail(trace: Trace) -> tuple[Cell, ...]:
    """The trail of the address; without one, the selected cell of the last stage."""
    text = st.query_params.get("trail")
    if text is not None:
        cells, notice = parse_trail(trace, text)
        if notice:
            st.warning(markdown(notice), icon=":material/info:")
        if cells:
            return cells
    stage = trace.stages[-1]
    return (stage.cell(address.selection(trace).index(stage, d_v(trace))),)


def follow(cells: tuple[Cell, ...]) -> None:
    """Write a trail into the address."""
    _write(format_trail(cells))


def _write(text: str) -> None:
    st.query_params["trail"] = text


def choose(trace: Trace, cells: tuple[Cell, ...]) -> None:
    """Boxes that start another trail: at another stage, or at another cell of this one."""
    start = cells[0]
    stage = trace[start.stage]
    with st.container(horizontal=True):
        made = [each.name for each in trace.stages if not isinstance(each.operation, Source)]
        names = [*made, *(each.name for each in trace.stages if each.name not in made)]
        st.session_state["start_stage"] = start.stage
        st.selectbox("Number of", names, key="start_stage", on_change=_start_at_stage, args=(trace, start), width=180)
        for place, (axis, length) in enumerate(zip(stage.axes, stage.shape, strict=True)):
            key = f"start_{place}"
            st.session_state[key] = start.index[place]
            st.selectbox(
                axis if axis.startswith(("d_", "heads *")) else axis.capitalize(),
                range(length),
                format_func=lambda i, axis=axis: trace.label(axis, i),
                key=key,
                on_change=_start_at_place,
                args=(trace, start, place),
                width=150,
            )


def asks_what_made_it() -> bool:
    """The switch between what a number was made from and what would move it."""
    asked = st.segmented_control(
        "Ask",
        QUESTIONS,
        default=QUESTIONS[0],
        required=True,
        key="ask",
        bind="query-params",
        label_visibility="collapsed",
    )
    return asked == QUESTIONS[0]


def terms(trace: Trace, cells: tuple[Cell, ...]) -> None:
    """The trail, and what its last number was made from."""
    last = cells[-1]
    made_from = trace.terms(last.stage, last.index)
    order = st.segmented_control(
        "Terms",
        ORDERS,
        default=ORDERS[0],
        required=True,
        key="order",
        bind="query-params",
        label_visibility="collapsed",
    )

    def ordered(of: Terms) -> Sequence[Line]:
        lines = of.lines(repr)
        return sorted(lines, key=lambda line: -abs(line.value)) if order == ORDERS[0] else lines

    matrix.trail(
        trace,
        cells,
        ordered,
        on_follow=_write,
        key="trail",
    )
    if isinstance(made_from, kinds.Given):
        st.markdown("This is where the trail ends: the number comes from nothing else in the pass.")
    else:
        total = made_from.total()
        st.markdown(
            f"The terms add up to `{total!r}` in plain Python; the pass holds `{last.value!r}`. "
            f"The difference is `{0.0 if total == last.value else abs(total - last.value):.1g}`."
        )
    lesson.picture(trace, [matrices.equation(trace, last.stage, _selection_on(trace, last))], _picking(trace, cells))


def slopes(trace: Trace, cell: Cell) -> None:
    """What moves a number: its gradient with respect to every earlier stage."""
    found = gradients(trace, cell.stage, cell.index)
    st.markdown(markdown(movement.steepest(trace, cell.stage, cell.index, found)))
    st.markdown(
        "Each number below is a **slope**: how fast the chosen number moves when that one does. Red moves it up, blue "
        "down; where it is pale, nothing you do matters much. Hidden keys have a slope of exactly 0."
    )
    sloped, selection = trace.with_values(found), _selection_on(trace, cell)
    drawn = [replace(matrices.matrix(sloped, name, selection), scale="signed") for name in found if name != cell.stage]
    lesson.gallery(trace, drawn, address.picking(trace, selection), key="slopes")


def _start_at_stage(trace: Trace, start: Cell) -> None:
    selection = _selection_on(trace, start)
    stage = trace[st.session_state["start_stage"]]
    follow((stage.cell(selection.within(trace).index(stage, d_v(trace))),))


def _start_at_place(trace: Trace, start: Cell, place: int) -> None:
    index = (*start.index[:place], st.session_state[f"start_{place}"], *start.index[place + 1 :])
    follow((trace[start.stage].cell(index),))


def _selection_on(trace: Trace, cell: Cell) -> Selection:
    return address.selection(trace).moved(trace[cell.stage], cell.index, d_v(trace))


def _picking(trace: Trace, cells: tuple[Cell, ...]) -> Callable[[Cell], None]:
    """A picked cell goes on the trail if the last was made from it; else it starts another."""

    def pick(cell: Cell) -> None:
        read = trace.terms(cells[-1].stage, cells[-1].index).cells
        follow((*cells, cell) if cell in read else (cell,))

    return pick
