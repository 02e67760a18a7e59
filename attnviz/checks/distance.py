"""Distance: how far several passes at once are from someone's arrays, and which of their numbers stand beside which."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.checks.agreement import beside, both_hide, targets
from attnviz.checks.arrays import OwnArrays
from attnviz.checks.candidates import Candidate
from attnviz.checks.nodes import Nodes, evaluated
from attnviz.checks.rounding import Precision, Rounded
from attnviz.checks.stages import stages

ANYTHING = 1e9
"""Beyond this, how far a number is off tells nothing."""


def distances(own: OwnArrays, candidate: Candidate, nodes: Nodes, precision: Precision, n: int) -> np.ndarray:
    """How far each of n passes is off: the largest differences of all stages together."""
    compared = [stage for stage in own if stage in nodes and not candidate.begins_with(stage)]
    wanted = {name for stage in compared for name in targets(stage)}.intersection(nodes)
    values = evaluated(nodes, precision, wanted.union({"masked"} if "attention" in nodes else ()))
    seeing, total = seeing_in(values), np.zeros(n)
    for stage in compared:
        least = np.full(n, ANYTHING)
        for target, _, _, read, expected in beside(own[stage], stage, values, candidate):
            yours, ours = as_numbers(read, expected.value)
            if is_of_queries(target):
                yours, ours = rows_that_see(yours, seeing), rows_that_see(ours, seeing)
            if yours.shape == ours.shape[-yours.ndim :]:
                least = np.minimum(least, _off(yours, ours, target))
        total += least
    return total


def seeing_in(values: Mapping[str, Rounded]) -> np.ndarray | None:
    """Which of the queries see a key, as what others get is anybody's; None if all do."""
    if "masked" not in values:
        return None
    unseeing = np.isneginf(values["masked"].value).all(axis=-1)
    return ~unseeing.reshape(-1, unseeing.shape[-1]).any(axis=0) if unseeing.any() else None


def rows_that_see(rows: np.ndarray, seeing: np.ndarray | None) -> np.ndarray:
    """The rows of queries that see a key."""
    fits = seeing is not None and rows.ndim > 1 and rows.shape[-2] == len(seeing)
    return rows[..., seeing, :] if fits else rows


def is_of_queries(stage: str) -> bool:
    """Whether a stage has a row for each query."""
    return stage == "mask" or stages().get(stage, ())[-2:-1] in (("query",), ("token",))


def as_numbers(yours: np.ndarray, ours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays, as numbers that are added to scores where only one is of booleans."""
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
