"""Acts: what a person can do in the viewer and its settings, each by its name. What it comes with may be anything.

An act is a function of a scene and a message that gives a scene and what else to say. One that means nothing
for the scene gives it back; one that can't be done says why.
"""

from dataclasses import replace

from attnviz.scene.acts.done import Done, Resolve
from attnviz.scene.acts.newpasses import OF_NEW_PASSES
from attnviz.scene.acts.passes import OF_PASSES
from attnviz.scene.acts.settings import OF_SETTINGS, settings_of
from attnviz.scene.resolution import resolve
from attnviz.scene.scene import Scene
from attnviz.scene.settled import settled

NAMES = tuple(OF_SETTINGS | OF_PASSES | OF_NEW_PASSES)
"""The names of all acts."""


def act(scene: Scene, name: object, message: object, resolve: Resolve = resolve) -> Done:
    """Do what a person asks for, if it means anything in this scene.

    Parameters
    ----------
    scene : Scene
        As it was asked for: what doesn't fit its pass may fit the next.
    name, message : object
        Which act, and what it comes with.
    resolve : callable, optional
        Makes the pass of a scene, where the act needs it.
    """
    if not isinstance(name, str):
        return Done(scene)
    settings = settings_of(scene)
    if name in settings:
        done = settings[name](scene, message)
        new = (each for each in settled(done.scene)[1] if each not in settled(scene)[1])
        return done._replace(extras=replace(done.extras, notices=(*done.extras.notices, *new)))
    if name not in OF_PASSES and name not in OF_NEW_PASSES:
        return Done(scene)
    resolved = resolve(scene)
    if not resolved.trace:
        return Done(scene)
    if name in OF_PASSES:
        return OF_PASSES[name](scene, resolved, message)
    return OF_NEW_PASSES[name](scene, resolved, message, resolve)
