"""Selection: the one selected cell, which survives every step."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from attnviz.core.errors import SettingsError
from attnviz.core.trace import Stage, Trace

_PLACE = re.compile("[1-9][0-9]{0,3}")
_COORDINATES = {
    "head": "head",
    "query": "query",
    "token": "query",
    "key": "key",
    "context token": "key",
    "d_k": "feature",
    "d_v": "feature",
    "d_model": "dimension",
}


def coordinates(axis: str) -> tuple[str, ...]:
    """The coordinates of the selection that an axis has: a concatenation's has two."""
    return ("head", "feature") if axis == "heads * d_v" else (_COORDINATES[axis],)


@dataclass(frozen=True)
class Selection:
    """Where a person is looking, on every axis at once, counted from 0.

    Attributes
    ----------
    head, query, key : int
    feature : int
        Within a head: a place on d_k or d_v.
    dimension : int
        A place on d_model.
    """

    head: int = 0
    query: int = 1
    key: int = 2
    feature: int = 0
    dimension: int = 0

    def within(self, trace: Trace) -> Selection:
        """The selection, with each coordinate brought inside the axes of the trace."""
        lengths: dict[str, int] = {}
        for stage in trace.stages:
            for axis, length in zip(stage.axes, stage.shape, strict=True):
                if axis in _COORDINATES:
                    name = _COORDINATES[axis]
                    lengths[name] = min(length, lengths.get(name, length))
        return replace(self, **{name: min(getattr(self, name), length - 1) for name, length in lengths.items()})

    def index(self, stage: Stage, d_v: int = 1) -> tuple[int, ...]:
        """The cell of the stage that is in selection; `d_v` is the width of a head's band in a concatenation."""
        return tuple(
            self.head * d_v + self.feature if axis == "heads * d_v" else getattr(self, _COORDINATES[axis])
            for axis in stage.axes
        )

    def moved(self, stage: Stage, index: tuple[int, ...], d_v: int = 1) -> Selection:
        """The selection after the cell at `index` of a stage was picked; other coordinates stay."""
        moves: dict[str, int] = {}
        for axis, place in zip(stage.axes, index, strict=True):
            if axis == "heads * d_v":
                moves["head"], moves["feature"] = divmod(place, d_v)
            else:
                moves[_COORDINATES[axis]] = place
        return replace(self, **moves)

    def __str__(self) -> str:
        """The selection as it stands in an address, counted from 1."""
        return ".".join(str(getattr(self, field.name) + 1) for field in fields(self))

    @classmethod
    def parse(cls, text: str) -> Selection:
        """The selection that `str` wrote.

        Raises
        ------
        SettingsError
            If the text is not five whole numbers from 1 on.
        """
        parts = text.split(".", 5)
        if len(parts) != 5 or not all(_PLACE.fullmatch(part) for part in parts):
            raise SettingsError(
                "cell is five whole numbers from 1 on, head.query.key.feature.dimension, such as 1.2.3.1.1; "
                f"got {text[:40]!r}."
            )
        return cls(*(int(part) - 1 for part in parts))


def d_v(trace: Trace) -> int:
    """The width of one head's output."""
    return trace["heads"].shape[-1]
