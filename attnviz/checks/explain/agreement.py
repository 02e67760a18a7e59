"""Agreement: whether a user's array equals a stage of attnviz's pass, up to rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.checks.explain.candidates import Candidate
from attnviz.checks.explain.nodes import Nodes, evaluated
from attnviz.checks.read.arrays import OwnArray, OwnArrays
from attnviz.checks.read.budget import spend
from attnviz.checks.read.layouts import Layout
from attnviz.checks.read.masks import HIDES
from attnviz.checks.read.rounding import Precision, Rounded, half_step
from attnviz.checks.read.stages import GAINS, score_stages, stages

_NEARER = 0.5  # the part of a difference that an explaining mistake leaves, at most
_FAR = 8.0  # differences within 1/8 of the largest count for `spread`
_HIDES = HIDES / 2  # scores below stand for −∞: a score plus what hides a key


def targets(stage: str) -> tuple[str, ...]:
    """The stages that an array of this name may be: many people call masked scores "scores" or "scaled"."""
    if stage in ("scores", "scaled"):
        return score_stages()[score_stages().index(stage) :]
    return (stage, f"{stage}_normed", f"{stage}_rotated") if stage in ("q", "k") else (stage,)


@dataclass(frozen=True, eq=False)
class Agreement:
    """A stage compared with a user's array.

    Attributes
    ----------
    layout : Layout or None
        How the array was read; None if no layout fits.
    value, expected : ndarray or None
        The array in attnviz's layout, and the stage.
    off : float
        The largest difference; inf if either is not a number, or no layout fits.
    rounding : float
        The error that rounding would leave in the largest number of the stage.
    agrees : bool
        Whether every difference is within rounding.
    spread : float
        The part of nonzero numbers that differ by more than rounding, or by more than 1/8 of the largest difference.
        Large if the rounding is coarser than it seems, small if a few numbers are wrong.
    shapes : tuple of two shapes, or None
        The array's and the stage's, if no layout fits.
    """

    stage: str
    name: str
    layout: Layout | None
    value: np.ndarray | None
    expected: np.ndarray | None
    off: float
    rounding: float
    agrees: bool
    spread: float
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @classmethod
    def of_shapes(cls, stage: str, own: OwnArray, expected: np.ndarray) -> Agreement:
        """An array whose shape, or order of axes, differs from the stage's."""
        shapes = own.value.shape, expected.shape
        return cls(stage, own.name, None, None, None, math.inf, 1.0, False, 1.0, shapes)

    @property
    def roundings(self) -> float:
        """The largest difference, in units of the expected rounding error."""
        return self.off / self.rounding

    def is_nearer_than(self, before: Agreement) -> bool:
        """Whether a mistake reduces the difference. NaNs don't count: they are near anything."""
        return self.value is not None and np.isfinite(self.value).any() and self.off <= _NEARER * before.off


def agreement(
    own: OwnArray, stage: str, ours: Mapping[str, Rounded], candidate: Candidate, precision: Precision
) -> Agreement:
    """Compare an array with a stage, in the layout that fits best."""
    agreements: list[tuple[bool, bool, float, Agreement]] = []
    for target, read_as, layout, read, expected in aligned(own, stage, ours, candidate):
        if read.shape == expected.value.shape or stage == "mask":
            compared, ratio = _compared(own, read_as, layout, read, expected, precision)
            agreements.append((not compared.agrees, target != stage, ratio, compared))
    if agreements:
        return min(agreements, key=lambda each: each[:3])[3]
    return Agreement.of_shapes(stage, own, ours[stage].value)


def aligned(
    own: OwnArray, stage: str, ours: Mapping[str, Rounded], candidate: Candidate
) -> Iterator[tuple[str, str, Layout, np.ndarray, Rounded]]:
    """Each stage that an array may be: its name, the name it was read as, the layout, the array, and our stage.

    Our stages may hold several passes, on an axis before the others.
    """
    for form in forms_of(own, stage, candidate):
        if form.target in ours:
            expected = form.align(ours[form.target], candidate)
            for read in form.reads:
                yield form.target, form.read_as, form.layout, read, expected


@dataclass(frozen=True, eq=False)
class Form:
    """One way to read an array as one of the stages that it may be.

    Attributes
    ----------
    target, read_as : str
        The stage, and the one whose layouts are used to read the array.
    reads : tuple of ndarray
        The array's values; two readings for masks and gains.
    """

    target: str
    read_as: str
    layout: Layout
    reads: tuple[np.ndarray, ...]

    def align(self, ours: Rounded, candidate: Candidate) -> Rounded:
        """Our stage in the array's layout: averaged over heads, or repeated for each head."""
        if self.layout.is_averaged and candidate.sizes["h"] > 1:
            ours = _averaged(ours)
        axes = stages()[self.target]
        return _for_each_head(ours, self.reads[0], len(axes)) if axes[:1] == ("head",) else ours


def forms_of(own: OwnArray, stage: str, candidate: Candidate) -> Iterator[Form]:
    """The ways to read an array as one of the stages that it may be."""
    for target in targets(stage):
        read_as = target if stage in ("scores", "scaled") else stage
        for layout, value in candidate.forms(own, read_as):
            yield Form(target, read_as, layout, _meanings(stage, value))


