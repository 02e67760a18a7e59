"""Setting numbers by hand: a number and the box that changes it, the changes so far, and what moved."""

from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.analysis.differences import difference
from attnviz.core.changes import Change, muted, replaced, toggled
from attnviz.core.errors import ChangeError
from attnviz.core.settings import MAX_CHANGES
from attnviz.core.terms import Cell
from attnviz.text import movement
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import banner, gallery, pickers
from attnviz.ui.state.store import Shown
from attnviz.views import matrices


def target(shown: Shown) -> None:
    """The boxes that choose the number: of which stage, and at which place."""
    st.selectbox(
        "Change a number of",
        [stage.name for stage in shown.trace.stages],
        key=shown.shows("stage", shown.scene.stage),
        on_change=_stage_picked,
        args=(shown,),
        width=220,
    )
    pickers.draw(shown, [shown.scene.stage])


def setter(shown: Shown) -> None:
    """The selected number, and a box to put another in its place; buttons that mute a head."""
    scene, trace = shown.scene, shown.trace
    cell = trace.cell_at(scene.stage, scene.selection)
    full = len(scene.changes) >= MAX_CHANGES
    with st.container(horizontal=True, vertical_alignment="center"):
        if trace[cell.stage].value.dtype == bool:
            st.button(
                f"{'Hide' if cell.value else 'Show'} {markdown(trace.axes(cell.stage)[-1].label(cell.index[-1]))}",
                key=shown.key("toggle"),
                type="primary",
                disabled=full,
                on_click=_add,
                args=(shown, toggled(trace["mask"].value, cell.index)),
            )
        else:
            finite = cell.value if np.isfinite(cell.value) else 0.0
            label = f"{trace.name_of(cell)} becomes"
            st.markdown(markdown(label))
            key = shown.key(f"value {cell.stage} {cell.index} {finite!r}")
            st.number_input(
                label,  # a screen reader would read Markdown's escapes: so it is plain, and the text before it is seen
                label_visibility="collapsed",
                value=finite,
                step=0.1,
                format="%.6g",
                key=key,
                width=320,
            )
            st.button(
                "Set it", key=shown.key("set"), type="primary", disabled=full, on_click=_set, args=(shown, cell, key)
            )
        n_heads = trace["heads"].shape[0]
        for head in range(n_heads) if n_heads <= matrices.MANY_HEADS else ():
            mute = muted(head)
            st.button(
                f"Head {head + 1} is muted" if mute in scene.changes else f"Mute head {head + 1}",
                key=shown.key(f"mute_{head}"),
                disabled=full or mute in scene.changes,
                on_click=_add,
                args=(shown, mute),
            )
    if full:
        st.markdown(f"There may be at most {MAX_CHANGES} changes at once: undo one to make another.")


def made_so_far(shown: Shown) -> None:
    """The changes, one under the other, each with a button that undoes it; undo and reset."""
    changes = shown.scene.changes
    if not changes:
        st.markdown("Nothing is changed yet: pick a cell below, or with the boxes, and give it another number.")
        if shown.kept.changes:
            banner.reset(shown)
        return
    for place, change in enumerate(changes):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(markdown(banner.described(shown.original, change)))
            st.button(
                "",
                icon=":material/close:",
                key=shown.key(f"drop_{place}"),
                help="Undo this change",
                on_click=shown.update,
                kwargs={"changes": changes[:place] + changes[place + 1 :]},
            )
    with st.container(horizontal=True):
        undo = {"changes": changes[:-1]}
        st.button("Undo the last", icon=":material/undo:", key=shown.key("undo"), on_click=shown.update, kwargs=undo)
        banner.reset(shown)


def picture(shown: Shown) -> None:
    """The stage that numbers are set in, with what it is made from; cells that differ from the original are marked."""
    scene = shown.scene
    before, after = (matrices.equation(trace, scene.stage, scene.selection) for trace in (shown.original, shown.trace))
    marked = [replace(new, marked=new.values != old.values) for old, new in zip(before, after, strict=True)]
    gallery.equations(shown, [marked], _pick_to_change)


def moved(shown: Shown) -> None:
    """What moved: a line for each later stage, and their differences as pictures."""
    trace, original, selection = shown.trace, shown.original, shown.scene.selection
    names = [stage.name for stage in original.stages if trace[stage.name] is not stage]
    for name in names:
        st.markdown("- " + markdown(movement.caption(original, trace, name)))
    differences = trace.with_values({name: difference(original, trace, name) for name in names})
    drawn = [
        replace(matrices.matrix(differences, name, selection), scale="signed", gap="±∞", marked=None) for name in names
    ]
    st.markdown(
        "##### By how much\n\nAfter less before: orange went up, blue went down, pale did not move; "
        "±∞ where a key became visible or hidden."
    )
    gallery.draw(shown, drawn, pickers.pick, key="differences")


def _stage_picked(shown: Shown) -> None:
    shown.update(stage=shown.value("stage"))


def _pick_to_change(shown: Shown, cell: Cell) -> None:
    pickers.pick(shown, cell)
    shown.update(stage=cell.stage)


def _set(shown: Shown, cell: Cell, key: str) -> None:
    """Set what the box holds by now: a quick click comes before the page has answered what was typed."""
    try:
        _add(shown, Change(cell.stage, cell.index, st.session_state[key]))
    except ChangeError as error:
        st.toast(markdown(str(error)))


def _add(shown: Shown, change: Change) -> None:
    shown.update(changes=replaced(shown.scene.changes, change))
