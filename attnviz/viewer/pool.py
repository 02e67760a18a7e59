"""Pool: data in which many parts are alike, with each of those written a single time.

The moments of a lesson show the same few passes again and again, whole or in part; compressed by gzip, which looks back
32 kB, they would still take three times the room.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LEAST_CHARACTERS = 100
"""Of a part that is written apart, about; the name of a smaller one would hardly be shorter."""

NAME = "$"
"""The key of the place where a part stands in the pool. No data of ours has an object with this key."""

Data = Any
"""A value that JSON can write."""


def pooled(data: Data) -> dict[str, Data]:
    """Data as its parts that occur more than once, and itself with their places in their stead.

    Returns
    -------
    dict
        `parts`, each made of those before it, and `whole`. A part stands there as `{"$": place}`.

    Examples
    --------
    >>> row = {"values": "0.25 " * 30}
    >>> made = pooled([row, {"of": row}])
    >>> made["whole"]
    [{'$': 0}, {'of': {'$': 0}}]
    >>> made["parts"] == [row]
    True
    """
    pool = _Pool()
    whole = pool.place_of(data)
    pool.count()
    return {"whole": pool.encoded(whole), "parts": pool.parts}


class _Pool:
    """All different parts of some data, each after those that it is made of."""

    def __init__(self) -> None:
        self.parts: list[Data] = []  # those that are written apart
        self._places: dict[tuple, int] = {}
        self._nodes: list[tuple] = []  # a scalar or a shape, and the places of its own parts
        self._sizes: list[int] = []
        self._uses: list[int] = []
        self._names: dict[int, dict] = {}  # of those that are written apart

    def place_of(self, data: Data) -> int:
        """The place of a part, the same for all that are equal."""
        if isinstance(data, dict):
            node = (tuple(data), *map(self.place_of, data.values()))
        elif isinstance(data, list):
            node = (list, *map(self.place_of, data))
        else:
            node = (None, data, repr(data))  # 1 is not 1.0, nor True, and 0.0 not -0.0
        if node not in self._places:
            self._places[node] = len(self._nodes)
            self._nodes.append(node)
            self._sizes.append(self._size(node))
        return self._places[node]

    def count(self) -> None:
        """Count in how many different places each part stands."""
        self._uses = [0] * len(self._nodes)
        for node in self._nodes:
            for part in _parts(node):
                self._uses[part] += 1

    def encoded(self, place: int) -> Data:
        """A part as it is written where it stands."""
        if self._uses[place] < 2 or self._sizes[place] < LEAST_CHARACTERS:
            return self._spelled(place)
        if place not in self._names:
            spelled = self._spelled(place)
            self._names[place] = {NAME: len(self.parts)}
            self.parts.append(spelled)
        return self._names[place]

    def _spelled(self, place: int) -> Data:
        shape, *parts = self._nodes[place]
        if shape is None:
            return parts[0]
        made = [self.encoded(part) for part in parts]
        return made if shape is list else dict(zip(shape, made, strict=True))

    def _size(self, node: tuple) -> int:
        shape, *parts = node
        if shape is None:
            return len(parts[1])
        names = sum(map(len, shape)) + 3 * len(shape) if shape is not list else 0
        return names + len(parts) + 2 + sum(self._sizes[part] for part in parts)


def _parts(node: tuple) -> Iterable[int]:
    shape, *parts = node
    return () if shape is None else parts
