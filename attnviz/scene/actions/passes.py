"""Actions on a pass: set a number, mute a head, select a cell; and actions that lead to another pass."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from attnviz.analysis.row_ranking import ranking_of
from attnviz.contract.view_params import VIEWS
from attnviz.core.changes import Change, mute_change, replace_change
from attnviz.core.errors import ChangeError
from attnviz.core.limits import MAX_CHANGES
from attnviz.core.masks import MAX_CUSTOM_MASK, CustomMask
from attnviz.explain.payload import by_row
from attnviz.explain.steps import steps_of
from attnviz.explain.steps.mask import MASK
from attnviz.scene.actions.messages import (
    ActionResult,
    Resolve,
    cell_in,
    change_in,
    index_in,
    indices_in,
    refused,
    stroke_in,
    writer_in,
)
from attnviz.scene.address import drawing_in
from attnviz.scene.compare import pairs_of
from attnviz.scene.document.continuing_text import can_continue, next_token
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.presets import TRANSLATOR_PARTS, TranslatorPart, translator_parts
from attnviz.scene.reading import translates, without_end, without_last_token
from attnviz.scene.scene import FIXED_SOURCES, Scene, pinned, with_other
from attnviz.scene.with_pass import SceneWithPass, picked, selected, start, swapped, whole_translation, written_words


def _change(scene: Scene, resolved: SceneWithPass, message: object, resolve: Resolve) -> ActionResult:
    try:
        change = change_in(resolved.trace, message)
    except ChangeError as error:
        return refused(scene, str(error))
    return _set_by_hand(scene, resolved, change, resolve) if change else ActionResult(scene)


def _mute(scene: Scene, resolved: SceneWithPass, message: object, resolve: Resolve) -> ActionResult:
    writer = writer_in(resolved.trace, message)
    return _set_by_hand(scene, resolved, mute_change(*writer), resolve) if writer else ActionResult(scene)


def _mute_part(
    scene: Scene, resolved: SceneWithPass, message: object, resolve: Resolve, part: TranslatorPart
) -> ActionResult:
    """Mute a part of a translator with true, and undo that with false."""
    if not isinstance(message, bool) or part not in translator_parts(scene):
        return ActionResult(scene)
    others = tuple(change for change in resolved.scene.changes if change not in part.changes)
    return _with_changes(scene, others + part.changes * message, resolve)


def _set_by_hand(scene: Scene, resolved: SceneWithPass, change: Change, resolve: Resolve) -> ActionResult:
    """Set a number, unless that pushes another beyond float64."""
    changes = replace_change(resolved.scene.changes, change)
    stage = resolved.original[change.stage]
    if stage.is_given and (stage.value[change.where] == change.value).all():  # the original number: nothing is set
        changes = changes[:-1]
    return _with_changes(scene, changes, resolve)


def _with_changes(scene: Scene, changes: tuple[Change, ...], resolve: Resolve) -> ActionResult:
    if len(changes) > MAX_CHANGES:
        return refused(scene, f"There may be at most {MAX_CHANGES} changes at once: undo one to make another.")
    after = replace(scene, changes=changes)
    notices = resolve(after).refused
    return refused(scene, *notices) if notices else ActionResult(after)


def _pair(scene: Scene, resolved: SceneWithPass, message: object, resolve: Resolve) -> ActionResult:
    pair = next((each for each in pairs_of(resolved.scene) if each.id == message), None)
    if pair is None:
        return ActionResult(scene)
    after = with_other(scene, pair.a, pair.b)
    now = resolve(after)
    notices = (*resolve(pair.a).refused, *now.refused)
    if notices:
        return refused(scene, *notices[:1])
    if resolved.scene.selection is None:
        selection, stage = (get(now.scene, now.trace, now.other.trace) for get in (selected, picked))
        if selection != start(now.trace, now.scene.step) or not now.trace.origin.read or stage:
            return ActionResult(replace(after, selection=selection, picked=stage), ReplyNotes(seed="", arrives=True))
    return ActionResult(after, ReplyNotes(seed=""))


_OF_PARTS = {part.event: partial(_mute_part, part=part) for part in TRANSLATOR_PARTS}
ACTIONS_TO_NEW_PASSES = {"change": _change, "mute": _mute, "pair": _pair, **_OF_PARTS}  # actions by name


def _drop(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    changes = resolved.scene.changes
    dropped = index_in(message, len(changes))
    if dropped is None:
        return ActionResult(scene)
    return ActionResult(replace(scene, changes=changes[:dropped] + changes[dropped + 1 :]))


def _reset(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    return ActionResult(replace(scene, changes=()))


def _swap(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    indices = indices_in(message, resolved.trace.lengths["query"])
    sentence = swapped(resolved, *indices) if indices else None
    return ActionResult(scene if sentence is None else replace(scene, sentence=sentence))


def _slopes(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    return ActionResult(scene, ReplyNotes(slopes_of=message) if cell_in(resolved.trace, message) else ReplyNotes())


def _flip(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    cell = cell_in(resolved.trace, message)
    if cell is None:
        return ActionResult(scene)
    if ranking_of(resolved.trace, *cell):
        return ActionResult(scene, ReplyNotes(flips_of=message))
    what = "an attention weight or probability from a row with at least two entries"
    return refused(scene, f"“What would flip it?” needs {what}.")


NOT_PAINTED = (
    "A painted mask is one for all layers, and the layers of a translator have words of their own. Hide a word from "
    "another in one of them: the panel beside the pictures offers it."
)


def _paint(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    """Paint the mask of all layers. True begins, with what is hidden in the layer that is looked at; a stroke changes
    cells; null leaves it as it was.
    """
    if scene.source in FIXED_SOURCES:
        return ActionResult(scene)
    if translates(scene):
        return refused(scene, NOT_PAINTED)
    if message is None:
        return ActionResult(replace(scene, hidden=None))
    layer = next(step.layer for step in steps_of(resolved.trace) if step.id == resolved.scene.step)
    hidden = ~resolved.original[resolved.original.layers[max(layer, 1) - 1].names["mask"]].value
    if message is True:
        step = f"{MASK.id}-{layer}" if layer else MASK.id
        begun = replace(scene, hidden=CustomMask.of(hidden), step=step, view=VIEWS[0], reveal=None)
        return ActionResult(begun, ReplyNotes(arrives=True))
    stroke = stroke_in(resolved.original, message)
    if stroke is None:
        return ActionResult(scene)
    n_heads = resolved.original.lengths["head"]
    painted = np.broadcast_to(hidden, (n_heads, *hidden.shape[-2:])).copy()
    heads = range(n_heads) if stroke.head is None else [stroke.head]
    for query, key in stroke.cells:
        painted[heads, query, key] = stroke.hides
    mask = CustomMask.of(painted)
    if len(str(mask)) > MAX_CUSTOM_MASK:
        rule = f"A painted mask has at most {MAX_CUSTOM_MASK:,} characters in the address; this one would have"
        notice = f"{rule} {len(str(mask)):,}. Paint fewer cells, or a shorter sentence."
        return refused(scene, notice)
    return ActionResult(replace(scene, hidden=mask))


def _need(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    """Request the row of a cell, or with true all heads and rows."""
    if message is True:
        return ActionResult(scene, ReplyNotes(whole=True))
    stage, index = cell_in(resolved.trace, message) or ("", ())
    if not stage or not resolved.trace[stage].is_headed:
        return ActionResult(scene)
    return ActionResult(scene, ReplyNotes(heads=index[:1], queries=index[1:2] if by_row(resolved.trace[stage]) else ()))


def _pin(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    """Keep the current pass as A, to compare with what comes next."""
    return ActionResult(replace(scene, other=pinned(resolved.scene)))


def _exchange(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    a = resolved.scene.other
    if a is None:
        return ActionResult(scene)
    return ActionResult(with_other(scene, pinned(resolved.scene), a), ReplyNotes(seed=""))


def _next(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    token = next_token(resolved) if can_continue(resolved) else None
    if token is None:
        return ActionResult(scene)
    if translates(scene):
        after = _with_written(scene, [*written_words(resolved.trace), token])
        is_whole = after.scene.written == whole_translation(resolved.scene)
        return _whole(scene, resolved, message) if is_whole else after  # a muted part would change it again
    return ActionResult(replace(scene, sentence=without_end(resolved.scene) + token))


def _shorter(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    if not can_continue(resolved):
        return ActionResult(scene)
    if translates(scene):
        return _with_written(scene, written_words(resolved.trace)[:-1])
    return ActionResult(replace(scene, sentence=without_last_token(resolved.scene)))


def _anew(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    """Begin with nothing written."""
    if not can_continue(resolved):
        return ActionResult(scene)
    return _with_written(scene, []) if translates(scene) else ActionResult(replace(scene, sentence=""))


def _whole(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    """Write the whole translation."""
    return ActionResult(replace(scene, written=None))


def _with_written(scene: Scene, words: Sequence[str]) -> ActionResult:
    return ActionResult(replace(scene, written=" ".join(words)))


def _names(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    return ActionResult(scene, ReplyNotes(with_names=can_continue(resolved) and not translates(scene)))


def _draw(scene: Scene, resolved: SceneWithPass, message: object) -> ActionResult:
    if translates(scene):
        return ActionResult(scene)
    try:
        return ActionResult(replace(scene, drawing=drawing_in(message)))
    except ValueError:
        return ActionResult(scene)


_ON_TEXT = (_next, _shorter, _anew, _whole, _names, _draw)
_ACTIONS = (_drop, _reset, _swap, _slopes, _flip, _paint, _need, _pin, _exchange, *_ON_TEXT)
ACTIONS_ON_PASSES = {action.__name__[1:]: action for action in _ACTIONS}  # actions by name
