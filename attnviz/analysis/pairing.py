"""Pairing: two passes beside each other, place by place: which stages match, and how far apart their numbers are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.core.axes import Axis
from attnviz.core.trace import Trace

ROUNDING = 1e-12
"""Of the largest number of a stage: numbers no further apart are the same, as words in another order are added in another."""

_WORDS = ("query", "key", "answer")
"""The coordinates along which places are matched by what they are called."""


@dataclass(frozen=True)
class StagePair:
    """A stage of one pass beside that of another.

    Attributes
    ----------
    name : str
    n_numbers : int
        How many of its numbers have one beside them; 0 where `other` says why.
    n_other : int
        How many of those are other numbers.
    n_hidden : int
        How many of those hide a key in only one of the two.
    largest : float
        How far the others are apart at most.
    tolerance : float
        Numbers no further apart are the same.
    other : str
        Why it has no number beside it; empty where it has.
    """

    name: str
    n_numbers: int = 0
    n_other: int = 0
    n_hidden: int = 0
    largest: float = 0.0
    tolerance: float = 0.0
    other: str = ""

    @property
    def is_same(self) -> bool:
        """Whether both have the same numbers."""
        return not self.other and not self.n_other


@dataclass(frozen=True)
class Pairing:
    """Two passes, A and B, beside each other.

    Attributes
    ----------
    places : mapping of str to tuple of int or None
        For the places of B along "query", "key" and "answer" those in A of the same name.
    stages : mapping of str to StagePair
        Those of B in their order, and after them what A has alone.
    """

    places: Mapping[str, tuple[int | None, ...]]
    stages: Mapping[str, StagePair]

    @property
    def first(self) -> StagePair | None:
        """The first stage at which they part."""
        return next((stage for stage in self.stages.values() if not stage.is_same), None)


def pairing(a: Trace, b: Trace) -> Pairing:
    """Pass B beside pass A: words are matched by their names, all other places as they are counted.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> found = pairing(trace_of(Settings("the cat sat")), trace_of(Settings("the cat sat", mask="causal")))
    >>> found.first.name, found.first.n_hidden, found.stages["scaled"].is_same
    ('mask', 3, True)
    """
    stages = {stage.name: _stage(a, b, stage.name) for stage in b.stages}
    alone = {stage.name: StagePair(stage.name, other="B has no such stage") for stage in a.stages if stage.name not in b}
    return Pairing(_places(a, b), stages | alone)


def _places(a: Trace, b: Trace) -> dict[str, tuple[int | None, ...]]:
    found: dict[str, tuple[int | None, ...]] = {}
    for name in b.labels:
        if name in _WORDS:
            beside = {label: place for place, label in enumerate(a.labels.get(name, ()))}
            found[name] = tuple(beside.get(label) for label in b.labels[name])
    return found


def _stage(a: Trace, b: Trace, name: str) -> StagePair:
    if name not in a:
        return StagePair(name, other="A has no such stage")
    axes = list(zip(a.axes(name), b.axes(name), strict=False))
    if len(a[name].axes) != len(b[name].axes) or not all(_is_alike(*pair) for pair in axes):
        return StagePair(name, other=_unlike(a, b, name))
    places = [_matched(*pair) for pair in axes]
    first, second = (
        np.asarray(each[name].value, dtype=np.float64)[np.ix_(*own)]
        for each, own in zip((a, b), zip(*places, strict=True), strict=True)
    )
    return _compared(name, first, second, flags=b[name].value.dtype == bool == a[name].value.dtype)


def _unlike(a: Trace, b: Trace, name: str) -> str:
    """Why the places of a stage can't be matched."""
    heads = [each.lengths["head"] for each in (a, b)]
    if heads[0] != heads[1] and any("head" in axis for axis in b[name].axes):
        return "{} in A, {} in B".format(*(f"{n} head{'s' * (n > 1)}" for n in heads))
    return "{} numbers in A, {} in B".format(*(" × ".join(map(str, each[name].shape)) for each in (a, b)))


def _is_alike(one: Axis, other: Axis) -> bool:
    """Whether places of two axes can be matched: words by their names, others where there are as many."""
    if one.name != other.name:
        return False
    return one.coordinates[0][0] in _WORDS or one.coordinates == other.coordinates


def _matched(one: Axis, other: Axis) -> tuple[list[int], list[int]]:
    """The places of two axes that are beside each other."""
    if one.coordinates[0][0] not in _WORDS:
        return list(range(one.length)), list(range(other.length))
    beside = {label: place for place, label in enumerate(one.labels)}
    pairs = [(beside[label], place) for place, label in enumerate(other.labels) if label in beside]
    return [first for first, _ in pairs], [second for _, second in pairs]


def _compared(name: str, first: np.ndarray, second: np.ndarray, *, flags: bool) -> StagePair:
    if not first.size:
        return StagePair(name, other="they have no word in common")
    if flags:
        seen = int((first != second).sum())
        return StagePair(name, n_numbers=first.size, n_other=seen, n_hidden=seen)
    finite = np.isfinite(first) & np.isfinite(second)
    tolerance = ROUNDING * max(np.abs(each[finite]).max(initial=0.0) for each in (first, second))
    with np.errstate(over="ignore"):  # two numbers of float64 may be further apart than its largest
        apart = np.abs(np.subtract(second, first, out=np.zeros(first.shape), where=finite))
    hidden = np.isfinite(first) != np.isfinite(second)
    others = hidden | (apart > tolerance)
    return StagePair(
        name,
        n_numbers=first.size,
        n_other=int(others.sum()),
        n_hidden=int(hidden.sum()),
        largest=float(apart.max(where=others, initial=0.0)),
        tolerance=float(tolerance),
    )
