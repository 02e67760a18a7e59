"""New passes: the acts that look at the pass that they lead to: numbers set by hand, and pairs."""

from dataclasses import replace

from attnviz.core.changes import Change, muted, replaced
from attnviz.core.errors import ChangeError
from attnviz.core.limits import MAX_CHANGES
from attnviz.scene.acts.done import Done, Resolve
from attnviz.scene.acts.messages import change_in, writer_in
from attnviz.scene.compare.pairs import pairs_of
from attnviz.scene.document.extras import Extras
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import Scene, with_other
from attnviz.scene.start import picked, selected, start


def _change(scene: Scene, resolved: SceneWithPass, message: object, resolve: Resolve) -> Done:
    try:
        change = change_in(resolved.trace, message)
    except ChangeError as error:
        return Done(scene, Extras(notices=(str(error),)))
    return _set_by_hand(scene, resolved, change, resolve) if change else Done(scene)


def _mute(scene: Scene, resolved: SceneWithPass, message: object, resolve: Resolve) -> Done:
    writer = writer_in(resolved.trace, message)
    return _set_by_hand(scene, resolved, muted(*writer), resolve) if writer else Done(scene)


def _set_by_hand(scene: Scene, resolved: SceneWithPass, change: Change, resolve: Resolve) -> Done:
    """Set a number, if it does not push another beyond float64."""
    changes = replaced(resolved.scene.changes, change)
    stage = resolved.original[change.stage]
    if stage.is_given and (stage.value[change.where] == change.value).all():  # as it was: nothing is set by hand
        changes = changes[:-1]
    if len(changes) > MAX_CHANGES:
        notice = f"There may be at most {MAX_CHANGES} changes at once: undo one to make another."
        return Done(scene, Extras(notices=(notice,)))
    after = replace(scene, changes=changes)
    refused = resolve(after).refused
    return Done(scene, Extras(notices=refused)) if refused else Done(after)


def _pair(scene: Scene, resolved: SceneWithPass, message: object, resolve: Resolve) -> Done:
    pair = next((each for each in pairs_of(resolved.scene) if each.id == message), None)
    if pair is None:
        return Done(scene)
    after = with_other(scene, pair.a, pair.b)
    now = resolve(after)
    refused = (*resolve(pair.a).refused, *now.refused)
    if refused:
        return Done(scene, Extras(notices=refused[:1]))
    if resolved.scene.selection is None:
        selection, stage = (of(now.scene, now.trace, now.other.trace) for of in (selected, picked))
        if selection != start(now.trace, now.scene.step) or not now.trace.origin.read or stage:
            return Done(replace(after, selection=selection, picked=stage), Extras(seed="", arrives=True))
    return Done(after, Extras(seed=""))


OF_NEW_PASSES = {"change": _change, "mute": _mute, "pair": _pair}
"""All of them by their names."""
