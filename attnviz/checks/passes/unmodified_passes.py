"""Unmodified passes: the candidates compared with the arrays, before any mistake is tried."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from attnviz.checks.passes.candidates import Candidate, Candidates, RoughRanks
from attnviz.checks.passes.comparison import AS_HIDDEN, Comparer, PassComparison, magnitude, rank_of
from attnviz.checks.passes.fitted_scale import Fit, simple
from attnviz.checks.passes.nodes import Node, nodes_of
from attnviz.checks.passes.prefilter import Prefilter
from attnviz.checks.passes.rows import ROWS
from attnviz.checks.read.decode_steps import CACHE_STAGES
from attnviz.checks.read.layouts import score_stages, stages_after_scores
from attnviz.checks.read.limits import chunks, select
from attnviz.checks.read.readings import L2Norm, Reading, with_patterned_mask
from attnviz.checks.read.rounding import Rounded

_CANDIDATES = (8, 24)  # how many readings are compared in full; the second for small passes
_FEW = 2**18  # small passes hold at most this many numbers together
_EVEN, _ROUNDINGS = 1e-4, 4  # how much shifts of rows may bend, relative to the largest, and in roundings
_MOST_KEPT = 2**22  # how many numbers the examined passes may hold together


@dataclass(frozen=True, eq=False)
class UnmodifiedPasses:
    """The first pass that reproduces every array, or all of the likeliest ones compared."""

    agreeing: PassComparison | None
    compared: Sequence[PassComparison] = ()

    @property
    def nearest(self) -> list[PassComparison]:
        """The passes that come nearest, if none reproduces everything."""
        best = max((each.rank for each in self.compared), default=None)
        return [each for each in self.compared if each.rank == best]


def compare_candidates(candidates: Candidates, comparer: Comparer) -> UnmodifiedPasses:
    """Compare the candidates, the likeliest first, until one reproduces every array."""
    compared: list[PassComparison] = []
    for group in candidates.groups:
        for candidate in _likeliest(group, comparer, candidates.rough_ranks):
            comparison = comparer.sampled(candidate) if candidate.is_large else comparer.compare(candidate)
            if candidate.is_large and comparison.agrees:
                comparison = comparer.compare(candidate)
            if comparison.agrees:
                return UnmodifiedPasses(comparison)
            compared.append(comparison.without_large_values())
    return UnmodifiedPasses(None, compared)


def _likeliest(candidates: Sequence[Candidate], comparer: Comparer, known: RoughRanks) -> list[Candidate]:
    """The passes that roughly explain most, in their original order where they tie; `known` serves all precisions."""
    if len(candidates) < 2:
        return [*candidates]
    keys = [(each, comparer.precision.format.largest) for each in candidates]
    for key in keys:
        if key not in known:
            known[key] = _rough_rank(key[0], comparer)
    ranks, off = zip(*(known[key] for key in keys), strict=True)
    blind = [each.has_fully_masked_row for each in candidates]
    nearest = sorted(range(len(candidates)), key=lambda i: (-ranks[i][0], -ranks[i][1], blind[i], off[i]))
    first = candidates[nearest[0]]
    compared = [each.value.size for stage, each in comparer.arrays.items() if first.compares(stage)]
    size = max(first.size, 8 * max(compared, default=0))
    few, many = _CANDIDATES
    most = max(min(few, _MOST_KEPT // size), min(many, _FEW // size), 2)
    nearest = sorted(sorted(nearest[:most]), key=lambda i: ranks[i], reverse=True)
    return [candidates[i] for i in nearest]


def _rough_rank(candidate: Candidate, comparer: Comparer) -> tuple[tuple[int, int], float]:
    """How many stages agree roughly, and by how much they differ; drops large passes afterwards."""
    is_cached = candidate.is_cached
    rough = (comparer if is_cached else Comparer(comparer.arrays, comparer.precision)).rough
    stages = (rough.sampled if candidate.is_large else rough.compare)(candidate).stages
    if not is_cached:
        candidate.forget()
    return rank_of(stages), magnitude(max((each.roundings for each in stages), default=0.0))


def with_cosines(comparer: Comparer, unmodified: PassComparison) -> PassComparison | None:
    """The pass whose queries and keys are divided by their lengths, if it reproduces every array.

    The factor of the scores is the user's, or the one that fits.
    """
    reading, first = unmodified.candidate.reading, unmodified.first_difference
    if not reading or not first or first.stage not in (*score_stages(), *stages_after_scores()):
        return None
    d_k = reading.config.d_k
    if "q" not in unmodified.candidate.trace or "k" not in unmodified.candidate.trace or not d_k:
        return None
    if reading.is_of_cosines:
        divided = comparer.with_values(unmodified)
    elif reading.config.qk_norm or not reading.arrays.keys().isdisjoint(("q_rotated", "k_rotated", *CACHE_STAGES)):
        return None
    else:
        reading = replace(reading, config=replace(reading.config, qk_norm=L2Norm()))
        divided = comparer.compare(Candidate.of(reading))
    if divided.agrees or reading.config.scale:
        return divided if divided.agrees else None
    fit = Fit.of(divided.first_difference, divided.values.get("scaled"))
    factor = fit.factor() if fit else None
    if not factor:
        return None
    config = replace(reading.config, scale=simple(factor * d_k**-0.5)[0])
    fitted = comparer.compare(Candidate.of(replace(reading, config=config, has_fitted_scale=True)))
    return fitted if fitted.agrees else None


def with_agreeing_pattern(comparer: Comparer, unmodified: PassComparison) -> PassComparison | None:
    """The pass with the first sliding window, or ALiBi biases, that reproduces every array."""
    reading, first = unmodified.candidate.reading, unmodified.first_difference
    if not reading or first is None or first.stage not in (*score_stages(), *stages_after_scores()):
        return None
    if unmodified.candidate.is_fully_masked:  # no pattern changes a pass without a visible key
        return None
    unmodified = comparer.with_values(unmodified)
    if shifted := _with_shifted_rows(comparer, unmodified, reading):
        return shifted
    masked = {"mask", "masked", *stages_after_scores()}
    unmasked = {name: node for name, node in unmodified.nodes.items() if name not in masked}
    near = Prefilter(comparer, unmodified.candidate, unmodified.nodes, first.stage)
    others = comparer.arrays["contributions"].value.size if "contributions" in comparer.arrays else 0
    for some in _by_mask_shape(with_patterned_mask(reading), others):
        ours = {**nodes_of(Candidate.of(some[0]).trace, comparer.read), **unmasked}
        masks = [each.arrays["mask"] for each in some]
        stacked = np.stack([each[None] if each.ndim < 3 else each for each in masks])
        accepted = near.accepts_each({**ours, "mask": Node.constant(Rounded(stacked))})
        if first.stage == "masked" and stacked.dtype != bool:
            accepted = np.ones(len(some), dtype=bool)  # their rows may be shifted
        for candidate in map(Candidate.of, select(some, accepted)):
            nodes = {**nodes_of(candidate.trace, comparer.read), **unmasked}
            comparison = comparer.compare(candidate, nodes, unmodified)
            if comparison.agrees:
                return comparison
            if shifted := _with_shifted_rows(comparer, comparison, candidate.reading):
                return shifted
    return None


def _with_shifted_rows(comparer: Comparer, before: PassComparison, reading: Reading | None) -> PassComparison | None:
    """The pass with a number added to each row of a bias, which the softmax ignores, if that makes all agree.

    ALiBi is written as slope * key, too, which is slope * (key - query) but for a number for each query.
    """
    first, mask = before.first_difference, reading and reading.mask
    if not reading or not mask or not first or not first.pair or first.stage != "masked" or mask.value.dtype == bool:
        return None
    theirs, ours = first.pair
    known = (ours > AS_HIDDEN) & (theirs > AS_HIDDEN)
    if "sinks" in before.nodes or not known.any(axis=-1).all():
        return None
    rows = np.where(known, theirs - ours, 0).sum(axis=-1) / known.sum(axis=-1)
    steps = np.arange(rows.shape[-1]) / max(rows.shape[-1] - 1, 1)
    line = rows[..., :1] + steps * (rows[..., -1:] - rows[..., :1])
    if not np.abs(rows - line).max() <= _EVEN * np.abs(rows).max() + _ROUNDINGS * first.rounding:
        return None  # a forgotten bias of keys, or not finite
    candidate = Candidate.of(reading.with_mask(mask.shifted(line)))
    comparison = comparer.compare(replace(candidate, rotation=before.candidate.rotation))
    return comparison if comparison.agrees else None


def _by_mask_shape(readings: Iterable[Reading], n_others: int) -> Iterator[Sequence[Reading]]:
    """Batches of readings whose masks have the same shape and type."""
    for _, alike in groupby(readings, lambda each: (each.arrays["mask"].dtype, each.arrays["mask"].ndim)):
        some = list(alike)
        yield from chunks(some, max(some[0].sizes["h"] * some[0].sizes["t"] * ROWS, n_others))
