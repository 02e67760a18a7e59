"""Pairing two passes place by place: which stages match, and how far apart their numbers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from attnviz.core.arrays import ROUNDING
from attnviz.core.selection import Axis, Selection
from attnviz.core.stage import ancestors, name_in_layer, split_layer
from attnviz.core.tokens import without_number
from attnviz.core.trace import Trace

_WORDS = ("query", "key", "answer")
"""The coordinates along which places are matched by label."""


@dataclass(frozen=True)
class StagePair:
    """A stage of one pass compared with that of another."""

    name: str
    n_numbers: int = 0  # how many of its numbers were matched; 0 if `mismatch` says why not
    n_differing: int = 0  # how many of those differ
    n_hidden: int = 0  # how many of those are hidden in only one pass
    largest: float = 0.0  # the largest difference
    tolerance: float = 0.0  # differences up to this count as equal
    at: tuple[int, ...] = ()  # the cell of B with the largest difference, hidden keys first; () if none differs
    mismatch: str = ""  # why it can't be matched; empty if it can

    @property
    def is_same(self) -> bool:
        """Whether both have the same numbers."""
        return not self.mismatch and not self.n_differing


@dataclass(frozen=True)
class Pairing:
    """Two passes, A and B, compared."""

    # for B's places along "query", "key" and "answer" the matching places of A; of a layer with words of its own also
    # along "key_3", and of a text that is read along "context token"
    places: Mapping[str, tuple[int | None, ...]]
    stages: Mapping[str, StagePair]  # b's stages in order, then those that only A has
    first: StagePair | None  # the first stage that differs


def pairing(a: Trace, b: Trace) -> Pairing:
    """Compare pass B with pass A: words are matched by label, other places by index.

    A replaced word is matched with its replacement. In passes of an encoder and a decoder, words are first matched in
    order, and `first` is the stage where the difference began.

    >>> from attnviz import Settings, trace_of
    >>> found = pairing(trace_of(Settings("the cat sat")), trace_of(Settings("the cat sat", mask="causal")))
    >>> found.first.name, found.first.n_hidden, found.stages["scaled"].is_same
    ('mask', 3, True)
    """
    stages = {stage.name: _stage(a, b, stage.name) for stage in b.stages}
    alone = {
        stage.name: StagePair(stage.name, mismatch="B has no such stage") for stage in a.stages if stage.name not in b
    }
    places = {
        name: _matching_places(name, a.labels.get(name, ()), words, in_order=_both_write(a, b))
        for name, words in b.labels.items()
        if words != b.labels.get(_usual(name))
    }
    found = stages | alone
    first = next((stage for stage in found.values() if not stage.is_same), None)
    return Pairing(places, found, _first_to_differ(a, b, found) if first and _both_write(a, b) else first)


def _first_to_differ(a: Trace, b: Trace, found: Mapping[str, StagePair]) -> StagePair:
    """The stage where the difference of two translations began: the encoder's come first, then the decoder's word by
    word, as each word depends on those before it.
    """
    read = {stage.name for stage in ancestors(b.stages, "memory")}
    differing = [stage for stage in found.values() if not stage.is_same]
    return min(differing, key=lambda stage: -2 if stage.name in read else _first_row(a, b, stage))


def _first_row(a: Trace, b: Trace, pair: StagePair) -> int:
    """The first word written at which a stage differs; -1 if it is of no word, or can't be matched."""
    axes = (
        [] if pair.mismatch else [nth for nth, axis in enumerate(b.axes(pair.name)) if axis.labels == b.labels["query"]]
    )
    if not axes:
        return -1
    first, second, places = _matched_arrays(a, b, pair.name)
    with np.errstate(invalid="ignore"):  # -inf - -inf at hidden keys is NaN
        cells = np.argwhere(~(np.abs(second - first) <= pair.tolerance) & (first != second))
    return int(np.max([np.array(places[axis])[cells[:, axis]] for axis in axes], axis=0).min())


