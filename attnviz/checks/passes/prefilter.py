"""Prefilter: quick tests, without rounding errors, of whether one or several stacked passes come near the arrays."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from attnviz.checks.passes.candidates import Candidate
from attnviz.checks.passes.comparison import (
    AS_HIDDEN,
    Comparer,
    Form,
    as_numbers,
    compared_stages,
    equal_or_both_nan,
    forms_of,
    targets,
)
from attnviz.checks.passes.nodes import Nodes, evaluated
from attnviz.checks.passes.rows import Rows, has_queries
from attnviz.checks.read.formats import FLOAT32
from attnviz.checks.read.layouts import score_stages
from attnviz.checks.read.rounding import Rounded

MOST_OFF = 1e9  # larger differences are all alike
_ROUNDINGS = 1e5  # no correct number is off by so many rounding errors


def distances(comparer: Comparer, candidate: Candidate, nodes: Nodes, n: int) -> np.ndarray:
    """The distance of each of n stacked passes from the arrays: the sum over stages of the largest difference."""
    arrays, compared = comparer.arrays, compared_stages(comparer.arrays, candidate, nodes)
    wanted = {name for stage in compared for name in targets(stage)} & nodes.keys()
    values = evaluated(nodes, comparer.rough.precision, wanted | ({"masked"} if "attention" in nodes else set()))
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
        theirs, made = (_seeing(each, form.target, seeing) for each in as_numbers(read, aligned))
        if theirs.shape != made.shape[-theirs.ndim :] or made.ndim > theirs.ndim + 1:
            continue
        off = np.abs(made - theirs) if theirs.dtype != bool else (made != theirs).astype(float)
        if form.target == "mask" or form.target in score_stages():
            off[(theirs <= AS_HIDDEN) & (made <= AS_HIDDEN)] = 0
        if not np.isfinite(off).all():
            off[equal_or_both_nan(theirs, made)] = 0
        off = off.max(axis=tuple(range(-theirs.ndim, 0)), initial=0.0)
        yield np.where(off <= MOST_OFF, off, MOST_OFF)  # NaN becomes MOST_OFF, too


def _seeing_in(masked: Rounded | None) -> np.ndarray | None:
    """Which queries see a key; None if all do. Implementations differ on fully masked rows."""
    if masked is None:
        return None
    fully_masked = np.isneginf(masked.value).all(axis=-1)
    if not fully_masked.any():
        return None
    return ~np.asarray(fully_masked.reshape(-1, fully_masked.shape[-1]).any(axis=0))


def _seeing_rows(rows: Rows) -> np.ndarray | None:
    return _seeing_in(rows.sampled("masked")) if "masked" in rows.nodes else None


def _seeing(rows: np.ndarray, stage: str, seeing: np.ndarray | None) -> np.ndarray:
    fits = seeing is not None and has_queries(stage) and rows.ndim > 1 and rows.shape[-2] == len(seeing)
    return rows[..., seeing, :] if fits else rows


# --- A few rows, which rule out most mistakes


@dataclass(frozen=True, eq=False)
class Prefilter:
    """A quick test in float32 whether changed passes come near an array that differs, and near those that agree."""

    comparer: Comparer
    candidate: Candidate
    nodes: Nodes  # the pass before it is changed
    differs: str
    agree: frozenset[str] = frozenset()
    _forms: dict[str, list[tuple[Form, float]]] = field(default_factory=dict, repr=False)

    def accepts(self, nodes: Nodes) -> bool:
        return bool(self.accepts_each(nodes).all())

    def accepts_each(self, nodes: Nodes) -> np.ndarray:
        """Which of several passes, stacked on a leading axis, come near."""
        rows = Rows(nodes, self._before.precision, self._before.n_tokens, self._before)
        hides_as_before = all(nodes.get(each) is self.nodes.get(each) for each in ("mask", "masked"))
        seeing = _seeing_rows(self._before if hides_as_before else rows) if "attention" in self.nodes else None
        near = np.ones((), dtype=bool)
        for stage in (self.differs, *self.agree):
            near = near & self._is_near(stage, rows, seeing)
            if not near.any():
                break
        return near

    @cached_property
    def tolerance(self) -> float:
        """The allowed difference relative to the largest number: angles in float32 are imprecise."""
        precision = self.comparer.precision
        return min(_ROUNDINGS * max(precision.format.epsilon, FLOAT32.epsilon), precision.rough_tolerance)

    def _allowed(self, largest: float) -> float:
        stated = self.comparer.precision.tolerance
        return self.tolerance * largest + (float(stated.allowed(np.array(largest))) if stated else 0.0)

    @cached_property
    def _before(self) -> Rows:
        precision = replace(self.comparer.precision, is_rough=True, is_single=True)
        return Rows(self.nodes, precision, self.candidate.sizes.get("t", 1))

    def _is_near(self, stage: str, rows: Rows, seeing: np.ndarray | None) -> np.ndarray | bool:
        """Whether an array is near one of the stages that it may be, in any layout."""
        if stage != self.differs and rows.changed.isdisjoint(targets(stage)):
            return True
        if stage not in self._forms:
            forms = forms_of(self.comparer.arrays[stage], stage, self.candidate)
            self._forms[stage] = [self._in_part(each) for each in forms]
        near = np.zeros((), dtype=bool)
        for form, largest in self._forms[stage]:
            if form.target not in rows.nodes:
                continue
            for off in _largest_differences(form, rows.sampled(form.target), self.candidate, seeing):
                near = near | (off <= self._allowed(largest))
                if near.all():
                    return near
        return near

    def _in_part(self, form: Form) -> tuple[Form, float]:
        """The compared rows of an array, and the largest number in them."""
        reads = tuple(self._before.cut(each) if has_queries(form.target) else each for each in form.reads)
        numbers = reads[0][np.isfinite(reads[0])]
        return replace(form, reads=reads), float(np.abs(numbers, dtype=float).max(initial=0.0))