def both_hide(stage: str, yours: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Where both arrays hold scores of hidden keys."""
    return (yours <= _HIDES) & (ours <= _HIDES) & (stage in (*score_stages(), "mask"))


def _compared(
    own: OwnArray, stage: str, layout: Layout, value: np.ndarray, ours: Rounded, precision: Precision
) -> tuple[Agreement, float]:
    spend(value.size)
    expected = ours.value
    if expected.dtype != value.dtype:  # a mask that selects, beside one that is added
        value, expected = (np.where(each, 0.0, -np.inf) if each.dtype == bool else each for each in (value, expected))
    expected, value = expected.astype(np.float64, copy=False), value.astype(np.float64, copy=False)
    off, size = np.abs(value - expected), np.abs(expected)
    if stage == "mask" or stage in score_stages():
        off[(value <= _HIDES) & (expected <= _HIDES)] = 0
    if not math.isfinite(off.max()):
        if precision.format.largest < math.inf:
            beyond = np.abs(expected) + ours.error >= precision.format.largest
            off[np.isinf(value) & beyond & ((value > 0) == (expected > 0))] = 0
        off[(value == expected) | (np.isnan(value) & np.isnan(expected))] = 0
        off[np.isnan(off)] = math.inf
    if not math.isfinite(size.max()):
        size[~np.isfinite(size)] = 0
    largest, most = float(off.max()), float(size.max())
    allowed = precision.slack * (ours.error + (precision.epsilon * size + precision.least))
    if precision.digits:
        allowed += 1.001 * half_step(own.digits, value)
    if precision.is_rough:
        allowed += precision.rough_tolerance * most
    ratios = off / allowed
    ratio = float(ratios.max())
    spread = np.count_nonzero(ratios > min(1, ratio / _FAR)) / max(np.count_nonzero(size), 1) if ratio > 1 else 0.0
    agrees = not ratio > 1
    return (
        Agreement(stage, own.name, layout, value, expected, largest, precision.expected(most), agrees, spread),
        ratio,
    )


def _meanings(stage: str, value: np.ndarray) -> tuple[np.ndarray, ...]:
    """The readings of an array: a Boolean mask and its inverse, a gain and the gain + 1 of Gemma."""
    if value.dtype == bool:
        return value, ~value
    return (value, 1 + value) if stage in GAINS else (value,)


def _for_each_head(ours: Rounded, value: np.ndarray, n_axes: int) -> Rounded:
    """A stage that heads share, repeated for each head if the array is."""
    n_groups = ours.value.shape[-n_axes] if ours.value.ndim >= n_axes == value.ndim > 1 else len(value)
    if n_groups == len(value) or len(value) % n_groups:
        return ours
    return ours.map(lambda array: np.repeat(array, len(value) // n_groups, axis=-n_axes))


def _averaged(rounded: Rounded) -> Rounded:
    return rounded.map(lambda array: array.mean(axis=-3))


ANYTHING = 1e9  # larger differences are all alike


def distances(own: OwnArrays, candidate: Candidate, nodes: Nodes, precision: Precision, n: int) -> np.ndarray:
    """The distance of each of n passes from the arrays: the sum over stages of the largest difference."""
    compared = [stage for stage in own if stage in nodes and not candidate.begins_with(stage)]
    wanted = {name for stage in compared for name in targets(stage)}.intersection(nodes)
    values = evaluated(nodes, precision, wanted.union({"masked"} if "attention" in nodes else ()))
    seeing, total = seeing_in(values), np.zeros(n)
    for stage in compared:
        least = np.full(n, ANYTHING)
        for target, _, _, read, expected in aligned(own[stage], stage, values, candidate):
            yours, ours = as_numbers(read, expected.value)
            if is_of_queries(target):
                yours, ours = rows_that_see(yours, seeing), rows_that_see(ours, seeing)
            if yours.shape == ours.shape[-yours.ndim :]:
                least = np.minimum(least, _off(yours, ours, target))
        total += least
    return total


def seeing_in(values: Mapping[str, Rounded]) -> np.ndarray | None:
    """Which queries see a key, as implementations differ on fully masked rows; None if all do."""
    if "masked" not in values:
        return None
    fully_masked = np.isneginf(values["masked"].value).all(axis=-1)
    return ~fully_masked.reshape(-1, fully_masked.shape[-1]).any(axis=0) if fully_masked.any() else None


def rows_that_see(rows: np.ndarray, seeing: np.ndarray | None) -> np.ndarray:
    """The rows of queries that see a key."""
    fits = seeing is not None and rows.ndim > 1 and rows.shape[-2] == len(seeing)
    return rows[..., seeing, :] if fits else rows


def is_of_queries(stage: str) -> bool:
    """Whether a stage has one row per query."""
    return stage == "mask" or stages().get(stage, ())[-2:-1] in (("query",), ("token",))


def as_numbers(yours: np.ndarray, ours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays; if only one is Boolean, both as additive masks."""
    if yours.dtype == bool != ours.dtype or ours.dtype == bool != yours.dtype:
        yours, ours = (np.where(each, 0.0, -np.inf) if each.dtype == bool else each for each in (yours, ours))
    return yours, ours


def _off(yours: np.ndarray, ours: np.ndarray, stage: str) -> np.ndarray:
    off = np.abs(ours - yours) if yours.dtype != bool else (ours != yours).astype(float)
    off[both_hide(stage, yours, ours)] = 0
    if not np.isfinite(off).all():
        off[(yours == ours) | (np.isnan(yours) & np.isnan(ours))] = 0
    off = off.max(axis=tuple(range(-yours.ndim, 0)), initial=0.0)
    return np.where(off <= ANYTHING, off, ANYTHING)  # so is what is no number
