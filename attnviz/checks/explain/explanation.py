"""Explanation: the reading of a user's arrays, with permuted axes if need be, and the mistakes that explain most."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import permutations

import numpy as np

from attnviz.checks.causes.cause import WRONG_AXES, Mistake, called
from attnviz.checks.explain.comparison import Agreement, compare_pass
from attnviz.checks.explain.passes import Candidate, Candidates, Node, NodeCache, values_of
from attnviz.checks.explain.search import Diagnosis, PrecisionSearch, SkippedCheck
from attnviz.checks.read.layouts import PROJECTIONS, Layout, groups_of, layouts_of, recomputed, stages, without_batch
from attnviz.checks.read.names import layers_of, named, of_layer
from attnviz.checks.read.readings import (
    Conventions,
    UserArray,
    UserArrays,
    numbers_in,
    other_meanings,
    readings,
    user_arrays,
)
from attnviz.checks.read.rounding import OutOfWorkError, Rounded, work_limit
from attnviz.checks.report.words import title
from attnviz.core.changes import HIDEABLE
from attnviz.core.errors import OwnArraysError
from attnviz.core.parameters import ALL_AXES
from attnviz.core.trace import Trace

MOST_COMPUTED = 300_000_000  # how many numbers a comparison may compute: a second or two
_MOST_SEARCHED = 100_000_000  # of these for explaining a difference between large passes, which take much memory
_MAX_WAYS = 2  # in how many readings mistakes are searched
_TOO_LARGE = (
    "These arrays are so large, and can be read in so many ways, that a comparison takes too long. Give fewer heads or "
    "tokens, or say n_heads, orientation and true_is."
)
_WHOLE = {"q", "k", "v", "heads"}  # the stages of a pass that can be shown
Explained = tuple[UserArrays, Diagnosis]
MakeCandidates = Callable[[UserArrays], Candidates]


@dataclass(frozen=True, eq=False)
class Explanation:
    """The outcome of a check of arrays against a given pass, or the one from their own inputs and parameters."""

    arrays: UserArrays
    unread: tuple[str, ...]  # the names of arrays that match no stage
    diagnosis: Diagnosis
    reference: Trace | None  # the given pass, if there is one
    layer: int  # of the given pass, from 1 on

    @cached_property
    def inputs(self) -> set[str]:
        """The stages that start the user's own pass, and are compared with nothing."""
        return {"x", "context", "mask", *ALL_AXES} if self.reference is None else set()

    @cached_property
    def not_recomputed(self) -> tuple[str, ...]:
        """The stages for whose recomputation an earlier array is missing."""
        compared = {each.name for each in self.diagnosis.stages}
        others = {stage: each.name for stage, each in self.arrays.items() if stage not in self.inputs}
        missing = [stage for stage, name in others.items() if name not in compared]
        if self.reference is None and {"q", "k", "v"} <= set(missing):  # where a pass may well begin
            missing = [stage for stage in missing if stage not in "qkv"]
        return tuple(missing)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        diagnosis, reading = self.diagnosis, self.diagnosis.candidate.reading
        layouts = {each.stage: each.layout for each in diagnosis.explained or diagnosis.stages if each.layout}
        return layouts | dict(reading.layouts if reading else {})

    @cached_property
    def trace(self) -> Trace | None:
        """The given pass or the user's own; None if that is incomplete or needs a rotation that attnviz lacks."""
        candidate = self.diagnosis.candidate
        if self.reference or not set(candidate.trace.keys()) >= _WHOLE:
            return self.reference
        if candidate.rotation is None or candidate.reading is None:
            return candidate.trace
        if (operation := candidate.rotation.operation) is None:
            return None
        return recomputed(candidate.reading.arrays, replace(candidate.reading.config, rotation=operation))

    @cached_property
    def mistaken(self) -> Mapping[str, np.ndarray]:
        """The stages of `trace` that the mistakes change, with the changed values if they are numbers."""
        trace, diagnosis = self.trace, self.diagnosis
        if trace is None or not diagnosis.mistakes:
            return {}
        made = values_of(diagnosis.nodes, {each for each in diagnosis.mistaken if self.full_name(each) in trace})
        finite = {name: np.isfinite(each) | (np.isneginf(each) & (name in HIDEABLE)) for name, each in made.items()}
        return {self.full_name(name): each for name, each in made.items() if finite[name].all()}

    def full_name(self, stage: str) -> str:
        """The name of a stage in `trace`."""
        return self.reference.layers[self.layer - 1].names.get(stage, stage) if self.reference else stage


