"""Axis orders: arrays whose axes the user has in another order, found by permuting them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from attnviz.checks.causes.cause import WRONG_AXES, Mistake
from attnviz.checks.explain.diagnosis import Diagnosis
from attnviz.checks.explain.search import Search
from attnviz.checks.passes.candidates import Candidates
from attnviz.checks.passes.comparison import Agreement
from attnviz.checks.read.labels import title
from attnviz.checks.read.layouts import PROJECTIONS, Layout, groups_of, layouts_of, stages
from attnviz.checks.read.user_arrays import UserArray, UserArrays
from attnviz.core.errors import OwnArraysError

Explained = tuple[UserArrays, Diagnosis]
MakeCandidates = Callable[[UserArrays], Candidates]
_TOGETHER = (("q", "k", "v"), PROJECTIONS)  # arrays that people lay out alike


@dataclass(frozen=True, eq=False)
class PermutedArray:
    """An array whose axes were permuted as by `numpy.transpose`, after it was reshaped if it had been flattened."""

    stage: str
    before: UserArray
    array: UserArray
    axes: tuple[int, ...]
    was_flat: bool

    def theirs(self, layout: Layout | None) -> str:
        """The user's order of axes, if the permuted array is in this layout."""
        groups = groups_of(layouts_of(self.stage)[0].pattern)
        names = dict(zip(groups, stages()[self.stage], strict=True)) | {"h": "head"}
        groups = groups_of(layout.pattern) if layout else groups
        expected = [names.get(each) or " * ".join(names.get(letter, letter) for letter in each) for each in groups]
        theirs = ", ".join(expected[self.axes.index(place)] for place in range(len(self.axes)))
        return f"flattened from ({theirs})" if self.was_flat else f"({theirs})"

    def mistake(self, layout: Layout | None) -> Mistake:
        shown = self.theirs(layout)
        slots = {"array": title(self.stage), "theirs": shown, "expected": ", ".join(stages()[self.stage])}
        return Mistake(WRONG_AXES, self.stage, slots, {})


def with_permuted_axes(arrays: UserArrays, make: MakeCandidates, diagnosis: Diagnosis | None) -> Explained | None:
    """Permute axes until everything is explained; `diagnosis` is the best without, None if the arrays fit no pass."""
    nearest = diagnosis and replace(diagnosis, mistakes=(), explained=())
    changed: dict[str, PermutedArray] = {}
    is_small = not diagnosis or diagnosis.candidate.is_small

    def search(changes: Mapping[str, PermutedArray]) -> Search | None:
        try:
            return Search(make({**arrays, **{stage: each.array for stage, each in changes.items()}}))
        except OwnArraysError:
            return None

    has_wrong_shape = bool(diagnosis and diagnosis.first_difference and diagnosis.first_difference.shapes)
    while len(changed) < len(arrays) and (is_small or has_wrong_shape):
        before, further = nearest, None
        current = {**arrays, **{stage: each.array for stage, each in changed.items()}}
        for option in _options(current, before, changed, same_shape=not is_small):
            tried = None  # keep one large array in memory at a time
            more = {**changed, **{each.stage: each for each in option}}
            tried = search(more)
            if tried is None:
                continue
            if match := tried.match or (tried.completed_match if diagnosis is None else None):
                return _with_orders(arrays, more, match) if match.stages else None
            if _n_agreeing(tried.nearest) > _n_agreeing(nearest):
                nearest, further = tried.nearest, more
        if further is None:
            break
        changed = further
    forced = [changed] if changed else []
    if has_wrong_shape:
        forced += [{each.stage: each for each in option} for option in _options(arrays, diagnosis, {}, same_shape=True)]
    for more in forced:
        tried = search(more)
        if tried and (best := tried.best).explains_all:
            return _with_orders(arrays, more, best)
    return None


def _n_agreeing(diagnosis: Diagnosis | None) -> int:
    return diagnosis.rank[0] if diagnosis else -1


