"""Rotation search: rotations (RoPE) of the unmodified passes that the arrays don't tell, known ones and fitted ones."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from attnviz.checks.passes.candidates import Candidate
from attnviz.checks.passes.comparison import Comparer, PassComparison, compared_stages
from attnviz.checks.passes.fitted_scale import Fit, numbers_near
from attnviz.checks.passes.nodes import Node
from attnviz.checks.passes.prefilter import MOST_OFF, Prefilter, distances
from attnviz.checks.passes.rope_variants import (
    RopeVariant,
    known_rotations,
    nodes_of_each,
    rotations_to_fit,
    usual_rotations,
)
from attnviz.checks.passes.unmodified_passes import UnmodifiedPasses
from attnviz.checks.read.layouts import score_stages, stages_after_scores
from attnviz.checks.read.limits import chunks, select
from attnviz.core.operations.linear import Identity

MAX_ROTATED = 2  # how many readings are searched for a base; in large passes how many rotations
MAX_SCORES = 2**14  # passes with more scores are large: fewer rotations of them are searched
_RANGES = {"base": (10, 1e8), "factor": (1, 100)}


def unrotated_candidates(comparer: Comparer, unmodified: UnmodifiedPasses) -> list[Candidate]:
    """The nearest passes without a rotation whose first differing stage a rotation would change."""
    changed = ("q", "k", "q_rotated", "k_rotated", *score_stages(), *stages_after_scores())
    # coarse numbers may agree by chance with a pass that isn't rotated
    near = unmodified.nearest if comparer.precision.is_fine else unmodified.compared
    differing = [each.candidate for each in near if each.first_difference and each.first_difference.stage in changed]
    return [each for each in differing if _lacks_rotation(comparer, each)]


def _lacks_rotation(comparer: Comparer, candidate: Candidate) -> bool:
    if candidate.reading is None or candidate.reading.table:  # a table is the rotation, whatever else fits
        return False
    nodes = comparer.unrotated_nodes(candidate)
    inputs = nodes["scores"].inputs if "scores" in nodes else ()
    if inputs == ("q_rotated", "k_rotated") and nodes["q_rotated"].inputs:  # given ones, of another rotation perhaps
        inputs = (*nodes["q_rotated"].inputs, *nodes["k_rotated"].inputs)
    return inputs in (("q", "k"), ("q_normed", "k_normed")) and candidate.sizes.get("d", 1) > 1


def rotatable_candidates(comparer: Comparer, nearest: Iterable[PassComparison]) -> list[Candidate]:
    """The passes that a rotation may explain, perhaps with mistakes: it must keep the agreeing stages."""
    return [each.candidate for each in nearest if _rotation_keeps_agreeing(comparer, each)]


def _rotation_keeps_agreeing(comparer: Comparer, unmodified: PassComparison) -> bool:
    candidate = unmodified.candidate
    if not _lacks_rotation(comparer, candidate):
        return False
    usual = usual_rotations(candidate.sizes["d"]) or islice(known_rotations(candidate.sizes["d"]), 1)
    rotations = _placed(usual, candidate)
    agreeing = {each.stage for each in unmodified.stages if each.agrees}
    agreeing = agreeing.intersection((*score_stages(), *stages_after_scores()))
    if not agreeing:
        return bool(rotations)
    rotated = (comparer.compare(replace(candidate, rotation=each)).stages for each in rotations)
    return any(agreeing <= {each.stage for each in stages if each.agrees} for stages in rotated)


# --- Rotations that reproduce every array


def with_known_rotation(comparer: Comparer, candidate: Candidate) -> PassComparison | None:
    """The pass with the first rotation of a known model that reproduces every array."""
    return _first_agreeing(comparer, candidate, [[*_placed(known_rotations(candidate.sizes["d"]), candidate)]])


def with_fitted_rotation(comparer: Comparer, candidate: Candidate) -> PassComparison | None:
    """The pass with a rotation of another base or factor that reproduces every array."""

    def nearest(shape: RopeVariant, varied: str) -> Iterator[list[RopeVariant]]:
        """The variants whose base or factor comes nearest, rounded values first; `shape` fixes everything else."""

        def of(numbers: Iterable[float]) -> list[RopeVariant]:
            changes: list[dict[str, Any]] = [{varied: float(number)} for number in numbers]
            return [replace(shape, **each) for each in changes]

        for number in numbers_near(lambda numbers: _distances(comparer, candidate, of(numbers)), *_RANGES[varied]):
            yield of(dict.fromkeys([*(float(f"{number:.{n}g}") for n in range(1, 7)), number]))

    to_fit = rotations_to_fit(candidate.sizes["d"])
    near = (nearest(_placed([each], candidate)[0], varied) for each, varied in to_fit)
    return _first_agreeing(comparer, candidate, chain.from_iterable(near))


def _first_agreeing(
    comparer: Comparer, candidate: Candidate, rotations: Iterable[Sequence[RopeVariant]]
) -> PassComparison | None:
    nodes = comparer.unrotated_nodes(candidate)
    first, *others = compared = compared_stages(comparer.arrays, candidate, nodes)
    if others:
        stages = comparer.rough.compare(candidate, nodes).stages
        first = next((name for name, each in zip(compared, stages, strict=True) if not each.agrees), first)
    # where every key is hidden, rotations change nothing: they are tried on the scores as they were before the mask
    if candidate.is_fully_masked and "masked" in nodes:
        nodes = {**nodes, "masked": Node.of(Identity("query"), nodes["masked"].inputs[:1])}
    near = Prefilter(comparer, candidate, nodes, first)
    for some in chain.from_iterable(_in_chunks(each, candidate) for each in rotations):
        for rotation in select(some, near.accepts_each(nodes_of_each(some, nodes))):
            rotated = comparer.compare(replace(candidate, rotation=rotation))
            if rotated.agrees:
                return rotated
    return None


# --- The likeliest rotations of passes with mistakes


def likeliest_rotated(comparer: Comparer, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The few candidates that a usual rotation brings nearest."""

    def distance(candidate: Candidate) -> float:
        usual = _placed(usual_rotations(candidate.sizes["d"]), candidate)
        return float(_distances(comparer, candidate, usual).min()) if usual else math.inf

    return sorted(candidates, key=distance)[:MAX_ROTATED] if len(candidates) > 1 else candidates


