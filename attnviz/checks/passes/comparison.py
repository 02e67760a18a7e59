"""Comparison: whether the user's arrays equal the stages of a pass, up to rounding."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from attnviz.checks.passes.candidates import Candidate
from attnviz.checks.passes.nodes import ANYTHING, FULLY_MASKED, Node, Nodes, evaluated, filled, nodes_of
from attnviz.checks.passes.rows import Rows, has_queries
from attnviz.checks.read.formats import half_step
from attnviz.checks.read.layouts import GAINS, Layout, score_stages, stages
from attnviz.checks.read.limits import spend
from attnviz.checks.read.masks import HIDES, as_added
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.checks.read.user_arrays import UserArray, UserArrays
from attnviz.core.parameters import ALL_AXES
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

_NEARER = 0.5  # the part of a difference that an explaining mistake leaves, at most
_TINY = 16.0  # differences of fewer roundings may be of numbers that are right
_SPREAD_RANGE = 8.0  # differences within 1/8 of the largest count for `spread`
_BEFORE_SCORES = {"x", "context", *(f"{letter}{kind}" for letter in "qkv" for kind in ("", "_normed", "_rotated"))}
_BEFORE_SCORES |= set(ALL_AXES)
AS_HIDDEN = HIDES / 2  # scores below stand for −∞: a score plus what hides a key


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
        if (
            axes[1:2] == ("key",) and value.ndim > 1 and value.shape[-2] < ours.value.shape[-2]
        ):  # a decode step's new keys
            ours = ours.map(lambda array: array[..., -value.shape[-2] :, :])
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


def equal_or_both_nan(yours: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Where both arrays are the same, NaN and infinity included."""
    return (yours == ours) | (np.isnan(yours) & np.isnan(ours))


