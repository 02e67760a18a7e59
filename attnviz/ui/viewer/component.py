"""The viewer as a Streamlit component: what it is given, and what it asks for."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from attnviz.core.changes import Change, muted, replaced
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.settings import MAX_CHANGES
from attnviz.models import MODELS
from attnviz.scene.document import document
from attnviz.scene.words import swapped
from attnviz.ui.escaping import markdown
from attnviz.ui.state.store import Shown
from attnviz.ui.viewer.bundle import bundle
from attnviz.ui.viewer.messages import cell_in, change_in, head_in, place_in, places_in

_BROWSER = Path(__file__).parent / "browser"
_viewer = st.components.v2.component(
    "attnviz.viewer",
    html='<div class="viewer"></div>',
    css="\n".join(path.read_text("utf-8") for path in sorted(_BROWSER.glob("*.css"))),
    js=bundle(_BROWSER / "component.js"),
)


def draw(shown: Shown) -> None:
    """Draw the pass of a scene. What is set by hand changes the scene; where one looks is the viewer's own."""
    key = shown.key("pass")

    def hears(act: Callable[[Shown, str, object], None], event: str) -> Callable[[], None]:
        return lambda: act(shown, key, getattr(st.session_state[key], event))

    with st.container(key=shown.key("viewer"), height="stretch"):
        _viewer(
            key=key,
            height="stretch",
            data=document(
                shown,
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


def _change(shown: Shown, _: str, message: object) -> None:
    try:
        change = change_in(shown.trace, message)
    except ChangeError as error:
        st.toast(markdown(str(error)))
        return
    if change:
        _set(shown, change)


def _drop(shown: Shown, _: str, message: object) -> None:
    place = place_in(message, len(shown.scene.changes))
    if place is not None:
        shown.update(changes=shown.scene.changes[:place] + shown.scene.changes[place + 1 :])


def _reset(shown: Shown, _: str, message: object) -> None:
    if message:
        shown.update(changes=())


def _mute(shown: Shown, _: str, message: object) -> None:
    found = head_in(shown.trace, message)
    if found:
        _set(shown, muted(*found))


def _swap(shown: Shown, _: str, message: object) -> None:
    places = places_in(message, shown.trace.lengths["query"])
    sentence = swapped(shown, *places) if places else None
    if sentence is not None:
        shown.update(sentence=sentence)


def _checkpoint(shown: Shown, _: str, message: object) -> None:
    scene = shown.scene
    if scene.source not in MODELS:
        return
    checkpoint = place_in(message, len(MODELS[scene.source].checkpoints(scene.model_seed)))
    if checkpoint is not None:
        shown.update(checkpoint=checkpoint)


def _ask_slopes(shown: Shown, key: str, message: object) -> None:
    if cell_in(shown.trace, message):
        st.session_state[_slopes(key)] = message


def _ask_head(shown: Shown, key: str, message: object) -> None:
    head = place_in(message, shown.trace.lengths["head"])
    if head is not None:
        others = [each for each in st.session_state.get(_heads(key), ()) if each != head]
        st.session_state[_heads(key)] = (*others, head)


def _set(shown: Shown, change: Change) -> None:
    """Set a number, if it does not push another beyond float64."""
    changes = replaced(shown.kept.changes, change)
    stage = shown.original[change.stage]
    if stage.is_given and (stage.value[change.index] == change.value).all():  # as it was: nothing is set by hand
        changes = changes[:-1]
    try:
        if len(changes) > MAX_CHANGES:
            raise ChangeError(f"There may be at most {MAX_CHANGES} changes at once: undo one to make another.")
        shown.original.with_changes(*changes)
    except (ArrayError, ChangeError) as error:
        st.toast(markdown(str(error)))
        return
    shown.update(changes=changes)


def _heads(key: str) -> str:
    return f"{key} heads"


def _slopes(key: str) -> str:
    return f"{key} slopes"