@np.errstate(all="ignore")  # a user's numbers may overflow, which is checked afterwards
def explain(
    trace: Trace | None, arrays: Mapping[str, np.ndarray], layer: int | None = None, stated: Conventions | None = None
) -> Explanation:
    """Compare a user's arrays with a pass, stage by stage, as `attnviz.compare` does."""
    stated = stated or Conventions()
    is_of_several = len(layers_of(arrays)) > 1
    arrays = arrays if layer is None else of_layer(arrays, layer)
    layer = 1 if layer is None or (is_of_several and trace and trace.n_layers == 1) else layer
    numbers, arrays = numbers_in(arrays)
    ways, unread = user_arrays(arrays, stated)
    if trace is None:
        ways = [other for way in ways for other in other_meanings(way)]

        def make(way: UserArrays) -> Candidates:
            return Candidates(way, [Candidate.of(each) for each in readings(way, stated.n_heads, numbers)])

        result = _explained(ways, make)
    else:
        if not 1 <= layer <= trace.n_layers:
            raise OwnArraysError(f"The pass has the layers 1 to {trace.n_layers}; got {layer}.")
        candidate = Candidate.of_trace(trace.layers[layer - 1].trace)
        if len(unread) == 1 and not ways[0]:
            ways, unread = _nearest(unread[0], arrays[unread[0]], candidate)
        result = _explained(ways, partial(Candidates, likely=[candidate]))
    return Explanation(result[0], unread, _by_convention(*result), trace, layer)


def _explained(ways: list[UserArrays], make: MakeCandidates) -> Explained:
    """The reading of the arrays that explains most, with permuted axes if nothing else does."""
    searches: list[PrecisionSearch] = []
    best: Explained | None = None
    try:
        with work_limit(MOST_COMPUTED):
            if agreeing := _agreeing(ways, make, searches):
                return agreeing
            is_large = any(each.candidates.likely[0].is_large for each in searches)
            with work_limit(_MOST_SEARCHED) if is_large else nullcontext():
                best = _best(searches)
                return (not best[1].explains_all and _permuted(best[0], make, best[1])) or best
    except OwnArraysError:
        try:
            with work_limit(MOST_COMPUTED):
                result = next(filter(None, (_permuted(each, make, None) for each in ways[:_MAX_WAYS])), None)
        except OutOfWorkError:
            result = None
        if result:
            return result
        raise
    except OutOfWorkError:
        so_far = [(each.candidates.arrays, each.best_so_far) for each in searches]
        result = best or max(((a, d) for a, d in so_far if d), key=lambda each: each[1].rank, default=None)
        if result is None:
            raise OwnArraysError(_TOO_LARGE) from None
        arrays, diagnosis = result
        return arrays, replace(diagnosis, skipped_checks=(*diagnosis.skipped_checks, SkippedCheck.REST))


def _agreeing(ways: list[UserArrays], make: MakeCandidates, searches: list[PrecisionSearch]) -> Explained | None:
    """The first of several readings that agrees entirely, if any; appends a search for each whose arrays fit."""
    misfit = None
    for way in ways:
        try:
            searches.append(PrecisionSearch(make(way)))
        except OwnArraysError as error:
            misfit = misfit or error
            continue
        plain = searches[-1].plain
        if plain and plain.stages and len(ways) > 1:
            return way, plain
        if len(searches) > 1:
            searches[-1].forget()
    if misfit and not searches:
        raise misfit
    return None


def _best(searches: list[PrecisionSearch]) -> Explained:
    def having(kind: str) -> Iterator[PrecisionSearch]:
        for each in searches:
            if getattr(each, kind):
                yield each
            elif each is not searches[0]:
                each.forget()

    for each in having("quick_match"):
        if wrong := each.quick_match:
            return each.candidates.arrays, wrong
    likely = list(having("coarse"))
    for each in having("rotated") if not likely and len(searches) > 1 else ():
        if right := each.rotated:
            return each.candidates.arrays, right
    result = [(each.candidates.arrays, each.best) for each in (likely or searches)[:_MAX_WAYS]]
    return max(result, key=lambda each: (each[1].explains_all, each[1].rank, -len(each[1].mistakes)))


def _nearest(name: str, array: np.ndarray, candidate: Candidate) -> tuple[list[UserArrays], tuple[str, ...]]:
    """Take an array of unknown name for the stage that it is nearest to."""
    ranked: list[tuple[bool, float, int, str, UserArray]] = []
    for stage in candidate.trace.stages:
        if not named(stage.name) or (stage.name == "mask") != (np.asarray(array).dtype == bool):
            continue
        (alone,), _ = user_arrays({stage.name: array})
        for each in PrecisionSearch(Candidates(alone, [candidate])).best.stages:
            if each.layout and each.stage == stage.name:
                ranked.append((not each.agrees, each.roundings, len(ranked), stage.name, alone[stage.name]))
    if not ranked:
        return [{}], (name,)
    *_, nearest, user_array = min(ranked)
    return [{nearest: replace(user_array, name=name)}], ()


