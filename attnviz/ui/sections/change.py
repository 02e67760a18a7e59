"""Changing numbers: what is set by hand, what follows from it, and what moved."""

from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.analysis import differences
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.selection import Selection, d_v
from attnviz.core.settings import MAX_CHANGES
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.text import movement
from attnviz.text.vocabulary import VOCABULARY
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import lesson
from attnviz.ui.state import address
from attnviz.views import matrices

Changes = tuple[Change, ...]
DEFAULT_STAGE = "attention"


def changes(trace: Trace) -> tuple[Changes, Trace]:
    """The changes of the address that fit the trace, and the trace with them; says what did not fit."""
    fitting, notices = differences.fitting(trace, address.changes())
    try:
        changed = trace.with_changes(*fitting)
    except ArrayError as error:
        notices.append(f"{error} No change was made.")
        fitting, changed = (), trace
    for notice in notices:
        st.warning(markdown(notice), icon=":material/info:")
    return fitting, changed


def applied(trace: Trace) -> Trace:
    """The pass with the changes of the address, if there are any; then the page says so, and leads back."""
    made, changed = changes(trace)
    if address.changes():
        told = "; ".join(_told(trace, change) for change in made) or "nothing that fits this pass"
        with st.container(horizontal=True, vertical_alignment="center", key="changed"):
            st.markdown(f"**Set by hand:** {markdown(told)}")
            if st.button("Change it", icon=":material/tune:", key="to_what_if"):
                st.switch_page("pages/what_if.py")
            _reset()
    return changed


def _reset() -> None:
    st.button("Reset", icon=":material/restart_alt:", key="reset", on_click=address.keep, args=((),))


def target(trace: Trace) -> str:
    """The box that says which stage a number is set in."""
    names = [stage.name for stage in trace.stages]
    if st.session_state.get("stage", DEFAULT_STAGE) not in names:
        st.session_state["stage"] = DEFAULT_STAGE
    return st.selectbox(
        "Change a number of", names, names.index(DEFAULT_STAGE), key="stage", bind="query-params", width=220
    )


def setter(trace: Trace, changed: Trace, made: Changes, name: str, selection: Selection) -> None:
    """The number in selection, and a box to put another in its place."""
    cell = changed[name].cell(selection.index(changed[name], d_v(changed)))
    full = len(made) >= MAX_CHANGES
    with st.container(horizontal=True, vertical_alignment="center"):
        if changed[name].value.dtype == bool:
            st.button(
                markdown(f"{'Hide' if cell.value else 'Show'} {trace.label('key', cell.index[-1])}"),
                key="toggle",
                type="primary",
                disabled=full,
                on_click=_add,
                args=(made, differences.toggled(changed, cell.index)),
            )
        else:
            finite = cell.value if np.isfinite(cell.value) else 0.0
            label = f"{changed.name_of(cell)} becomes"
            st.markdown(markdown(label))
            value = st.number_input(
                label,  # read to people as it stands, with whatever escapes it; so it is shown by the text before it
                label_visibility="collapsed",
                value=finite,
                step=0.1,
                format="%.6g",
                key=f"value {cell.stage} {cell.index} {finite!r}",
                width=320,
            )
            st.button("Set it", key="set", type="primary", disabled=full, on_click=_set, args=(made, cell, value))
        for head in range(changed["heads"].shape[0]) if changed["heads"].shape[0] <= matrices.MANY_HEADS else ():
            mute = differences.muted(head)
            st.button(
                f"Head {head + 1} is muted" if mute in made else f"Mute head {head + 1}",
                key=f"mute_{head}",
                disabled=full or mute in made,
                on_click=_add,
                args=(made, mute),
            )
    if full:
        st.markdown(f"There may be at most {MAX_CHANGES} changes at once: take one back to make another.")


def made_so_far(trace: Trace, made: Changes) -> None:
    """The changes, one under the other, each to be taken back; undo and reset."""
    if not made:
        st.markdown("Nothing is changed yet: pick a cell below, or with the boxes, and give it another number.")
        if address.changes():
            _reset()
        return
    for place, change in enumerate(made):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(markdown(_told(trace, change)))
            rest = made[:place] + made[place + 1 :]
            st.button(
                "",
                icon=":material/close:",
                key=f"drop_{place}",
                help="Take it back",
                on_click=address.keep,
                args=(rest,),
            )
    with st.container(horizontal=True):
        st.button("Undo the last", icon=":material/undo:", key="undo", on_click=address.keep, args=(made[:-1],))
        _reset()


def pictures_of(trace: Trace, changed: Trace, name: str, selection: Selection) -> None:
    """The stage that numbers are set in, with what it is made from; cells that are not what they were have a corner."""
    before, after = (matrices.equation(each, name, selection) for each in (trace, changed))
    marked = [replace(new, marked=new.values != old.values) for old, new in zip(before, after, strict=True)]

    def pick(cell: Cell) -> None:
        st.session_state["stage"] = cell.stage
        address.picking(changed, selection)(cell)

    lesson.picture(changed, [marked], pick)


def moved(trace: Trace, changed: Trace, selection: Selection) -> None:
    """What moved: a line for each later stage, and their differences as pictures."""
    stages = [stage.name for stage in trace.stages if changed[stage.name] is not stage]
    for name in stages:
        st.markdown("- " + markdown(movement.caption(trace, changed, name)))
    apart = changed.with_values({name: differences.difference(trace, changed, name) for name in stages})
    drawn = [replace(matrices.matrix(apart, name, selection), scale="signed", gap="±∞", marked=None) for name in stages]
    st.markdown(
        "##### By how much\n\nAfter less before: red went up, blue went down, pale did not move; "
        "±∞ where a key came into sight or went out of it."
    )
    lesson.gallery(changed, drawn, address.picking(changed, selection), key="differences")


def _told(trace: Trace, change: Change) -> str:
    stage = trace[change.stage]
    if len(change.index) < len(stage.shape):
        words = ", ".join(trace.label(*at) for at in zip(stage.axes, change.index, strict=False))
        return f"{VOCABULARY[change.stage].title} of {words}, all of them = {change.value:.6g}"
    return f"{trace.name_of(stage.cell(change.index))} = {change.value:.6g}"


def _set(made: Changes, cell: Cell, value: float) -> None:
    try:
        _add(made, Change(cell.stage, cell.index, value))
    except ChangeError as error:
        st.toast(markdown(str(error)))


def _add(made: Changes, change: Change) -> None:
    address.keep(differences.replaced(made, change))