def _both_write(a: Trace, b: Trace) -> bool:
    """Whether both write a text from what an encoder read, word after word."""
    return all("memory" in each and "query" in each.labels for each in (a, b))


def _usual(axis: str) -> str:
    """The axis whose places a selection has for this one: "query_1" for "token_1"; "" if that is the axis itself."""
    name, layer = split_layer(axis)
    role = Axis.of(name, 1, n_heads=1).coordinates[0][0]
    return "" if name == role else name_in_layer(role, layer)


def furthest(a: Trace, b: Trace, layer: int = 0) -> Selection | None:
    """The attention weight of B that differs most from A's, in one layer or the last; None if none differs.

    Without a layer it is one of the last. It is in the first head that differs, and in a row of more than one visible
    key if possible.
    """
    name = b.layers[layer - 1].names["attention"]
    if name not in a or not _stage(a, b, name).n_differing:
        return None
    first, second, places = _matched_arrays(a, b, name)
    apart = np.abs(second - first)
    sees_more = np.minimum(*((weights > 0).sum(axis=-1) for weights in (first, second))) > 1
    of_more = apart * sees_more[:, :, None]
    apart = of_more if of_more.any() else apart
    head = int(apart.any(axis=(1, 2)).argmax())
    query, key = divmod(int(apart[head].argmax()), apart.shape[2])
    return Selection(head=places[0][head], query=places[1][query], key=places[2][key])


def row_differs(a: Trace, b: Trace, name: str, selection: Selection) -> bool:
    """Whether the selected row of attention weights differs between A and B."""
    if name not in a or _stage(a, b, name).mismatch:
        return True
    first, second, places = _matched_arrays(a, b, name)
    head, asked, _ = (axis.place(selection) for axis in b.axes(name))
    rows = [place for place, query in enumerate(places[1]) if query == asked]
    tolerance = _stage(a, b, name).tolerance
    return bool((np.abs(second - first)[head, rows] > tolerance).any()) or not rows


def _matching_places(role: str, of_a: Sequence[str], of_b: Sequence[str], *, in_order: bool) -> tuple[int | None, ...]:
    """For each word the index of the same word in the other pass; a replaced word takes its replacement's."""
    if in_order and role != "answer":
        return _aligned(*(list(map(without_number, labels)) for labels in (of_a, of_b)))
    named = {label: place for place, label in enumerate(of_a)}
    places = [named.get(label) for label in of_b]
    stay = [place for place, one in enumerate(places) if one is not None]
    is_replaced = role != "answer" and len(of_a) == len(of_b) and stay and all(places[each] == each for each in stay)
    return tuple(range(len(of_b))) if is_replaced else tuple(places)


def _aligned(of_a: Sequence[str], of_b: Sequence[str]) -> tuple[int | None, ...]:
    """For each word of B the index of the same word in A, longest common runs first; else of the word it replaces."""
    runs = SequenceMatcher(None, of_a, of_b, autojunk=False).get_opcodes()
    places: dict[int, int] = {}
    for kind, begin, end, start, stop in runs:
        if kind == "equal":
            places |= zip(range(start, stop), range(begin, end), strict=True)
    moved = ((b, a) for b, word in enumerate(of_b) for a, other in enumerate(of_a) if word == other)
    replaced = (
        pair
        for kind, begin, end, start, stop in runs
        if kind == "replace" and end - begin == stop - start
        for pair in zip(range(start, stop), range(begin, end), strict=True)
    )
    for place, there in (*moved, *replaced):
        if place not in places and there not in places.values():
            places[place] = there
    return tuple(places.get(place) for place in range(len(of_b)))


def _stage(a: Trace, b: Trace, name: str) -> StagePair:
    if name not in a:
        return StagePair(name, mismatch="A has no such stage")
    axes = list(zip(a.axes(name), b.axes(name), strict=False))
    if len(a[name].axes) != len(b[name].axes) or not all(_is_alike(*both) for both in axes):
        return StagePair(name, mismatch=_unlike(a, b, name))
    first, second, places = _matched_arrays(a, b, name)
    pair = _compared(name, first, second, flags=b[name].value.dtype == bool == a[name].value.dtype)
    return replace(pair, at=tuple(of_b[place] for of_b, place in zip(places, pair.at, strict=False)))


