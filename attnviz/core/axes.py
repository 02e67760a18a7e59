"""Axes: what the places along a stage count. The only module that knows how heads and their bands lie on an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.core.selection import Selection

_COORDINATES = {
    "head": "head",
    "group": "head",
    "query": "query",
    "token": "query",
    "key": "key",
    "context token": "key",
    "d_k": "feature",
    "d_v": "feature",
    "d_c": "neuron",  # as a matrix has d_model or d_k beside it
    "d_cq": "neuron",
    "d_n": "feature",
    "d_r": "feature",
    "d_model": "dimension",
    "neuron": "neuron",
    "answer": "answer",
}
_HEADS = "heads * "


@dataclass(frozen=True)
class Axis:
    """One axis of a stage.

    Attributes
    ----------
    name : str
        What it counts, such as "query", or "heads * d_v" for the heads' bands of d_v side by side.
    length : int
    labels : tuple of str
        What each of its places is called.
    coordinates : tuple of (str, int)
        The coordinates of a selection that lie on it, with their lengths, outermost first:
        (("head", 2), ("feature", 4)) for the eight places of "heads * d_v". Where these are more places than the
        axis has, neighbours share one: (("head", 4),) for two groups of two heads each.

    Examples
    --------
    >>> concatenated = Axis.of("heads * d_v", 8, n_heads=2)
    >>> concatenated.place(Selection(head=1, feature=3))
    7
    >>> concatenated.coordinates_at(5)
    {'head': 1, 'feature': 1}
    """

    name: str
    length: int
    labels: tuple[str, ...]
    coordinates: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, name: str, length: int, *, n_heads: int, words: Sequence[str] | None = None) -> Axis:
        """The axis of that name.

        Parameters
        ----------
        name : str
        length : int
        n_heads : int
            How many heads lie on an axis of all heads, in bands of equal width.
        words : sequence of str, optional
            The labels; without them places are counted from 1.
        """
        inner = name.removeprefix(_HEADS)
        coordinates: tuple[tuple[str, int], ...] = ((_COORDINATES[inner], n_heads if name == "group" else length),)
        if inner != name:
            coordinates = (("head", n_heads), (_COORDINATES[inner], length // n_heads))
        numbers = (f"{f'{name} ' * (name in ('head', 'group'))}{place + 1}" for place in range(length))
        return cls(name, length, tuple(words or numbers), coordinates)

    def place(self, selection: Selection) -> int:
        """Where a selection lies on the axis: at its end where the selection is of a longer one."""
        place = 0
        for coordinate, length in self.coordinates:
            place = place * length + min(getattr(selection, coordinate), length - 1)
        return place // self.shared_by

    @property
    def shared_by(self) -> int:
        """How many places of the coordinates share one of the axis."""
        return math.prod(length for _, length in self.coordinates) // self.length

    def coordinates_at(self, place: int) -> dict[str, int]:
        """The coordinates of a place, the first of those that share it: what a selection of it changes."""
        places: dict[str, int] = {}
        place *= self.shared_by
        for coordinate, length in reversed(self.coordinates):
            place, places[coordinate] = divmod(place, length)
        return {coordinate: places[coordinate] for coordinate, _ in self.coordinates}

    def label(self, place: int) -> str:
        """The name of a place."""
        return self.labels[place]
