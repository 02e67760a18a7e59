"""The page "Built by hand": the box for a string, and the choice of what is changed in the model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.app.page_scene import PageScene, SceneSetter
from attnviz.articles.byhand import LAYER_1, MATRICES, PARTS, SOURCE, changed_parts, shared, verdict
from attnviz.articles.pieces import door_to
from attnviz.core.changes import Change
from attnviz.core.errors import SettingsError
from attnviz.core.limits import MAX_CHARACTERS
from attnviz.explain.styled_text import markdown
from attnviz.models.induction_byhand import IDEAS, MODEL, A
from attnviz.scene.actions.messages import option_in
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import of_model
from attnviz.scene.with_pass import SceneWithPass


def resolved(shown: PageScene) -> SceneWithPass:
    """The page's scene if it uses this model, else the model's first example."""
    if shown.scene.source != SOURCE:
        return PASS_CACHE.resolved(of_model(SOURCE))
    try:
        MODEL.tokens(shown.scene.sentence)
    except SettingsError as error:
        return SceneWithPass(shown.session.scene, None, None, refused=(str(error),))
    return shown


def update(setter: SceneSetter, **parts: object) -> None:
    """Change parts of the scene in a callback; it switches to this model if it uses another."""
    if setter.session.scene.source != SOURCE:
        parts = door_to(SOURCE, MODEL.task.examples[0][1]) | parts
    setter.update(**parts)


def ask(shown: PageScene, resolved: SceneWithPass) -> None:
    """Draw the box for a string, and help if it makes no pass."""
    st.markdown("## Try it")
    label, key = "A string of the letters a to d", shown.set_text_box("string", resolved.scene.sentence)
    st.text_input(label, key=key, live=True, max_chars=MAX_CHARACTERS, on_change=_typed, args=(shown.setter,))
    if resolved.refused:
        st.warning("  \n".join(map(markdown, resolved.refused)), icon="ℹ️")


def _typed(setter: SceneSetter) -> None:
    update(setter, sentence=st.session_state["string"])


NOTHING, OWN = "Nothing", "One number of your choice"
PRESET = Change("w_v_2", (0, A, A), 0.0)  # the number of your choice before you choose one
LIMITS = -10_000.0, 10_000.0
BOX_WIDTH_PX = 136  # two boxes side by side


def choose(shown: PageScene, changes: tuple[Change, ...]) -> None:
    """Draw the choice of a change, and how many strings it breaks."""
    in_all_strings = shared(changes)
    chosen = next((idea for idea in IDEAS if idea.changes == changes), None)
    title = chosen.title if chosen else OWN if changes else NOTHING
    st.markdown("## Change it")
    titles, key = [NOTHING, *(idea.title for idea in IDEAS), OWN], shown.set_widget("idea", title)
    how: dict[str, Any] = {"on_change": _chosen, "args": (shown.setter,), "label_visibility": "collapsed"}
    st.radio("What is changed", titles, key=key, **how)
    if title == OWN:
        _draw_change(shown, in_all_strings[-1] if in_all_strings else PRESET)
    for change in changes:
        if change not in in_all_strings:
            st.markdown(f"`{change}` belongs to one string alone; all strings are tried without it.")
    st.markdown(f"{verdict(in_all_strings)} {chosen.summary if chosen else ''}")


def _draw_change(shown: PageScene, change: Change) -> None:
    built = MODEL.arrays[change.stage]
    index = (*change.index, 0, 0)[: built.ndim]
    sides = (MATRICES[change.stage].rows, MATRICES[change.stage].columns)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        _offer(shown, "matrix", "Parameter", list(MATRICES), change.stage)
        for name, side, position in zip(("row", "column"), sides, index[-2:], strict=True):
            _offer(shown, name, f"{name.capitalize()}: {side.title}", range(len(side.labels)), position, side.name)
        key = shown.set_widget("number", min(max(change.value, LIMITS[0]), LIMITS[1]))
        label = f"Number (built: {built[index]:.6g})"
        st.number_input(label, *LIMITS, step=1.0, format="%g", key=key, **_on_change(shown))


def _offer(shown: PageScene, key: str, label: str, options: Sequence, value: object, name: Callable = str) -> None:
    st.selectbox(label, options, key=shown.set_widget(key, value), format_func=name, **_on_change(shown))


def _on_change(shown: PageScene) -> dict[str, Any]:
    return {"on_change": _set, "args": (shown.setter,), "width": BOX_WIDTH_PX}


def _set(setter: SceneSetter) -> None:
    """Set the number that the boxes choose; a row or column that is too large becomes the last one."""
    name, row, column = (st.session_state[key] for key in ("matrix", "row", "column"))
    if name not in MATRICES or not isinstance(row, int) or not isinstance(column, int):
        return  # a forged message may hold anything
    *heads, n_rows, n_columns = MODEL.arrays[name].shape
    index = (*(0 for _ in heads), min(row, n_rows - 1), min(column, n_columns - 1))
    _change(setter, (Change(name, index, st.session_state["number"]),))


def _chosen(setter: SceneSetter) -> None:
    changes = {idea.title: idea.changes for idea in IDEAS} | {NOTHING: (), OWN: (PRESET,)}
    idea = st.session_state["idea"]
    if idea in changes:  # a forged message may hold anything
        _change(setter, changes[idea])


def _change(setter: SceneSetter, changes: tuple[Change, ...]) -> None:
    """Change the model, and show a part of it in which something is changed."""
    update(setter, changes=changes)
    parts = changed_parts(changes)
    if parts and st.session_state["part"] not in parts:
        setter.set_widget("part", parts[0])


def shown_part(shown: PageScene, changes: tuple[Change, ...]) -> str:
    """The part of the model whose matrices are shown: at first one in which something is changed."""
    if "part" not in st.session_state:
        shown.set_widget("part", [*changed_parts(changes), LAYER_1][0])
    return st.session_state["part"]


def choose_part(setter: SceneSetter, chosen: Mapping[str, object]) -> None:
    """Show a part of the model, in a callback."""
    part = option_in(chosen.get("part"), PARTS)
    if part is not None:
        setter.set_widget("part", part)
