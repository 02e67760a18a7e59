"""Doors: what a button in an article leads to in the walkthrough."""

from collections.abc import Mapping

from attnviz.scene.scene import Scene, parts_for_source

Door = Mapping[str, object]
"""The parts of the scene that a door leads to."""


def door_to(model: str, sentence: str, **parts: object) -> Door:
    """The door to a sentence of a model, from the first step on, with other parts of the scene if given."""
    return parts_for_source(model) | {"step": Scene().step, "sentence": sentence} | parts
