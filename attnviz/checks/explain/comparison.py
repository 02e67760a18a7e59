"""Comparison: whether the user's arrays equal the stages of a pass, up to rounding; exactly, or in a few rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from weakref import proxy

import numpy as np

from attnviz.checks.explain.passes import FULLY_MASKED, Candidate, Nodes, evaluated, filled
from attnviz.checks.read.layouts import GAINS, Layout, score_stages, stages
from attnviz.checks.read.masks import HIDES, as_added
from attnviz.checks.read.readings import UserArray, UserArrays
from attnviz.checks.read.rounding import FLOAT32, Precision, Rounded, half_step, spend

_NEARER = 0.5  # the part of a difference that an explaining mistake leaves, at most
_FAR = 8.0  # differences within 1/8 of the largest count for `spread`
_HIDES = HIDES / 2  # scores below stand for −∞: a score plus what hides a key
MOST_OFF = 1e9  # larger differences are all alike


def targets(stage: str) -> tuple[str, ...]:
    """The stages that an array of this name may be: many people call masked scores "scores" or "scaled"."""
    if stage in ("scores", "scaled"):
        return score_stages()[score_stages().index(stage) :]
    return (stage, f"{stage}_normed", f"{stage}_rotated") if stage in ("q", "k") else (stage,)


@dataclass(frozen=True, eq=False)
class Form:
    """One way to read an array as one of the stages that it may be."""

    target: str
    read_as: str  # the stage whose layouts it was read in
    layout: Layout
    reads: tuple[np.ndarray, ...]  # in attnviz's layout; two if a mask may be inverted, or 1 added to gains

    def align(self, ours: Rounded, candidate: Candidate) -> Rounded:
        """Our stage, on whose first axis several passes may be stacked, in the array's layout."""
        if self.layout.is_averaged and candidate.sizes["h"] > 1:
            ours = ours.map(lambda array: array.mean(axis=-3))
        axes, value = stages()[self.target], self.reads[0]
        if axes[:1] != ("head",):
            return ours
        # what heads share, repeated for each head if the array is
        n_groups = ours.value.shape[-len(axes)] if ours.value.ndim >= len(axes) == value.ndim > 1 else len(value)
        if n_groups == len(value) or len(value) % n_groups:
            return ours
        return ours.map(lambda array: np.repeat(array, len(value) // n_groups, axis=-len(axes)))


def forms_of(array: UserArray, stage: str, candidate: Candidate) -> Iterator[Form]:
    """The ways to read an array as one of the stages that it may be."""
    for target in targets(stage):
        read_as = target if stage in ("scores", "scaled") else stage
        for layout, value in candidate.forms(array, read_as):
            reads = (value, ~value) if value.dtype == bool else (value, 1 + value) if stage in GAINS else (value,)
            yield Form(target, read_as, layout, reads)


def _equal_or_both_nan(yours: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Where both arrays are the same, NaN and infinity included."""
    return (yours == ours) | (np.isnan(yours) & np.isnan(ours))


def _as_numbers(yours: np.ndarray, ours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays; if only one is Boolean, both as additive masks."""
    return (yours, ours) if (yours.dtype == bool) == (ours.dtype == bool) else (as_added(yours), as_added(ours))


# --- Whole stages

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Agreement:
    """A stage compared with a user's array: the largest difference, and whether every one is within rounding."""

    stage: str
    name: str
    layout: Layout | None = None  # None if no layout fits
    value: np.ndarray | None = None  # the array in attnviz's layout
    expected: np.ndarray | None = None
    off: float = math.inf  # also if either is not a number
    rounding: float = 1.0  # the error that rounding would leave in the largest number of the stage
    agrees: bool = False
    # the part of nonzero numbers that differ: large if rounding is coarser than it seems, small if a few are wrong
    spread: float = 1.0
    shapes: tuple[Shape, Shape] | None = None  # the array's and the stage's, if no layout fits

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray] | None:
        if self.value is None or self.expected is None or self.value.shape != self.expected.shape:
            return None
        return self.value, self.expected

    @property
    def roundings(self) -> float:
        """The largest difference, in units of the expected rounding error."""
        return self.off / self.rounding

    def is_nearer_than(self, before: Agreement) -> bool:
        """Whether a mistake reduces the difference. NaNs don't count: they are near anything."""
        return self.value is not None and bool(np.isfinite(self.value).any()) and self.off <= _NEARER * before.off


Agreements = tuple[Agreement, ...]


def first_differing(stages: Agreements) -> Agreement | None:
    """The first stage that doesn't agree."""
    return next((each for each in stages if not each.agrees), None)


def rank_of(stages: Agreements) -> tuple[int, int]:
    """How many stages agree before the first that differs, and in total."""
    agree = [each.agrees for each in stages]
    return (agree.index(False) if False in agree else len(agree)), sum(agree)


def _agreement(
    array: UserArray, stage: str, ours: Mapping[str, Rounded], candidate: Candidate, precision: Precision
) -> Agreement:
    ways = []
    for form in forms_of(array, stage, candidate):
        if form.target in ours:
            expected = form.align(ours[form.target], candidate)
            for read in form.reads:
                if read.shape == expected.value.shape or stage == "mask":
                    compared, ratio = _compared(array, form, read, expected, precision)
                    ways.append((not compared.agrees, form.target != stage, ratio, compared))
    if ways:
        return min(ways, key=lambda each: each[:3])[3]
    return Agreement(stage, array.name, shapes=(array.value.shape, ours[stage].value.shape))


def _compared(
    array: UserArray, form: Form, value: np.ndarray, ours: Rounded, precision: Precision
) -> tuple[Agreement, float]:
    spend(value.size)
    value, expected = (each.astype(np.float64, copy=False) for each in _as_numbers(value, ours.value))
    off, size = np.abs(value - expected), np.abs(expected)
    if form.read_as == "mask" or form.read_as in score_stages():
        off[(value <= _HIDES) & (expected <= _HIDES)] = 0
    if not math.isfinite(off.max()):
        if precision.format.largest < math.inf:
            beyond = np.abs(expected) + ours.error >= precision.format.largest
            off[np.isinf(value) & beyond & ((value > 0) == (expected > 0))] = 0
        off[_equal_or_both_nan(value, expected)] = 0
        off[np.isnan(off)] = math.inf
    if not math.isfinite(size.max()):
        size[~np.isfinite(size)] = 0
    largest, most = float(off.max()), float(size.max())
    allowed = precision.slack * (ours.error + (precision.format.epsilon * size + precision.format.least))
    if precision.digits:
        allowed += 1.001 * half_step(array.format_and_digits[1], value)
    if precision.is_rough:
        allowed += precision.rough_tolerance * most
    ratios = off / allowed
    ratio = float(ratios.max())
    differing, nonzero = np.count_nonzero(ratios > min(1, ratio / _FAR)), np.count_nonzero(size)
    spread = float(differing) / max(int(nonzero), 1) if ratio > 1 else 0.0
    rounding, agrees = precision.expected(most), not ratio > 1
    agreement = Agreement(form.read_as, array.name, form.layout, value, expected, largest, rounding, agrees, spread)
    return agreement, ratio


@dataclass(frozen=True, eq=False)
class PassComparison:
    """A user's arrays compared with one pass, stage by stage."""

    nodes: Nodes
    values: Mapping[str, Rounded]
    stages: Agreements
    fully_masked: str = FULLY_MASKED[0]  # what a fully masked query gets in the user's pass

    @property
    def agrees(self) -> bool:
        return all(each.agrees for each in self.stages)


def compared_stages(arrays: UserArrays, candidate: Candidate, nodes: Nodes) -> list[str]:
    """The stages of the arrays that are compared, in order."""
    return [stage for stage in arrays if stage in nodes and candidate.compares(stage)]


def compare_pass(
    arrays: UserArrays, candidate: Candidate, nodes: Nodes, precision: Precision, before: PassComparison | None = None
) -> PassComparison:
    """Compare the arrays with a pass, whose fully masked rows are filled as fits best; `before` isn't recomputed."""
    wanted = {name for stage in arrays if stage in nodes for name in targets(stage)} & nodes.keys()
    wanted |= {"masked"} & nodes.keys() if "attention" in nodes else set()
    stages = compared_stages(arrays, candidate, nodes)

    def compared(
        nodes: Nodes, before: tuple[Nodes, Mapping[str, Rounded]] | None, filling: str = FULLY_MASKED[0]
    ) -> PassComparison:
        values = evaluated(nodes, precision, wanted, before)
        agreements = (_agreement(arrays[stage], stage, values, candidate, precision) for stage in stages)
        return PassComparison(nodes, values, tuple(agreements), filling)

    plain = best = compared(nodes, (before.nodes, before.values) if before else None)
    if best.agrees or "masked" not in best.values or not nodes["masked"].inputs or "attention" not in nodes:
        return best
    fully_masked = np.isneginf(best.values["masked"].value).all(axis=-1)
    if fully_masked.any():
        for filling in FULLY_MASKED[1:-1] if fully_masked.all() else FULLY_MASKED[1:]:
            attention = filled(nodes["attention"], filling, nodes["masked"].inputs[0])
            other = compared({**nodes, "attention": attention}, (nodes, plain.values), filling)
            if rank_of(other.stages) > rank_of(best.stages):
                best = other
    return best


def distances(arrays: UserArrays, candidate: Candidate, nodes: Nodes, precision: Precision, n: int) -> np.ndarray:
    """The distance of each of n passes from the arrays: the sum over stages of the largest difference."""
    compared = compared_stages(arrays, candidate, nodes)
    wanted = {name for stage in compared for name in targets(stage)} & nodes.keys()
    values = evaluated(nodes, precision, wanted | ({"masked"} if "attention" in nodes else set()))
    seeing, total = _seeing_in(values.get("masked")), np.zeros(n)
    for stage in compared:
        least = np.full(n, MOST_OFF)
        for form in forms_of(arrays[stage], stage, candidate):
            if form.target in values:
                for off in _largest_differences(form, values[form.target], candidate, seeing):
                    least = np.minimum(least, off)
        total += least
    return total


def _largest_differences(
    form: Form, ours: Rounded, candidate: Candidate, seeing: np.ndarray | None
) -> Iterator[np.ndarray]:
    """The largest difference from our stage, perhaps of several stacked passes, for each way to read the array."""
    aligned = form.align(ours, candidate).value
    for read in form.reads:
        theirs, made = (_seeing(each, form.target, seeing) for each in _as_numbers(read, aligned))
        if theirs.shape != made.shape[-theirs.ndim :] or made.ndim > theirs.ndim + 1:
            continue
        off = np.abs(made - theirs) if theirs.dtype != bool else (made != theirs).astype(float)
        if form.target == "mask" or form.target in score_stages():
            off[(theirs <= _HIDES) & (made <= _HIDES)] = 0
        if not np.isfinite(off).all():
            off[_equal_or_both_nan(theirs, made)] = 0
        off = off.max(axis=tuple(range(-theirs.ndim, 0)), initial=0.0)
        yield np.where(off <= MOST_OFF, off, MOST_OFF)  # so is what is no number


def _seeing_in(masked: Rounded | None) -> np.ndarray | None:
    """Which queries see a key, as implementations differ on fully masked rows; None if all do."""
    if masked is None:
        return None
    fully_masked = np.isneginf(masked.value).all(axis=-1)
    if not fully_masked.any():
        return None
    return ~np.asarray(fully_masked.reshape(-1, fully_masked.shape[-1]).any(axis=0))


def _seeing(rows: np.ndarray, stage: str, seeing: np.ndarray | None) -> np.ndarray:
    fits = seeing is not None and _has_queries(stage) and rows.ndim > 1 and rows.shape[-2] == len(seeing)
    return rows[..., seeing, :] if fits else rows


def _has_queries(stage: str) -> bool:
    """Whether a stage has one row per query."""
    return stage == "mask" or stages().get(stage, ())[-2:-1] in (("query",), ("token",))


# --- A few rows, which rule out most mistakes quickly

_ROUNDINGS = 1e5  # no correct number is off by so many rounding errors
ROWS = 8  # how many rows are compared
# Stages whose rows depend on the same query's rows alone, and on all keys
_ROW_BY_ROW = {"scores", "scaled", "capped", "masked", "attention", "heads", "concat", "output", "residual"}
_ROW_BY_ROW |= {"mlp_norm", "hidden", "active", "mlp", "mlp_residual"}


@dataclass(frozen=True, eq=False)
class Prefilter:
    """A quick test in float32 whether changed passes come near an array that differs, and near those that agree."""

    arrays: UserArrays
    candidate: Candidate
    precision: Precision
    nodes: Nodes  # the pass before it is changed
    differs: str
    agree: frozenset[str] = frozenset()
    _forms: dict[str, list[tuple[Form, float]]] = field(default_factory=dict, repr=False)

    def accepts(self, nodes: Nodes) -> bool:
        return bool(self.accepts_each(nodes).all())

    def accepts_each(self, nodes: Nodes) -> np.ndarray:
        """Which of several passes, stacked on a leading axis, come near."""
        rows = _Rows(self, nodes)
        seeing = self._before.seeing if rows.hide_as_before else rows.seeing
        near = np.ones((), dtype=bool)
        for stage in (self.differs, *self.agree):
            near = near & self._is_near(stage, rows, seeing)
            if not near.any():
                break
        return near

    @cached_property
    def tolerance(self) -> float:
        """The allowed difference relative to the largest number: angles in float32 are imprecise."""
        return min(_ROUNDINGS * max(self.precision.format.epsilon, FLOAT32.epsilon), self.precision.rough_tolerance)

    @cached_property
    def rough(self) -> Precision:
        return replace(self.precision, is_rough=True, is_single=True)

    @cached_property
    def _before(self) -> _Rows:
        return _Rows(self, self.nodes)

    @cached_property
    def dependencies(self) -> Mapping[str, set[str]]:
        """Each stage with everything it is computed from."""
        all_of: dict[str, set[str]] = {}
        for name, node in self.nodes.items():
            all_of[name] = {name}.union(*(all_of[each] for each in node.inputs))
        return all_of

    def some_rows(self, rows: np.ndarray) -> np.ndarray:
        n = self.candidate.sizes.get("t")
        return rows[..., self._queries, :] if rows.ndim > 1 and rows.shape[-2] == n else rows

    @cached_property
    def _queries(self) -> np.ndarray:
        n = self.candidate.sizes.get("t", 1)
        return np.unique(np.linspace(0, n - 1, min(n, ROWS)).astype(int))  # evenly spaced

    def _is_near(self, stage: str, rows: _Rows, seeing: np.ndarray | None) -> np.ndarray | bool:
        """Whether an array is near one of the stages that it may be, in any layout."""
        if stage != self.differs and all(rows.is_as_before(each) for each in targets(stage)):
            return True
        if stage not in self._forms:
            self._forms[stage] = [self._in_part(each) for each in forms_of(self.arrays[stage], stage, self.candidate)]
        near = np.zeros((), dtype=bool)
        for form, largest in self._forms[stage]:
            if form.target not in rows:
                continue
            for off in _largest_differences(form, rows[form.target], self.candidate, seeing):
                near = near | (off <= self.tolerance * largest)
                if near.all():
                    return near
        return near

    def _in_part(self, form: Form) -> tuple[Form, float]:
        reads = tuple(self.some_rows(each) if _has_queries(form.target) else each for each in form.reads)
        numbers = reads[0][np.isfinite(reads[0])]
        return replace(form, reads=reads), float(np.abs(numbers, dtype=float).max(initial=0.0))


class _Rows:
    """The compared rows of a changed pass, computed on demand.

    Stages that mix rows are computed whole. Stages that nothing changed are taken from the unchanged pass.
    """

    def __init__(self, prefilter: Prefilter, nodes: Nodes):
        self._prefilter: Prefilter = proxy(prefilter)  # which keeps rows itself: a cycle would hold all of a search
        self._nodes = nodes
        self._changed = {name for name, node in nodes.items() if node is not prefilter.nodes.get(name)}
        self._whole: dict[str, Rounded] = {}
        self._some: dict[str, Rounded] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._nodes

    def __getitem__(self, name: str) -> Rounded:
        if name not in self._some:
            self._some[name] = self._prefilter._before[name] if self.is_as_before(name) else self._made(name)
        return self._some[name]

    @property
    def seeing(self) -> np.ndarray | None:
        is_hidden = "masked" in self._nodes and "attention" in self._prefilter.nodes
        return _seeing_in(self["masked"]) if is_hidden else None

    @property
    def hide_as_before(self) -> bool:
        return bool(self._changed) and self._changed.isdisjoint(("mask", "masked"))

    def is_as_before(self, name: str) -> bool:
        inputs = self._prefilter.dependencies.get(name) or {name}
        return bool(self._changed) and (name not in self._nodes or inputs.isdisjoint(self._changed))

    def _made(self, name: str) -> Rounded:
        node, prefilter = self._nodes[name], self._prefilter
        if name not in _ROW_BY_ROW or not node.operation or "running_output" in node.inputs:
            whole = self._made_whole(name)
            return whole.map(prefilter.some_rows) if _has_queries(name) else whole
        return node.made([self[each] for each in node.inputs], prefilter.rough)

    def _made_whole(self, name: str) -> Rounded:
        if name not in self._whole:
            if self.is_as_before(name):
                self._whole[name] = self._prefilter._before._made_whole(name)
            else:
                node = self._nodes[name]
                self._whole[name] = node.made([self._made_whole(each) for each in node.inputs], self._prefilter.rough)
        return self._whole[name]