def _matched_arrays(a: Trace, b: Trace, name: str) -> tuple[np.ndarray, np.ndarray, list[list[int]]]:
    """A stage's numbers in both passes, matched, and the indices of B along each axis."""
    in_order = _both_write(a, b)
    matched = [_matched(*pair, in_order=in_order) for pair in zip(a.axes(name), b.axes(name), strict=True)]
    of_a, of_b = ([pair[side] for pair in matched] for side in (0, 1))
    first, second = (
        np.asarray(each[name].value, dtype=np.float64)[np.ix_(*places)] for each, places in ((a, of_a), (b, of_b))
    )
    return first, second, of_b


def _unlike(a: Trace, b: Trace, name: str) -> str:
    """Why the places of a stage can't be matched."""
    heads = [each.lengths["head"] for each in (a, b)]
    if heads[0] != heads[1] and any("head" in axis for axis in b[name].axes):
        return "{} in A, {} in B".format(*(f"{n} head{'s' * (n > 1)}" for n in heads))
    return "{} numbers in A, {} in B".format(*(" × ".join(map(str, each[name].shape)) for each in (a, b)))


def _is_alike(one: Axis, other: Axis) -> bool:
    """Whether two axes can be matched: words by label, others if equally long."""
    if one.name != other.name:
        return False
    return one.coordinates[0][0] in _WORDS or (one.length, one.coordinates) == (other.length, other.coordinates)


def _matched(one: Axis, other: Axis, *, in_order: bool) -> tuple[list[int], list[int]]:
    """The matched indices of two axes."""
    if one.coordinates[0][0] not in _WORDS:
        return list(range(one.length)), list(range(other.length))
    places = _matching_places(one.coordinates[0][0], one.labels, other.labels, in_order=in_order)
    pairs = [(first, second) for second, first in enumerate(places) if first is not None]
    return [first for first, _ in pairs], [second for _, second in pairs]


def _compared(name: str, first: np.ndarray, second: np.ndarray, *, flags: bool) -> StagePair:
    if not first.size:
        return StagePair(name, mismatch="they have no word in common")
    if flags:
        others = first != second
        seen = int(others.sum())
        return StagePair(name, n_numbers=first.size, n_differing=seen, n_hidden=seen, at=_largest(others))
    finite = np.isfinite(first) & np.isfinite(second)
    tolerance = ROUNDING * max(np.abs(each[finite]).max(initial=0.0) for each in (first, second))
    with np.errstate(over="ignore"):  # two numbers of float64 may be further apart than its largest
        apart = np.abs(np.subtract(second, first, out=np.zeros(first.shape), where=finite))
    hidden = np.isfinite(first) != np.isfinite(second)
    others = hidden | (apart > tolerance)
    return StagePair(
        name,
        n_numbers=first.size,
        n_differing=int(others.sum()),
        n_hidden=int(hidden.sum()),
        largest=float(apart.max(where=others, initial=0.0)),
        tolerance=float(tolerance),
        at=_largest(np.where(others, np.where(hidden, np.inf, apart), 0.0)),
    )


def _largest(sizes: np.ndarray) -> tuple[int, ...]:
    """The index of the largest size; () if all are 0."""
    return tuple(int(each) for each in np.unravel_index(sizes.argmax(), sizes.shape)) if sizes.any() else ()


def difference(before: Trace, after: Trace, name: str) -> np.ndarray:
    """The difference of a stage between two traces: after - before.

    0 where a key is hidden in both; -inf where it became hidden, inf where it became visible. In a boolean mask these
    are -1 and 1.
    """
    old, new = (np.asarray(trace[name].value, dtype=np.float64) for trace in (before, after))
    return np.subtract(new, old, out=np.zeros(new.shape), where=new != old)
