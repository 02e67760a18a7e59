"""Selection: the place in a pass that a person looks at; and the axes of stages, which turn it into an index."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Protocol

from attnviz.core.errors import SettingsError

PLACE = "[1-9][0-9]{0,3}"
"""A regular expression for a place, counted from 1."""


class Measured(Protocol):
    """The part of a trace that clamps a selection."""

    @property
    def lengths(self) -> Mapping[str, int]:
        """The length of each coordinate."""


@dataclass(frozen=True)
class Selection:
    """Where a person is looking, on every axis at once, counted from 0."""

    head: int = 0
    query: int = 1
    key: int = 2
    feature: int = 0  # a place on d_k or d_v, within a head
    dimension: int = 0  # a place on d_model
    answer: int = 0  # a place among a model's answers
    neuron: int = 0  # a place among the numbers between the two matrices of an MLP, or among those of a latent

    def within(self, trace: Measured) -> Selection:
        """The selection with each coordinate clamped to the longest axis of the trace."""
        return replace(self, **{name: min(getattr(self, name), n - 1) for name, n in trace.lengths.items()})

    def __str__(self) -> str:
        """The selection as written in an address, counted from 1; a trailing first answer or neuron is omitted."""
        places = [getattr(self, field.name) + 1 for field in fields(self)]
        n_written = 7 if self.neuron else 6 if self.answer else 5
        return ".".join(map(str, places[:n_written]))

    @classmethod
    def parse(cls, text: str) -> Selection:
        """The selection that `str` wrote."""
        parts = text.split(".", 7)
        if len(parts) not in (5, 6, 7) or not all(re.fullmatch(PLACE, part) for part in parts):
            raise SettingsError(
                "cell is whole numbers from 1 on, head.query.key.feature.dimension and perhaps .answer and "
                ".neuron, such as 1.2.3.1.1; "
                f"got {text[:40]!r}."
            )
        return cls(*(int(part) - 1 for part in parts))


_COORDINATES = {
    **dict.fromkeys(("head", "group"), "head"),
    **dict.fromkeys(("query", "token"), "query"),
    **dict.fromkeys(("key", "context token"), "key"),
    **dict.fromkeys(("d_k", "d_v", "d_n", "d_r"), "feature"),
    **dict.fromkeys(("neuron", "d_c", "d_cq"), "neuron"),  # the other axis of a latent's matrix is d_model or d_k
    "d_model": "dimension",
    "answer": "answer",
}
_HEADS = "heads * "


@dataclass(frozen=True)
class Axis:
    """One axis of a stage.

    >>> concatenated = Axis.of("heads * d_v", 8, n_heads=2)
    >>> concatenated.place(Selection(head=1, feature=3))
    7
    >>> concatenated.coordinates_at(5)
    {'head': 1, 'feature': 1}
    """

    name: str  # what it counts, such as "query", or "heads * d_v" for the heads' bands of d_v side by side
    length: int
    labels: tuple[str, ...]  # the name of each place
    # the coordinates of a selection that lie on it, outermost first: (("head", 2), ("feature", 4)) for "heads * d_v";
    # several places share one if there are more of them than the axis has: (("head", 4),) for two groups
    coordinates: tuple[tuple[str, int], ...]

    @classmethod
    def of(
        cls, name: str, length: int, *, n_heads: int, words: Sequence[str] | None = None, has_queries: bool = False
    ) -> Axis:
        """The axis of that name. With `has_queries` the context tokens have queries, and are selected like these."""
        inner = name.removeprefix(_HEADS)
        coordinate = "query" if has_queries and name == "context token" else _COORDINATES[inner]
        coordinates: tuple[tuple[str, int], ...] = ((coordinate, n_heads if name == "group" else length),)
        if inner != name:
            coordinates = (("head", n_heads), (_COORDINATES[inner], length // n_heads))
        numbers = (f"{f'{name} ' * (name in ('head', 'group'))}{place + 1}" for place in range(length))
        return cls(name, length, tuple(words or numbers), coordinates)

    def place(self, selection: Selection) -> int:
        """The place of a selection on the axis, at most its last one."""
        place = 0
        for coordinate, length in self.coordinates:
            place = place * length + min(getattr(selection, coordinate), length - 1)
        return place // self.shared_by

    @property
    def shared_by(self) -> int:
        """How many places of the coordinates share one place of the axis."""
        return math.prod(length for _, length in self.coordinates) // self.length

    def coordinates_at(self, place: int) -> dict[str, int]:
        """The coordinates of a place; of several that share it, the first."""
        places: dict[str, int] = {}
        place *= self.shared_by
        for coordinate, length in reversed(self.coordinates):
            place, places[coordinate] = divmod(place, length)
        return {coordinate: places[coordinate] for coordinate, _ in self.coordinates}

    def label(self, place: int) -> str:
        """The name of a place."""
        return self.labels[place]
