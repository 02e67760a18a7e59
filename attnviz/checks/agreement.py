"""Agreement: whether someone's array is a stage of ours, but for rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.checks.arrays import OwnArray
from attnviz.checks.batches import made
from attnviz.checks.candidates import Candidate
from attnviz.checks.layouts import Layout
from attnviz.checks.masks import HIDES
from attnviz.checks.rounding import Precision, Rounded, half_step
from attnviz.checks.stages import GAINS, score_stages, stages

_NEARER = 0.5
"""The part of a difference that a mistake which explains it leaves, at most."""

_FAR = 8.0
"""By so many times fewer roundings others may be off than the furthest where all are rounded alike."""

_HIDES = HIDES / 2
"""Scores from here on downwards stand for -inf: what is added to hide a key is added to a score."""


def targets(stage: str) -> tuple[str, ...]:
    """The stages that an array of a stage's name may be: many call scores, or scaled, what is masked already."""
    if stage in ("scores", "scaled"):
        return score_stages()[score_stages().index(stage) :]
    return (stage, f"{stage}_normed", f"{stage}_rotated") if stage in ("q", "k") else (stage,)


@dataclass(frozen=True, eq=False)
class Agreement:
    """A stage beside someone's array.

    Attributes
    ----------
    stage : str
        The stage that it was compared with.
    name : str
        What they call the array.
    layout : Layout or None
        How it was read; None if no layout fits.
    value : ndarray or None
        The array as attnviz lays it out.
    expected : ndarray or None
        What it was compared with.
    off : float
        The largest difference; inf where one of the two is no number, or no layout fits.
    rounding : float
        What rounding would leave of the largest number of the stage.
    agrees : bool
        Whether no number is further off than rounding explains.
    spread : float
        How many numbers are further off than rounding explains, or than an eighth of what the furthest is, in parts of
        those that aren't 0: many where rounding is coarser than it seems, few where a few numbers are wrong.
    shapes : tuple of two shapes, or None
        Theirs and that of the stage, where no layout fits.
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
        """An array that has another shape than the stage, or its axes in another order."""
        shapes = own.value.shape, expected.shape
        return cls(stage, own.name, None, None, None, math.inf, 1.0, False, 1.0, shapes)

    @property
    def roundings(self) -> float:
        """The largest difference in units of what rounding would leave."""
        return self.off / self.rounding

    def is_nearer_than(self, before: Agreement) -> bool:
        """Whether a mistake brings it nearer, not its bounds further apart: what isn't a number is near anything."""
        return self.value is not None and np.isfinite(self.value).any() and self.off <= _NEARER * before.off


def agreement(
    own: OwnArray, stage: str, ours: Mapping[str, Rounded], candidate: Candidate, precision: Precision
) -> Agreement:
    """How an array compares with a stage, in the layout in which it is nearest."""
    agreements: list[tuple[bool, bool, float, Agreement]] = []
    for target, read_as, layout, read, expected in beside(own, stage, ours, candidate):
        if read.shape == expected.value.shape or stage == "mask":
            compared, ratio = _compared(own, read_as, layout, read, expected, precision)
            agreements.append((not compared.agrees, target != stage, ratio, compared))
    if agreements:
        return min(agreements, key=lambda each: each[:3])[3]
    return Agreement.of_shapes(stage, own, ours[stage].value)


def beside(
    own: OwnArray, stage: str, ours: Mapping[str, Rounded], candidate: Candidate
) -> Iterator[tuple[str, str, Layout, np.ndarray, Rounded]]:
    """Each stage that an array may be, as what and in which layout it is read then, and it beside our stage.

    Ours may be of several passes at once, on an axis before the others.
    """
    for form in forms_of(own, stage, candidate):
        if form.target in ours:
            expected = form.beside(ours[form.target], candidate)
            for read in form.reads:
                yield form.target, form.read_as, form.layout, read, expected


@dataclass(frozen=True, eq=False)
class Form:
    """One way of reading an array, as one of the stages that it may be.

    Attributes
    ----------
    target, read_as : str
        The stage that it may be, and the one whose layouts it is read in.
    layout : Layout
    reads : tuple of ndarray
        What it holds then, of a mask and of a gain in two ways.
    """

    target: str
    read_as: str
    layout: Layout
    reads: tuple[np.ndarray, ...]

    def beside(self, ours: Rounded, candidate: Candidate) -> Rounded:
        """Our stage as it is laid out: averaged, or once for each head."""
        if self.layout.is_averaged and candidate.sizes["h"] > 1:
            ours = _averaged(ours)
        axes = stages()[self.target]
        return _for_each_head(ours, self.reads[0], len(axes)) if axes[:1] == ("head",) else ours


def forms_of(own: OwnArray, stage: str, candidate: Candidate) -> Iterator[Form]:
    """The ways of reading an array as one of the stages that it may be."""
    for target in targets(stage):
        read_as = target if stage in ("scores", "scaled") else stage
        for layout, value in candidate.forms(own, read_as):
            yield Form(target, read_as, layout, _meanings(stage, value))


def both_hide(stage: str, yours: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Where both are scores that hide a key."""
    return (yours <= _HIDES) & (ours <= _HIDES) & (stage in (*score_stages(), "mask"))


def _compared(
    own: OwnArray, stage: str, layout: Layout, value: np.ndarray, ours: Rounded, precision: Precision
) -> tuple[Agreement, float]:
    made(value.size)
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
        allowed += precision.nearness * most
    ratios = off / allowed
    ratio = float(ratios.max())
    spread = np.count_nonzero(ratios > min(1, ratio / _FAR)) / max(np.count_nonzero(size), 1) if ratio > 1 else 0.0
    agrees = not ratio > 1
    return (
        Agreement(stage, own.name, layout, value, expected, largest, precision.expected(most), agrees, spread),
        ratio,
    )


def _meanings(stage: str, value: np.ndarray) -> tuple[np.ndarray, ...]:
    """The ways of reading an array: of a mask both, and of a gain with the 1 that Gemma adds to it."""
    if value.dtype == bool:
        return value, ~value
    return (value, 1 + value) if stage in GAINS else (value,)


def _for_each_head(ours: Rounded, value: np.ndarray, n_axes: int) -> Rounded:
    """A stage that several heads share, once for each of them, beside an array that has it so."""
    n_groups = ours.value.shape[-n_axes] if ours.value.ndim >= n_axes == value.ndim > 1 else len(value)
    if n_groups == len(value) or len(value) % n_groups:
        return ours
    return ours.map(lambda array: np.repeat(array, len(value) // n_groups, axis=-n_axes))


def _averaged(rounded: Rounded) -> Rounded:
    return rounded.map(lambda array: array.mean(axis=-3))
