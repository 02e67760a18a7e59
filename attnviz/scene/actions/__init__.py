"""Actions: functions from a scene and a browser's message to a scene, by name; messages may hold anything.

An action that means nothing for its scene returns the scene unchanged; one that is impossible
returns a notice that says why.
"""

from dataclasses import replace

from attnviz.scene.actions.messages import ActionResult, Resolve
from attnviz.scene.actions.passes import ACTIONS_ON_PASSES, ACTIONS_TO_NEW_PASSES
from attnviz.scene.actions.settings import ACTIONS_ON_SETTINGS, settings_of
from attnviz.scene.reading import normalized
from attnviz.scene.scene import Scene
from attnviz.scene.with_pass import resolve

ACTION_NAMES = tuple(ACTIONS_ON_SETTINGS | ACTIONS_ON_PASSES | ACTIONS_TO_NEW_PASSES)
"""The names of all actions."""


def apply_action(scene: Scene, name: object, message: object, resolve: Resolve = resolve) -> ActionResult:
    """Apply a named action to a scene.

    Parameters
    ----------
    scene : Scene
        As requested: parts that don't fit its pass may fit the next.
    name, message : object
        The action and its argument.
    resolve : callable, optional
        Computes a scene's pass if the action needs it.
    """
    if not isinstance(name, str):
        return ActionResult(scene)
    settings = settings_of(scene)
    if name in settings:
        done = settings[name](scene, message)
        new = (each for each in normalized(done.scene)[1] if each not in normalized(scene)[1])
        return done._replace(notes=replace(done.notes, notices=(*done.notes.notices, *new)))
    if name not in ACTIONS_ON_PASSES and name not in ACTIONS_TO_NEW_PASSES:
        return ActionResult(scene)
    resolved = resolve(scene)
    if not resolved.trace:
        return ActionResult(scene)
    if name in ACTIONS_ON_PASSES:
        return ACTIONS_ON_PASSES[name](scene, resolved, message)
    return ACTIONS_TO_NEW_PASSES[name](scene, resolved, message, resolve)
