"""The viewer as a Streamlit component: what it is given, and what it asks for."""

from collections.abc import Callable

import streamlit as st

from attnviz.core.changes import Change, muted, replaced
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.settings import MAX_CHANGES
from attnviz.models import MODELS
from attnviz.scene.answers import ANSWERS
from attnviz.scene.fitting import Fitted
from attnviz.scene.words import swapped
from attnviz.ui.escaping import markdown
from attnviz.ui.state import arrival
from attnviz.ui.state.store import Shown
from attnviz.ui.state.writer import Writer
from attnviz.ui.viewer import script
from attnviz.ui.viewer.messages import cell_in, change_in, head_in, place_in, places_in

_viewer = st.components.v2.component("attnviz.viewer", html='<div class="viewer"></div>', js=script.LOADER)


def draw(shown: Shown) -> None:
    """Draw the pass of a scene. What is set by hand changes the scene; where one looks is the viewer's own."""
    key, writer = shown.key("pass"), shown.writer

    def hears(act: Callable[[Writer, str, object], None], event: str) -> Callable[[], None]:
        return lambda: act(writer, key, getattr(st.session_state[key], event))

    with st.container(key=shown.key("viewer"), height="stretch"):
        _viewer(
            key=key,
            height="stretch",
            data=ANSWERS.written(
                shown,
                arrival.session(),
                asked=st.session_state.get(_heads(key), ()),
                slopes_of=st.session_state.pop(_slopes(key), ""),  # for this run alone
                arrival=shown.arrival,
            ),
            on_change_change=hears(_change, "change"),
            on_drop_change=hears(_drop, "drop"),
            on_reset_change=hears(_reset, "reset"),
            on_mute_change=hears(_mute, "mute"),
            on_swap_change=hears(_swap, "swap"),
            on_checkpoint_change=hears(_checkpoint, "checkpoint"),
            on_slopes_change=hears(_ask_slopes, "slopes"),
            on_need_change=hears(_ask_head, "need"),
        )


def _change(writer: Writer, _: str, message: object) -> None:
    fitted = writer.fitted()
    try:
        change = change_in(fitted.trace, message)
    except ChangeError as error:
        st.toast(markdown(str(error)))
        return
    if change:
        _set(writer, fitted, change)


def _drop(writer: Writer, _: str, message: object) -> None:
    changes = writer.fitted().scene.changes
    place = place_in(message, len(changes))
    if place is not None:
        writer.update(changes=changes[:place] + changes[place + 1 :])


def _reset(writer: Writer, _: str, message: object) -> None:
    if message:
        writer.update(changes=())


def _mute(writer: Writer, _: str, message: object) -> None:
    fitted = writer.fitted()
    found = head_in(fitted.trace, message)
    if found:
        _set(writer, fitted, muted(*found))


def _swap(writer: Writer, _: str, message: object) -> None:
    fitted = writer.fitted()
    places = places_in(message, fitted.trace.lengths["query"])
    sentence = swapped(fitted, *places) if places else None
    if sentence is not None:
        writer.update(sentence=sentence)


def _checkpoint(writer: Writer, _: str, message: object) -> None:
    scene = writer.kept
    if scene.source not in MODELS:
        return
    checkpoint = place_in(message, len(MODELS[scene.source].checkpoints(scene.model_seed)))
    if checkpoint is not None:
        writer.update(checkpoint=checkpoint)


def _ask_slopes(writer: Writer, key: str, message: object) -> None:
    if cell_in(writer.fitted().trace, message):
        st.session_state[_slopes(key)] = message


def _ask_head(writer: Writer, key: str, message: object) -> None:
    head = place_in(message, writer.fitted().trace.lengths["head"])
    if head is not None:
        others = [each for each in st.session_state.get(_heads(key), ()) if each != head]
        st.session_state[_heads(key)] = (*others, head)


def _set(writer: Writer, fitted: Fitted, change: Change) -> None:
    """Set a number, if it does not push another beyond float64."""
    changes = replaced(writer.kept.changes, change)
    stage = fitted.original[change.stage]
    if stage.is_given and (stage.value[change.index] == change.value).all():  # as it was: nothing is set by hand
        changes = changes[:-1]
    try:
        if len(changes) > MAX_CHANGES:
            raise ChangeError(f"There may be at most {MAX_CHANGES} changes at once: undo one to make another.")
        fitted.original.with_changes(*changes)
    except (ArrayError, ChangeError) as error:
        st.toast(markdown(str(error)))
        return
    writer.update(changes=changes)


def _heads(key: str) -> str:
    return f"{key} heads"


def _slopes(key: str) -> str:
    return f"{key} slopes"
