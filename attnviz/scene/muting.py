"""Muting: the parts of a translator that a switch takes out, as numbers set by hand."""

from __future__ import annotations

from typing import NamedTuple

from attnviz.core.changes import Change
from attnviz.scene.reading import translates
from attnviz.scene.scene import Scene


class Part(NamedTuple):
    """A part that can be muted."""

    event: str  # the action that mutes it, or undoes that
    label: str
    changes: tuple[Change, ...]  # the numbers that are set to 0

    def is_muted(self, scene: Scene) -> bool:
        """Whether all of it is set to 0."""
        return set(self.changes) <= set(scene.changes)


def _part(event: str, label: str, *stages: str) -> Part:
    return Part(event, label, tuple(Change(stage, (None,), 0.0) for stage in stages))


PARTS = (
    _part("mute_1", "English looks at English (encoder)", "heads_1"),
    _part("mute_2", "French so far (decoder)", "heads_2"),
    _part("mute_3", "French reads English (cross-attention)", "heads_3"),
    _part("mute_positions", "Positions of all words", "positions", "context_positions"),
)


def parts_of(scene: Scene) -> tuple[Part, ...]:
    """The parts of the scene's model that can be muted; none if it is no translator."""
    return PARTS if translates(scene) else ()
