"""Passes: the acts that look at the pass of a scene, each a function of the scene, its pass and a message."""

from dataclasses import replace

import numpy as np

from attnviz.analysis.flips.contest import contest_of
from attnviz.contract.view_params import VIEWS
from attnviz.core.masks import MAX_CUSTOM_MASK, CustomMask
from attnviz.explain.payload import by_row
from attnviz.explain.steps import steps_of
from attnviz.explain.steps.mask import MASK
from attnviz.scene.acts.done import Done
from attnviz.scene.acts.messages import cell_in, place_in, places_in, stroke_in
from attnviz.scene.document.continuing import can_continue, next_token
from attnviz.scene.document.extras import Extras
from attnviz.scene.parameters import drawing_in
from attnviz.scene.reading import shortened, without_end
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import READY_MADE, Scene, pinned, with_other
from attnviz.scene.words import swapped


def _drop(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    changes = resolved.scene.changes
    dropped = place_in(message, len(changes))
    return Done(scene if dropped is None else replace(scene, changes=changes[:dropped] + changes[dropped + 1 :]))


def _reset(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    return Done(replace(scene, changes=()))


def _swap(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    places = places_in(message, resolved.trace.lengths["query"])
    sentence = swapped(resolved, *places) if places else None
    return Done(scene if sentence is None else replace(scene, sentence=sentence))


def _slopes(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    return Done(scene, Extras(slopes_of=message) if cell_in(resolved.trace, message) else Extras())


def _flip(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    cell = cell_in(resolved.trace, message)
    if cell and contest_of(resolved.trace, *cell):
        return Done(scene, Extras(flips_of=message))
    notice = "What would flip it is asked of a share that a softmax gives, in a row of at least two."
    return Done(scene, Extras(notices=(notice,)) if cell else Extras())


def _paint(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    """Paint the mask of all layers.

    True begins, with what is hidden in the layer that is looked at; a stroke changes cells; null leaves it as it was.
    """
    if scene.source in READY_MADE:
        return Done(scene)
    if message is None:
        return Done(replace(scene, hidden=None))
    layer = next(step.layer for step in steps_of(resolved.trace) if step.id == resolved.scene.step)
    hidden = ~resolved.original[resolved.original.layers[max(layer, 1) - 1].names["mask"]].value
    if message is True:
        step = f"{MASK.id}-{layer}" if layer else MASK.id
        begun = replace(scene, hidden=CustomMask.of(hidden), step=step, view=VIEWS[0], reveal=None)
        return Done(begun, Extras(arrives=True))
    stroke = stroke_in(resolved.original, message)
    if stroke is None:
        return Done(scene)
    n_heads = resolved.original.lengths["head"]
    painted = np.broadcast_to(hidden, (n_heads, *hidden.shape[-2:])).copy()
    heads = range(n_heads) if stroke.head is None else [stroke.head]
    for query, key in stroke.cells:
        painted[heads, query, key] = stroke.hides
    painting = CustomMask.of(painted)
    if len(str(painting)) > MAX_CUSTOM_MASK:
        rule = f"A painted mask has at most {MAX_CUSTOM_MASK:,} characters in the address; this one would have"
        notice = f"{rule} {len(str(painting)):,}. Paint fewer cells, or a shorter sentence."
        return Done(scene, Extras(notices=(notice,)))
    return Done(replace(scene, hidden=painting))


def _need(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    """Have the row of a cell sent, or for true all there is."""
    if message is True:
        return Done(scene, Extras(whole=True))
    stage, index = cell_in(resolved.trace, message) or ("", ())
    if not stage or not resolved.trace[stage].is_headed:
        return Done(scene)
    return Done(scene, Extras(heads=index[:1], queries=index[1:2] if by_row(resolved.trace[stage]) else ()))


def _pin(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    """Keep the present pass as A beside what is shown next."""
    return Done(replace(scene, other=pinned(resolved.scene)))


def _exchange(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    """Let A and B change places."""
    a = resolved.scene.other
    return Done(scene) if a is None else Done(with_other(scene, pinned(resolved.scene), a), Extras(seed=""))


def _next(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    """Append the letter that comes next."""
    token = next_token(resolved) if can_continue(resolved) else None
    return Done(scene if token is None else replace(scene, sentence=without_end(resolved.scene) + token))


def _shorter(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    """Take the last letter away."""
    return Done(replace(scene, sentence=shortened(resolved.scene)) if can_continue(resolved) else scene)


def _names(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    return Done(scene, Extras(with_names=can_continue(resolved)))


def _draw(scene: Scene, resolved: SceneWithPass, message: object) -> Done:
    try:
        return Done(replace(scene, drawing=drawing_in(message)))
    except ValueError:
        return Done(scene)


OF_PASSES = {
    "drop": _drop,
    "reset": _reset,
    "swap": _swap,
    "slopes": _slopes,
    "flip": _flip,
    "paint": _paint,
    "need": _need,
    "pin": _pin,
    "exchange": _exchange,
    "next": _next,
    "shorter": _shorter,
    "names": _names,
    "draw": _draw,
}
"""All of them by their names."""
