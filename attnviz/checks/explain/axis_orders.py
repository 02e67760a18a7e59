"""Axis orders: arrays that would be right if their axes were permuted, or were flattened."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from attnviz.checks.causes.cause import WRONG_AXES, Mistake
from attnviz.checks.explain.agreement import Agreement
from attnviz.checks.explain.candidates import Candidates
from attnviz.checks.explain.diagnosis import Diagnosis
from attnviz.checks.explain.pass_search import PrecisionSearch
from attnviz.checks.read.arrays import OwnArray, OwnArrays
from attnviz.checks.read.layouts import Layout, groups_of, layouts_of
from attnviz.checks.read.stages import PROJECTIONS, stages
from attnviz.core.errors import OwnArraysError

_TOGETHER = (("q", "k", "v"), PROJECTIONS)  # arrays that people lay out alike
Make = Callable[[OwnArrays], Candidates]


@dataclass(frozen=True, eq=False)
class Reordered:
    """An array with its axes permuted.

    Attributes
    ----------
    before, array : OwnArray
        The array as given, and permuted.
    axes : tuple of int
        The permutation, as in `numpy.transpose`.
    was_flat : bool
        Whether the array was flattened and had to be reshaped first.
    """

    stage: str
    before: OwnArray
    array: OwnArray
    axes: tuple[int, ...]
    was_flat: bool = False

    def mistake(self, layout: Layout | None) -> Mistake:
        """The mistake, for the layout that the permuted array has."""
        own = groups_of(layouts_of(self.stage)[0].pattern)
        names = dict(zip(own, stages()[self.stage], strict=True)) | {"h": "head"}
        groups = groups_of(layout.pattern) if layout else own
        in_order = [names.get(each) or " * ".join(names.get(letter, letter) for letter in each) for each in groups]
        theirs = [in_order[self.axes.index(place)] for place in range(len(self.axes))]
        shown = f"flattened from ({', '.join(theirs)})" if self.was_flat else f"({', '.join(theirs)})"
        return Mistake(WRONG_AXES, self.stage, f"{self.stage}; {shown}; ({', '.join(stages()[self.stage])})", {})


def in_order(own: OwnArrays, make: Make, found: Diagnosis | None) -> tuple[OwnArrays, Diagnosis] | None:
    """Permute axes until everything is explained; None if no order does.

    Parameters
    ----------
    own : mapping of stages to OwnArray
    make : callable
        Makes the candidate passes of arrays.
    found : Diagnosis or None
        The best one without permutations; None if the arrays fit no pass.
    """
    nearest, changed = found and replace(found, mistakes=(), explained=()), {}
    is_small = not found or found.candidate.is_small
    while len(changed) < len(own) and (is_small or (found.first and found.first.shapes)):
        before, further = nearest, None
        for option in _options({**own, **_arrays(changed)}, before, changed, same_shape=not is_small):
            search = None  # of large arrays no two are kept at once
            more = {**changed, **{each.stage: each for each in option}}
            search = _examination({**own, **_arrays(more)}, make)
            if search is None:
                continue
            if right := search.plain or (found is None and search.rotated):
                return _named(own, more, right) if right.stages else None
            if _agreeing(search.nearest) > _agreeing(nearest):
                nearest, further = search.nearest, more
        if further is None:
            break
        changed = further
    forced = [changed] if changed else []
    if found and found.first and found.first.shapes:
        forced += [{each.stage: each for each in option} for option in _options(own, found, {}, same_shape=True)]
    for more in forced:
        search = _examination({**own, **_arrays(more)}, make)
        if search and (best := search.best).explains_all:
            return _named(own, more, best)
    return None


def orders_that_fit(stage: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> list[str]:
    """The axes that an array may have, given that its shape is a permutation of the expected one."""
    names, n = stages()[stage], len(expected)
    shape = shape[max(len(shape) - n, 0) :] if set(shape[: max(len(shape) - n, 0)]) <= {1} else shape
    fitting = [each for each in permutations(range(n)) if tuple(expected[place] for place in each) == shape]
    if not fitting and len(shape) < n and math.prod(shape) == math.prod(expected):
        return [f"flattened from ({', '.join(names)})"]
    return [f"({', '.join(names[place] for place in each)})" for each in fitting]


def _arrays(changed: Mapping[str, Reordered]) -> dict[str, OwnArray]:
    return {stage: each.array for stage, each in changed.items()}


def _examination(own: OwnArrays, make: Make) -> PrecisionSearch | None:
    try:
        return PrecisionSearch(make(own))
    except OwnArraysError:
        return None


def _agreeing(diagnosis: Diagnosis | None) -> int:
    return diagnosis.rank[0] if diagnosis else -1


def _options(
    own: OwnArrays, found: Diagnosis | None, changed: Mapping[str, Reordered], same_shape: bool = False
) -> Iterator[tuple[Reordered, ...]]:
    """Other axis orders of the first array that differs; if no stage agrees, also of the inputs and parameters."""
    first = found and found.first
    if first:
        stage = next(each for each in own if own[each].name == first.name and not found.candidate.begins_with(each))
        expected = found.candidate.trace[first.stage].shape
        for each in _orders(stage, own[stage], expected) if stage not in changed else ():
            if not same_shape or each.array.value.shape == expected:
                yield (each,)
    if same_shape or _agreeing(found) > 0:
        return
    begins = [each for each in own if each != "mask" and (found is None or found.candidate.begins_with(each))]
    alone = {each: [*_orders(each, own[each])] for each in begins if each not in changed}
    for group in _TOGETHER:
        if set(group) <= set(alone):
            yield from zip(*(alone[each] for each in group), strict=False)
    for several in alone.values():
        yield from ((each,) for each in several)


def _orders(stage: str, own: OwnArray, expected: Sequence[int] = ()) -> Iterator[Reordered]:
    """An array with its axes in each other order, the expected shape first; or reshaped to it."""
    value, n = own.value, len(stages()[stage])
    while value.ndim > n and len(value) == 1:
        value = value[0]
    if value.ndim < 2 and not expected:
        return
    ways = [(value, each, False) for each in permutations(range(value.ndim))][1:] if value.ndim <= n else []
    if value.ndim < len(expected) and value.size == math.prod(expected):
        for each in permutations(range(len(expected))):
            cut = value.reshape([expected[each.index(place)] for place in range(len(each))])
            ways.append((cut, each, True))
    ways.sort(key=lambda way: way[0].transpose(way[1]).shape != tuple(expected))
    for array, axes, was_flat in ways:
        yield Reordered(stage, own, replace(own, value=array.transpose(axes)), axes, was_flat)


def _named(own: OwnArrays, changed: Mapping[str, Reordered], right: Diagnosis) -> tuple[OwnArrays, Diagnosis]:
    """The diagnosis with the axis orders as its first mistakes."""
    explained, reading = right.explained or right.stages, right.candidate.reading
    layouts = {own[stage].name: layout for stage, layout in (reading.layouts.items() if reading else ())}
    layouts |= {each.name: each.layout for each in explained}
    names = {each.before.name: each for each in changed.values()}
    compared = {each.name for each in right.stages}
    differing = {name: Agreement.of_shapes(each.stage, each.before, each.array.value) for name, each in names.items()}
    stages_ = [differing[name] for name in names if name not in compared]
    stages_ += [differing.get(each.name, each) for each in right.stages]
    orders = tuple(names[each.name].mistake(layouts.get(each.name)) for each in stages_ if each.name in names)
    return {**own, **_arrays(changed)}, replace(
        right, stages=tuple(stages_), mistakes=(*orders, *right.mistakes), explained=explained
    )