def _by_convention(arrays: UserArrays, diagnosis: Diagnosis) -> Diagnosis:
    """If only a mask read against its library's convention agrees, report an inverted mask."""
    reading = diagnosis.candidate.reading
    against = reading.mask if reading else None
    if not reading or not against or not against.by_convention:
        return diagnosis
    if not diagnosis.stages or diagnosis.mistakes or not diagnosis.explains_all:
        return diagnosis
    usual = Candidate.of(reading.with_mask(against.by_convention))
    candidate = replace(usual, rotation=diagnosis.candidate.rotation)
    nodes = NodeCache(arrays, diagnosis.precision).rotated(candidate)
    state = compare_pass(arrays, candidate, nodes, diagnosis.precision)
    plain = Diagnosis(candidate, diagnosis.precision, state.stages, state.fully_masked)
    if state.agrees:
        return plain
    mask = Node.constant(Rounded(against.value))
    changed = {name: node.with_constant("mask", mask) for name, node in nodes.items() if "mask" in node.inputs}
    explained = compare_pass(arrays, candidate, {**nodes, **changed}, diagnosis.precision)
    if not explained.agrees:
        return diagnosis
    inverted = [each.name for each in against.chosen if each.contradicts]
    name = " and ".join(inverted) if arrays["mask"].name not in inverted else ""
    mistake = Mistake("mask inverted", "masked", {"mask": called(name)}, changed)
    return plain.with_mistakes((mistake,), explained, nodes, against=against)


# --- Axes in another order

_TOGETHER = (("q", "k", "v"), PROJECTIONS)  # arrays that people lay out alike


@dataclass(frozen=True, eq=False)
class _Permuted:
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


def _permuted(arrays: UserArrays, make: MakeCandidates, diagnosis: Diagnosis | None) -> Explained | None:
    """Permute axes until everything is explained; `diagnosis` is the best without, None if the arrays fit no pass."""
    nearest = diagnosis and replace(diagnosis, mistakes=(), explained=())
    changed: dict[str, _Permuted] = {}
    is_small = not diagnosis or diagnosis.candidate.is_small

    def search(changes: Mapping[str, _Permuted]) -> PrecisionSearch | None:
        try:
            return PrecisionSearch(make({**arrays, **{stage: each.array for stage, each in changes.items()}}))
        except OwnArraysError:
            return None

    has_wrong_shape = bool(diagnosis and diagnosis.first and diagnosis.first.shapes)
    while len(changed) < len(arrays) and (is_small or has_wrong_shape):
        before, further = nearest, None
        current = {**arrays, **{stage: each.array for stage, each in changed.items()}}
        for option in _options(current, before, changed, same_shape=not is_small):
            tried = None  # of large arrays no two are kept at once
            more = {**changed, **{each.stage: each for each in option}}
            tried = search(more)
            if tried is None:
                continue
            if right := tried.plain or (tried.rotated if diagnosis is None else None):
                return _with_orders(arrays, more, right) if right.stages else None
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
    arrays: UserArrays, diagnosis: Diagnosis | None, changed: Mapping[str, _Permuted], same_shape: bool
) -> Iterator[tuple[_Permuted, ...]]:
    """Other axis orders of the first array that differs; if no stage agrees, also of the inputs and parameters."""
    if diagnosis and diagnosis.first:
        compares, name = diagnosis.candidate.compares, diagnosis.first.name
        stage = next(each for each in arrays if arrays[each].name == name and compares(each))
        expected = diagnosis.candidate.trace[diagnosis.first.stage].shape
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


def _orders(stage: str, array: UserArray, expected: Sequence[int] = ()) -> Iterator[_Permuted]:
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
        yield _Permuted(stage, array, replace(array, value=split.transpose(axes)), axes, was_flat)


def _with_orders(arrays: UserArrays, changed: Mapping[str, _Permuted], right: Diagnosis) -> Explained:
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


def orders_that_fit(stage: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> list[str]:
    """The axes that an array may have, given that its shape is a permutation of the expected one."""
    names, n = stages()[stage], len(expected)
    shape = without_batch(shape, n)
    fitting = [each for each in permutations(range(n)) if tuple(expected[place] for place in each) == shape]
    if not fitting and len(shape) < n and math.prod(shape) == math.prod(expected):
        return [f"flattened from ({', '.join(names)})"]
    return [f"({', '.join(names[place] for place in each)})" for each in fitting]
