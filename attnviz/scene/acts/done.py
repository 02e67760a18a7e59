"""Done: what an act gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from attnviz.scene.document.extras import Extras
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import Scene

Resolve = Callable[[Scene], SceneWithPass]
"""A function that makes the pass of a scene, such as `resolve`."""


class Done(NamedTuple):
    """The outcome of an act: a scene, and what an answer says besides it."""

    scene: Scene
    extras: Extras = Extras()
