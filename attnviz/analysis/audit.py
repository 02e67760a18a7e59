"""The audit: every number of a trace, recomputed from its terms in Python floats.

The trace was made by NumPy, whole arrays at a time. Here each cell's terms are multiplied and added one by one, with
`math.exp` and the exact `math.fsum`; no arithmetic is shared, so a mistake would have to be made twice to go unseen.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, reduce

from attnviz.core.stage import Stage
from attnviz.core.terms import Cell, Terms
from attnviz.core.trace import Trace

SLICE_TERMS = 4_000
"""Terms that are recomputed at a time: some 10 ms."""


@dataclass(frozen=True)
class StageAudit:
    """The result for one stage, or for some of its cells."""

    stage: str
    n_given: int  # given cells (typed, drawn or set by hand), which have nothing to recompute
    n_recomputed: int  # recomputed cells
    n_agree: int  # those within `tolerance` of the sum of their terms
    largest_difference: float  # infinity where a cell is hidden and its terms are not, or the other way round
    wrong: Cell | None = None  # the first cell that does not agree
    right: float | None = None  # what its terms add up to

    def __add__(self, later: StageAudit) -> StageAudit:
        """The result for these cells and later ones of the same stage."""
        first = self if self.wrong else later
        return StageAudit(
            self.stage,
            self.n_given + later.n_given,
            self.n_recomputed + later.n_recomputed,
            self.n_agree + later.n_agree,
            max(self.largest_difference, later.largest_difference),
            first.wrong,
            first.right,
        )


@dataclass(frozen=True)
class Audit:
    """The result for a trace, of all slices of it: its stages, and `sentence`, which sums them up."""

    slices: tuple[StageAudit, ...]

    @cached_property
    def stages(self) -> tuple[StageAudit, ...]:
        """The result for each stage."""
        of_stages = itertools.groupby(self.slices, key=lambda each: each.stage)
        return tuple(reduce(operator.add, slices) for _, slices in of_stages)

    @property
    def n_recomputed(self) -> int:
        """The numbers that were recomputed."""
        return sum(stage.n_recomputed for stage in self.stages)

    @property
    def n_agree(self) -> int:
        """The recomputed numbers that agree."""
        return sum(stage.n_agree for stage in self.stages)

    @property
    def largest_difference(self) -> float:
        """The largest difference between a number and the sum of its terms."""
        return max((stage.largest_difference for stage in self.stages), default=0.0)

    @property
    def first(self) -> StageAudit | None:
        """The first stage with a number that disagrees: the origin of the error."""
        return next((stage for stage in self.stages if stage.wrong), None)

    def sentence(self, trace: Trace) -> str:
        """The result in one line: "1,284 of 1,284 numbers agree, largest difference 2e-15"."""
        counts = f"{self.n_agree:,} of {self.n_recomputed:,} numbers agree"
        first = self.first
        if not first or not first.wrong:
            largest = f"{self.largest_difference:.0e}" if self.largest_difference else "0"
            return f"{counts}, largest difference {largest}"
        name, value = trace.name_of(first.wrong), first.wrong.value
        return f"{counts}; the first that does not is {name}: {value!r}, its terms give {first.right!r}"


def n_terms(trace: Trace) -> int:
    """The largest number of terms that an audit recomputes."""
    rules = ((stage.size, trace.rule(stage.name)) for stage in trace.stages)
    return sum(n_cells * rule.most_cells for n_cells, rule in rules if rule)


def audit(trace: Trace) -> Iterator[StageAudit]:
    """Recompute every cell of every stage from its terms, one stage after the other.

    >>> from attnviz import Settings, trace_of
    >>> trace = trace_of(Settings("the cat sat"))
    >>> Audit(tuple(audit(trace))).sentence(trace).split(",")[0]
    '288 of 288 numbers agree'
    """
    for stage in trace.stages:
        rule = trace.rule(stage.name)
        cells = itertools.product(*map(range, stage.shape))
        while some := tuple(itertools.islice(cells, max(SLICE_TERMS // (rule.most_cells if rule else 1), 1))):
            yield audit_of(trace, stage, some)


def audit_of(trace: Trace, stage: Stage, cells: Iterable[tuple[int, ...]]) -> StageAudit:
    """Recompute some cells of one stage from their terms."""
    values = stage.value
    read = cache(trace.read)  # each row is read once: many cells depend on it
    n_given = n_recomputed = n_agree = 0
    largest = 0.0
    wrong = right = None
    for index in cells:
        made_from = trace.terms(stage.name, index, read)
        if not made_from.lines:
            n_given += 1
            continue
        n_recomputed += 1
        value, total = float(values[index]), made_from.total
        # not a difference of infinities, which is NaN
        difference = 0.0 if value == total else abs(value - total)
        largest = max(largest, difference)
        if difference == 0 or difference <= tolerance(made_from) < math.inf:
            n_agree += 1
        elif wrong is None:
            wrong, right = stage.cell(index), total
    return StageAudit(stage.name, n_given, n_recomputed, n_agree, largest, wrong, right)


def tolerance(made_from: Terms) -> float:
    """The largest rounding error of a sum of n terms: 8 n eps times their absolute sum.

    With u = eps / 2, the error of one rounding: n products added in any order, fused or not, are within n u S of their
    exact sum to first order, where S is the sum of their absolute values (Higham 2002, "Accuracy and Stability of
    Numerical Algorithms", section 3.1), and `fsum` of rounded products within 2 u S: (n + 2) u S in all. A share of
    softmax is an exponential, within 8 u in NumPy and 2 u here, over the sum of n of them: (n + 23) u of itself, and
    exact if n = 1. Both are at most 16 n u = 8 n eps. Products and exponentials too small for normal numbers lose at
    most the smallest of those. As n stands the number of cells, which for products of two is twice that of the terms.

    So a term that is missing, or counted twice, is seen if it is more than some 10^-13 of the others.
    """
    n_cells = len(made_from.cells)
    return n_cells * (8 * made_from.rounding + sys.float_info.min)