def _options(
    arrays: UserArrays, diagnosis: Diagnosis | None, changed: Mapping[str, PermutedArray], same_shape: bool
) -> Iterator[tuple[PermutedArray, ...]]:
    """Other axis orders of the first array that differs; if no stage agrees, also of the inputs and parameters."""
    if diagnosis and diagnosis.first_difference:
        compares, name = diagnosis.candidate.compares, diagnosis.first_difference.name
        stage = next(each for each in arrays if arrays[each].name == name and compares(each))
        expected = diagnosis.candidate.trace[diagnosis.first_difference.stage].shape
        for each in _orders(stage, arrays[stage], expected) if stage not in changed else ():
            if not same_shape or each.array.value.shape == expected:
                yield (each,)
    if same_shape or _n_agreeing(diagnosis) > 0:
        return
    others = [each for each in arrays if each != "mask" and each not in changed]
    begins = (each for each in others if diagnosis is None or not diagnosis.candidate.compares(each))
    alone = {each: [*_orders(each, arrays[each])] for each in begins}
    for group in _TOGETHER:
        if set(group) <= set(alone):
            yield from zip(*(alone[each] for each in group), strict=False)
    for several in alone.values():
        yield from ((each,) for each in several)


def _orders(stage: str, array: UserArray, expected: Sequence[int] = ()) -> Iterator[PermutedArray]:
    """An array with its axes in each other order, the expected shape first; or reshaped to it."""
    value, n = array.value, len(stages()[stage])
    while value.ndim > n and len(value) == 1:
        value = value[0]
    if value.ndim < 2 and not expected:
        return
    ways = [(value, each, False) for each in permutations(range(value.ndim))][1:] if value.ndim <= n else []
    if value.ndim < len(expected) and value.size == math.prod(expected):
        for each in permutations(range(len(expected))):
            ways.append((value.reshape([expected[each.index(at)] for at in range(len(each))]), each, True))
    ways.sort(key=lambda way: way[0].transpose(way[1]).shape != tuple(expected))
    for split, axes, was_flat in ways:
        yield PermutedArray(stage, array, replace(array, value=split.transpose(axes)), axes, was_flat)


def _with_orders(arrays: UserArrays, changed: Mapping[str, PermutedArray], right: Diagnosis) -> Explained:
    """The diagnosis with the axis orders as its first mistakes."""
    explained, reading = right.explained or right.stages, right.candidate.reading
    of_reading = reading.layouts if reading else {}
    layouts: dict[str, Layout | None] = {arrays[stage].name: layout for stage, layout in of_reading.items()}
    layouts |= {each.name: each.layout for each in explained}
    names = {each.before.name: each for each in changed.values()}
    # where heads are as many as tokens, an array in attnviz's own order may be read in another: that is no mistake
    own_order = {
        n for n, each in names.items() if each.theirs(layouts.get(n)) == f"({', '.join(stages()[each.stage])})"
    }
    own_layouts = {name: layouts_of(names[name].stage)[0] for name in own_order}
    names = {name: each for name, each in names.items() if name not in own_order}
    shapes = {name: (each.before.value.shape, each.array.value.shape) for name, each in names.items()}
    differing = {name: Agreement(each.stage, name, shapes=shapes[name]) for name, each in names.items()}
    compared = {each.name for each in right.stages}
    all_stages = [differing[name] for name in names if name not in compared]
    for each in right.stages:
        all_stages.append(differing.get(each.name) or replace(each, layout=own_layouts.get(each.name, each.layout)))
    orders = (names[each.name].mistake(layouts.get(each.name)) for each in all_stages if each.name in names)
    mistakes = (*orders, *right.mistakes)
    permuted = {**arrays, **{stage: each.array for stage, each in changed.items()}}
    return permuted, replace(right, stages=tuple(all_stages), mistakes=mistakes, explained=explained)