def as_numbers(yours: np.ndarray, ours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    off: float = math.inf  # also infinite if either is NaN
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
        is_tiny = self.agrees and before.roundings < _TINY  # as a weight of e^-30 is, beside the rounding of others
        is_near = is_tiny or self.off <= _NEARER * before.off
        return self.value is not None and bool(np.isfinite(self.value).any()) and is_near


Agreements = tuple[Agreement, ...]


def first_differing(stages: Agreements) -> Agreement | None:
    """The first stage that doesn't agree."""
    return next((each for each in stages if not each.agrees), None)


def rank_of(stages: Agreements) -> tuple[int, int]:
    """How many stages agree before the first that differs, and in total."""
    agree = [each.agrees for each in stages]
    return (agree.index(False) if False in agree else len(agree)), sum(agree)


def magnitude(off: float) -> float:
    """The log of a difference, rounded so that rounding errors don't break ties."""
    return round(math.log1p(min(off, 1e300) / np.finfo(float).eps), 3)


def _agreement(
    array: UserArray,
    stage: str,
    ours: Mapping[str, Rounded],
    candidate: Candidate,
    precision: Precision,
    rows: Rows | None,
) -> Agreement:
    """An array compared with a stage, of which `ours` has these rows alone, if any are given."""
    ways = []
    for form in forms_of(array, stage, candidate):
        if form.target in ours:
            expected = form.align(ours[form.target], candidate)
            for read in map(rows.cut, form.reads) if rows and has_queries(form.target) else form.reads:
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
    value, expected = (each.astype(np.float64, copy=False) for each in as_numbers(value, ours.value))
    off, size = np.abs(value - expected), np.abs(expected)  # changed in place from here on: they may be large
    if form.read_as == "mask" or form.read_as in score_stages():
        hidden = (value <= AS_HIDDEN) & (expected <= AS_HIDDEN)
        off[hidden] = size[hidden] = 0  # a mask of 3.4e38 would allow any difference
    if not math.isfinite(off.max()):
        if precision.format.largest < math.inf:
            beyond = np.abs(expected) + ours.error >= precision.format.largest
            off[np.isinf(value) & beyond & ((value > 0) == (expected > 0))] = 0
        off[equal_or_both_nan(value, expected)] = 0
        off[np.isnan(off)] = math.inf
    if not math.isfinite(size.max()):
        size[~np.isfinite(size)] = 0
    largest, most = float(off.max()), float(size.max())
    nonzero = np.count_nonzero(size)
    if precision.tolerance:
        # except rows of queries that see no key, which each implementation fills differently
        allowed = np.where(ours.error < ANYTHING / 2, precision.tolerance.allowed(size), np.inf)
    else:
        allowed = np.multiply(size, precision.format.epsilon, out=size)
        allowed += precision.format.least
        allowed += ours.error
        allowed *= precision.slack
        if precision.digits:
            allowed += 1.001 * half_step(array.format_and_digits[1], value)
    if precision.is_rough:
        allowed += precision.rough_tolerance * most
    ratios = np.divide(off, allowed, out=off)
    ratio = float(ratios.max())
    differing = np.count_nonzero(ratios > min(1, ratio / _SPREAD_RANGE))
    spread = float(differing) / max(int(nonzero), 1) if ratio > 1 else 0.0
    rounding, agrees = precision.expected(most), not ratio > 1
    agreement = Agreement(form.read_as, array.name, form.layout, value, expected, largest, rounding, agrees, spread)
    return agreement, ratio


# --- Whole passes


@dataclass(frozen=True, eq=False)
class PassComparison:
    """A user's arrays compared with one pass, stage by stage."""

    candidate: Candidate
    precision: Precision
    nodes: Nodes  # empty, like `values`, if the pass is too large to keep
    values: Mapping[str, Rounded]
    stages: Agreements
    fully_masked: str = FULLY_MASKED[0]  # what a fully masked query gets in the user's pass

    @property
    def agrees(self) -> bool:
        return self.first_difference is None

    @property
    def first_difference(self) -> Agreement | None:
        return first_differing(self.stages)

    @property
    def rank(self) -> tuple[int, int]:
        return rank_of(self.stages)

    def without_large_values(self) -> PassComparison:
        """The comparison without the values of a large pass, to keep while others are made."""
        if not self.candidate.is_large:
            return self
        self.candidate.forget()
        return replace(self, nodes={}, values={})


def compared_stages(arrays: UserArrays, candidate: Candidate, nodes: Nodes) -> list[str]:
    """The stages of the arrays that are compared, in order."""
    return [stage for stage in arrays if stage in nodes and candidate.compares(stage)]


@dataclass(frozen=True, eq=False)
class Comparer:
    """Compares a user's arrays with passes in one precision; what several passes share is computed once."""

    arrays: UserArrays
    precision: Precision
    _of_traces: dict[Trace, dict[str, Node]] = field(default_factory=dict, repr=False)
    # with the arrays themselves, so that no other array reuses an id in the key
    _shared: dict[Hashable, tuple[Node, object]] = field(default_factory=dict, repr=False)
    # for large passes, the values before scores
    _known: dict[Node, Rounded] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def rough(self) -> Comparer:
        """The comparer for differences of a quarter and more: quicker, as it propagates no errors."""
        return replace(self, precision=replace(self.precision, is_rough=True))

    def nodes(self, candidate: Candidate) -> dict[str, Node]:
        """The nodes of a candidate's pass, rotated by its rotation."""
        nodes = self.unrotated_nodes(candidate)
        return candidate.rotation.nodes(nodes) if candidate.rotation else nodes

    def unrotated_nodes(self, candidate: Candidate) -> dict[str, Node]:
        """The nodes of a candidate's pass without its rotation; passes share common nodes."""
        if candidate.trace not in self._of_traces:
            nodes: dict[str, Node] = {}
            read: Mapping = candidate.reading.arrays if candidate.reading else {}
            for name, node in nodes_of(candidate.trace, self.read).items():
                inputs = tuple(id(nodes[each]) for each in node.inputs)
                if candidate.is_large and name not in _BEFORE_SCORES:
                    nodes[name] = node  # not shared: each would stay in memory
                    continue
                given = read.get(name, candidate.reading or candidate.trace)
                source = node.operation or id(given)
                nodes[name], _ = self._shared.setdefault((name, source, inputs), (node, given))
            if candidate.is_large:
                return nodes
            self._of_traces[candidate.trace] = nodes
        return self._of_traces[candidate.trace]

    def read(self, stage: Stage) -> Rounded:
        """A given stage, with the rounding error of its format or digits."""
        spend(stage.size)
        array, fewest = self.arrays.get(stage.name), self.precision.digits
        digits = array.format_and_digits[1] if array and fewest else None
        return Rounded.read(stage.value, self.precision, digits if digits and fewest and digits.n >= fewest.n else None)

    def compare(
        self, candidate: Candidate, nodes: Nodes | None = None, before: PassComparison | None = None
    ) -> PassComparison:
        """Compare the arrays with a pass, or with its changed nodes; the unchanged ones are taken from `before`.

        Fully masked rows are filled as fits best.
        """
        if nodes is None:
            nodes = self.nodes(candidate)
            if candidate.is_large:
                known = {name: self._known[node] for name, node in nodes.items() if node in self._known}
                before = PassComparison(candidate, self.precision, nodes, known, ())
        return self._best_filled(candidate, nodes, before)

    def sampled(self, candidate: Candidate) -> PassComparison:
        """Compare a few rows of the arrays with those of a large pass."""
        nodes = self.nodes(candidate)
        rows = Rows(nodes, self.precision, candidate.sizes.get("t", 1), known=self._known)
        comparison = self._best_filled(candidate, nodes, None, rows)
        self._known.update({nodes[name]: rows.whole[name] for name in _BEFORE_SCORES & rows.whole.keys()})
        return replace(comparison, nodes={}, values={})

    def _best_filled(
        self, candidate: Candidate, nodes: Nodes, before: PassComparison | None, rows: Rows | None = None
    ) -> PassComparison:
        best = plain = self._filled(candidate, nodes, before, rows)
        if best.agrees or "masked" not in best.values or not nodes["masked"].inputs or "attention" not in nodes:
            return best
        fully_masked = np.isneginf(best.values["masked"].value).all(axis=-1)
        if fully_masked.any():
            for filling in FULLY_MASKED[1:-1] if fully_masked.all() else FULLY_MASKED[1:]:
                attention = filled(nodes["attention"], filling, nodes["masked"].inputs[0])
                other = self._filled(candidate, {**nodes, "attention": attention}, plain, rows, filling)
                if other.rank > best.rank:
                    best = other
        return best

    def _filled(
        self,
        candidate: Candidate,
        nodes: Nodes,
        before: PassComparison | None,
        rows: Rows | None,
        filling: str = FULLY_MASKED[0],
    ) -> PassComparison:
        arrays, precision = self.arrays, self.precision
        wanted = {name for stage in arrays if stage in nodes for name in targets(stage)} & nodes.keys()
        wanted |= {"masked"} & nodes.keys() if "attention" in nodes else set()
        if rows:
            rows = rows if nodes is rows.nodes else Rows(nodes, precision, rows.n_tokens, rows)
            values: Mapping[str, Rounded] = {name: rows.sampled(name) for name in wanted}
        else:
            values = evaluated(nodes, precision, wanted, (before.nodes, before.values) if before else None)
        stages = compared_stages(arrays, candidate, nodes)
        agreements = tuple(_agreement(arrays[stage], stage, values, candidate, precision, rows) for stage in stages)
        return PassComparison(candidate, precision, nodes, values, agreements, filling)

    def with_values(self, comparison: PassComparison) -> PassComparison:
        """A comparison with its values, made again if they weren't kept."""
        return comparison if comparison.nodes else self.compare(comparison.candidate)