def with_usual_rotations(comparer: Comparer, candidate: Candidate) -> list[PassComparison]:
    """The pass with each usual rotation, the likeliest first; of a large pass only the likeliest two."""
    usual = sorted(
        _placed(usual_rotations(candidate.sizes["d"]), candidate), key=_remaining_distance(comparer, candidate)
    )
    some = usual[:MAX_ROTATED] if candidate.n_scores > MAX_SCORES else usual
    return [comparer.compare(replace(candidate, rotation=each)).without_large_values() for each in some]


def _remaining_distance(comparer: Comparer, candidate: Candidate) -> Callable[[RopeVariant], tuple[float, float]]:
    """Sort key of rotations: the distance that no scale or cap removes, then the total distance."""
    unmodified = comparer.rough.compare(candidate, comparer.unrotated_nodes(candidate))

    def remaining(rotation: RopeVariant) -> tuple[float, float]:
        rotated = replace(candidate, rotation=rotation)
        compared = comparer.rough.compare(rotated, rotation.nodes(unmodified.nodes), unmodified)
        fits = (Fit.of(each, compared.values.get("scaled")) for each in compared.stages)
        fit = next(filter(None, fits), None)
        return fit.rest() if fit else 1.0, sum(min(each.off, MOST_OFF) for each in compared.stages)

    return remaining


def _distances(comparer: Comparer, candidate: Candidate, rotations: Sequence[RopeVariant]) -> np.ndarray:
    nodes = comparer.unrotated_nodes(candidate)
    some = ((nodes_of_each(each, nodes), len(each)) for each in _in_chunks(rotations, candidate))
    return np.concatenate([distances(comparer, candidate, rotated, n) for rotated, n in some])


def _placed(rotations: Iterable[RopeVariant], candidate: Candidate) -> list[RopeVariant]:
    """The rotations at the positions of a candidate's tokens."""
    reading = candidate.reading
    n_kept = candidate.sizes["p"] if reading and "past_key" in reading.arrays else 0
    positions = reading.positions if reading else None
    return [replace(each, positions=positions, n_kept=n_kept) for each in rotations]


def _in_chunks(rotations: Sequence[RopeVariant], candidate: Candidate) -> Iterator[Sequence[RopeVariant]]:
    trace = candidate.trace
    return chunks(rotations, max(trace[each].size for each in ("scores", *trace["scores"].inputs)))
