"""Search: each candidate pass as it is, rotated, and with mistakes, in each precision, the finest first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, partial
from itertools import chain, combinations, groupby, islice
from typing import Any

import numpy as np

from attnviz.checks.causes.cause import Mistake, Setting
from attnviz.checks.causes.table import mistakes_in
from attnviz.checks.explain.comparison import (
    MOST_OFF,
    ROWS,
    Agreement,
    Agreements,
    PassComparison,
    Prefilter,
    compare_pass,
    compared_stages,
    distances,
    first_differing,
    rank_of,
    targets,
)
from attnviz.checks.explain.fitted_scale import Fit, numbers_near
from attnviz.checks.explain.passes import (
    FULLY_MASKED,
    Candidate,
    Candidates,
    Node,
    NodeCache,
    Nodes,
    Rotation,
    known_rotations,
    needed,
    nodes_of,
    nodes_of_each,
    rotations_to_fit,
    usual_rotations,
)
from attnviz.checks.read.layouts import score_stages, stages_after_scores
from attnviz.checks.read.masks import MaskReading
from attnviz.checks.read.readings import NEAR_ONE, Reading, with_patterned_mask
from attnviz.checks.read.rounding import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Precision, Rounded, batches, select

_ALIKE = 0.02  # relative difference at which lengths count as equal
MAX_CANDIDATES = 8  # how many readings are examined closely
MAX_SEARCHED = 2  # in how many readings a base, or in large passes how many rotations, are searched
Mistakes = tuple[Mistake, ...]
# Correct queries and keys, and correct scores, that attnviz doesn't know
UNKNOWN = {
    "normalised": "normalised queries and keys",
    "rotated": "every RoPE",
    "biased": "biases of scores that no mask in the file holds",
}


class SkippedCheck(Enum):
    """Parts of the search that were left out."""

    PAIRS = "two mistakes at once, of which numbers as coarse as yours show too little"
    READINGS = f"readings of your arrays after the likeliest {MAX_CANDIDATES}"
    BASES = "RoPE with another base than those of known models, as there are so many scores"
    ROTATED = f"mistakes in passes rotated otherwise than in the {MAX_SEARCHED} likeliest ways"
    REST = "most mistakes and readings, as the arrays are so large: compare fewer heads or tokens"
    SIZES = "scales, caps, dropout and orders of heads of any size, which only scores or attention show"


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """A user's arrays compared with a pass, and the mistakes that explain the first stage that differs."""

    candidate: Candidate
    precision: Precision
    stages: Agreements  # one for each compared array, in the order of the pass, without any mistake
    fully_masked: str = FULLY_MASKED[0]  # what a fully masked query gets in the user's pass
    mistakes: Mistakes = ()  # cumulative, each makes at least the first differing stage agree
    alternatives: tuple[Mistakes, ...] = ()  # that explain as much as the first
    explained: Agreements = ()  # the stages compared with the pass with the mistakes
    nodes: Nodes = field(default_factory=dict)  # of the pass with the mistakes
    mistaken: tuple[str, ...] = ()  # the stages that the mistakes change
    within: str = ""  # the 16-bit format whose rounding would explain an unexplained difference
    skipped_checks: tuple[SkippedCheck, ...] = ()
    against: MaskReading | None = None  # the reading that agrees, if it contradicts the library's convention for masks

    def with_mistakes(self, mistakes: Mistakes, state: PassComparison, plain: Nodes, **more: Any) -> Diagnosis:
        """The diagnosis with mistakes, which turn the nodes `plain` into those of `state`."""
        mistaken = tuple(name for name, node in state.nodes.items() if node is not plain.get(name))
        more |= {"explained": state.stages, "nodes": state.nodes, "fully_masked": state.fully_masked}
        return replace(self, mistakes=mistakes, mistaken=mistaken, **more)

    @property
    def first(self) -> Agreement | None:
        return first_differing(self.stages)

    @property
    def rank(self) -> tuple[int, int]:
        """How many stages agree before the first that differs, and in total, with the mistakes."""
        return rank_of(self.explained or self.stages)

    @property
    def explains_all(self) -> bool:
        """Whether all stages agree, with the mistakes if there are any."""
        return first_differing(self.explained or self.stages) is None

    @property
    def likelihood(self) -> tuple[tuple[int, int], float]:
        """A sort key: more stages explained, then a smaller unexplained difference."""
        off = [_magnitude(each.off) for each in self.explained or self.stages if not each.agrees]
        return self.rank, -max(off, default=0.0)

    @property
    def may_be_rotated(self) -> bool:
        """Whether the first differing stage looks rotated: lengths, and scores of tokens with themselves, are kept."""
        first = self.first
        if first is None or first.value is None or first.expected is None or self.candidate.reading is None:
            return False
        yours, ours = first.value, first.expected
        if first.off <= _ALIKE * np.abs(ours[np.isfinite(ours)]).max(initial=0):
            return False
        if first.stage in ("q", "k"):
            yours, ours = np.linalg.norm(yours, axis=-1), np.linalg.norm(ours, axis=-1)
        elif first.stage in score_stages() and yours.shape[-2] == yours.shape[-1] > 1:
            yours, ours = (np.diagonal(each, axis1=-2, axis2=-1) for each in (yours, ours))
        else:
            return False
        return bool((np.abs(yours - ours) <= _ALIKE * np.abs(ours).max()).all())

    @property
    def may_be(self) -> tuple[str, ...]:
        """Which of `UNKNOWN` could still explain these numbers, as no later stage agrees and rows sum to 1."""
        first, later = self.first, stages_after_scores()
        if self.candidate.reading is None or self.wrong_sum or first is None:
            return ()
        if first.stage not in ("q", "k", *score_stages(), *later):
            return ()
        agree = {each.stage for each in self.stages if each.agrees}
        after = {each.stage for each in self.stages[self.stages.index(first) :] if each.agrees}
        if agree.intersection(("masked", *later)) or after.intersection(score_stages()):
            return ()
        if agree.intersection(score_stages()):
            return ("biased",)
        return ("normalised", "rotated") if first.stage in ("q", "k") else tuple(UNKNOWN)

    @property
    def wrong_sum(self) -> tuple[tuple[int, ...], float] | None:
        """If attention differs first: the row whose sum is furthest from 1, and the sum; None if all are 1."""
        first = self.first
        if first is None or first.stage != "attention" or first.value is None or first.expected is None:
            return None
        if not np.isfinite(first.value).all():
            return None
        sums = first.value.sum(axis=-1)
        off = np.where(first.expected.any(axis=-1), np.abs(sums - 1), 0)
        row = tuple(map(int, np.unravel_index(off.argmax(), off.shape)))
        allowed = NEAR_ONE + first.value.shape[-1] * first.rounding
        return (row, float(sums[row])) if off[row] > allowed else None


def _magnitude(off: float) -> float:
    """The log of a difference, rounded so that rounding errors don't break ties."""
    return round(math.log1p(min(off, 1e300) / np.finfo(float).eps), 3)


# --- One precision

_MAX_SCORES = 2**14
_MOST_KEPT = 2**22  # how many numbers the examined passes may hold together
_MAX_MISTAKES = 3  # how many cumulative mistakes are searched
_FAR = 4.0  # mistakes that leave more than 4 times the least difference rank last
_RANGES = {"base": (10, 1e8), "factor": (1, 100)}
Compared = tuple[Candidate, PassComparison]
MistakenPass = tuple[Mistakes, Nodes]


@dataclass(frozen=True, eq=False)
class PassSearch:
    """The search for the pass that explains the arrays, in one precision."""

    candidates: Candidates
    precision: Precision

    @property
    def plain(self) -> Diagnosis | None:
        return self._compared[0]

    @cached_property
    def nearest_candidates(self) -> list[Compared]:
        """The passes that come nearest, if none reproduces everything."""
        best = max((rank_of(state.stages) for _, state in self._compared[1]), default=None)
        return [each for each in self._compared[1] if rank_of(each[1].stages) == best]

    @property
    def nearest(self) -> Diagnosis:
        return self._diagnosis(*self.nearest_candidates[0])

    @cached_property
    def rotated(self) -> Diagnosis | None:
        patterned = (self._patterned(*each) for each in self.nearest_candidates)
        rotated = (self._first_agreeing(each, [[*known_rotations(each.sizes["d"])]]) for each in self._rotated_alone)
        return next(filter(None, chain(patterned, rotated)), None)

    @cached_property
    def single_mistakes(self) -> Diagnosis:
        """The best of the nearest passes with mistakes, tried one at a time."""
        return self._best(self.nearest_candidates)

    def diagnosis(self, may_be_rotated: bool = True) -> Diagnosis:
        """The pass that explains most; the first of several that tie."""
        likeliest = self._likeliest(may_be_rotated)
        first = likeliest.first
        if likeliest.explains_all or first is None:
            return likeliest
        (nearest, _), skipped = self.nearest_candidates[0], []
        if not self._may_pair(first) and first.stage in (*score_stages(), *stages_after_scores()):
            skipped.append(SkippedCheck.PAIRS)
        if len(self.candidates.likely) > MAX_CANDIDATES:
            skipped.append(SkippedCheck.READINGS)
        if may_be_rotated and self._rotatable and nearest.n_scores > _MAX_SCORES:
            skipped.append(SkippedCheck.ROTATED)
            if self._rotated_alone:
                skipped.append(SkippedCheck.BASES)
        if first.stage in stages_after_scores() and {"attention", *score_stages()}.isdisjoint(self.candidates.arrays):
            skipped.append(SkippedCheck.SIZES)
        return replace(likeliest, skipped_checks=tuple(skipped))

    def _likeliest(self, may_be_rotated: bool) -> Diagnosis:
        if right := self.plain or self.rotated:
            return right
        likeliest = self.single_mistakes
        if likeliest.explains_all or not may_be_rotated:
            return likeliest
        if not self._rotatable:
            return self._best(self.nearest_candidates, in_pairs=True)
        nearest = self._rotatable
        if len(nearest) > 1:
            nearest = sorted(nearest, key=self._distance_if_rotated)[:MAX_SEARCHED]
        alone = (each for each in nearest if each in self._rotated_alone and each.n_scores <= _MAX_SCORES)
        if right := next(filter(None, map(self._with_fitted_rotation, alone)), None):
            return right
        plain = nearest[0]
        usual = sorted(usual_rotations(plain.sizes["d"]), key=self._rest_by(plain))
        some = usual[:MAX_SEARCHED] if plain.n_scores > _MAX_SCORES else usual
        rotated = [(each, self._kept(each, state)) for each, state in (self._rotated(plain, by) for by in some)]
        for passes, in_pairs in ((rotated, False), (self.nearest_candidates, True), (rotated[:1], True)):
            wrong = self._best(passes, in_pairs) if passes else likeliest
            if wrong.explains_all:
                return wrong
            if passes is self.nearest_candidates:
                likeliest = max(likeliest, wrong, key=lambda each: each.likelihood)
        return likeliest

    # Passes as they are

    @cached_property
    def _nodes(self) -> NodeCache:
        return NodeCache(self.candidates.arrays, self.precision)

    @cached_property
    def _rough(self) -> Precision:
        return replace(self.precision, is_rough=True)

    def _compare(self, candidate: Candidate, nodes: Nodes, before: PassComparison | None = None) -> PassComparison:
        return compare_pass(self.candidates.arrays, candidate, nodes, self.precision, before)

    def _diagnosis(self, candidate: Candidate, state: PassComparison) -> Diagnosis:
        return Diagnosis(candidate, self.precision, state.stages, state.fully_masked)

    @cached_property
    def _compared(self) -> tuple[Diagnosis | None, list[Compared]]:
        """The first pass that reproduces every array, or all the likeliest ones compared."""
        states: list[Compared] = []
        for group in ("likely", "with_inferred_mask"):
            for candidate in self._likeliest_of(getattr(self.candidates, group)):
                state = self._compare(candidate, self._nodes.of(candidate))
                if state.agrees:
                    return self._diagnosis(candidate, state), []
                states.append((candidate, self._kept(candidate, state)))
        return None, states

    def _likeliest_of(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The passes that roughly explain most, in their original order where they tie."""
        if len(candidates) < 2:
            return [*candidates]
        ranks, off = zip(*map(self._roughly, candidates), strict=True)
        blind = [each.hides_all_keys for each in candidates]
        nearest = sorted(range(len(candidates)), key=lambda i: (-ranks[i][0], -ranks[i][1], blind[i], off[i]))
        first = candidates[nearest[0]]
        compared = [each.value.size for stage, each in self.candidates.arrays.items() if first.compares(stage)]
        size = max(first.size, 8 * max(compared, default=0))
        most = max(min(MAX_CANDIDATES, _MOST_KEPT // size), 2)
        nearest = sorted(sorted(nearest[:most]), key=lambda i: ranks[i], reverse=True)
        return [candidates[i] for i in nearest]

    def _roughly(self, candidate: Candidate) -> tuple[tuple[int, int], float]:
        """How many stages agree roughly, and by how much they differ; drops large passes afterwards."""
        is_cached = candidate.is_cached
        cache = self._nodes if is_cached else NodeCache(self.candidates.arrays, self.precision)
        stages = compare_pass(self.candidates.arrays, candidate, cache.of(candidate), self._rough).stages
        if not is_cached:
            candidate.forget()
        return rank_of(stages), _magnitude(max((each.roundings for each in stages), default=0.0))

    def _kept(self, candidate: Candidate, state: PassComparison) -> PassComparison:
        """What is kept of a comparison while others are made: of a large pass only its agreements."""
        if not candidate.is_large:
            return state
        candidate.forget()
        return replace(state, nodes={}, values={})

    def _whole(self, candidate: Candidate, state: PassComparison) -> PassComparison:
        """A comparison with its values, recomputed if they weren't kept."""
        return state if state.nodes else self._compare(candidate, self._nodes.rotated(candidate))

    def _patterned(self, plain: Candidate, before: PassComparison) -> Diagnosis | None:
        """The pass with the first sliding window, or ALiBi biases, that reproduces every array."""
        arrays, first = self.candidates.arrays, first_differing(before.stages)
        if first is None or first.stage not in (*score_stages(), *stages_after_scores()):
            return None
        before = self._whole(plain, before)
        masked = {"mask", "masked", *stages_after_scores()}
        unmasked = {name: node for name, node in before.nodes.items() if name not in masked}
        near = Prefilter(arrays, plain, self.precision, before.nodes, first.stage)
        others = arrays["contributions"].value.size if "contributions" in arrays else 0
        for some in _alike(with_patterned_mask(plain.reading), others) if plain.reading else ():
            ours = {**nodes_of(Candidate.of(some[0]).trace, self._nodes.read), **unmasked}
            masks = [each.arrays["mask"] for each in some]
            stacked = np.stack([each[None] if each.ndim < 3 else each for each in masks])
            accepted = near.accepts_each({**ours, "mask": Node.constant(Rounded(stacked))})
            for candidate in map(Candidate.of, select(some, accepted)):
                nodes = {**nodes_of(candidate.trace, self._nodes.read), **unmasked}
                state = self._compare(candidate, nodes, before)
                if state.agrees:
                    return self._diagnosis(candidate, state)
        return None

    # Rotated passes

    @cached_property
    def _rotatable(self) -> list[Candidate]:
        """The nearest passes that a rotation may explain: it must keep the agreeing stages."""
        return [each for each, state in self.nearest_candidates if self._rotation_keeps_agreeing(each, state)]

    @cached_property
    def _rotated_alone(self) -> list[Candidate]:
        """Those whose first differing stage a rotation would change."""
        changed = ("q", "k", *score_stages(), *stages_after_scores())
        # coarse numbers may agree by chance with a pass that isn't rotated
        near = self.nearest_candidates if self.precision.is_fine else self._compared[1]
        firsts = [(candidate, first_differing(state.stages)) for candidate, state in near]
        return [each for each, first in firsts if first and first.stage in changed and self._lacks_rotation(each)]

    def _lacks_rotation(self, plain: Candidate) -> bool:
        scores = self._nodes.of(plain).get("scores") if plain.reading is not None else None
        inputs = (("q", "k"), ("q_normed", "k_normed"))
        return scores is not None and scores.inputs in inputs and plain.sizes.get("d", 1) > 1

    def _rotation_keeps_agreeing(self, plain: Candidate, state: PassComparison) -> bool:
        if not self._lacks_rotation(plain):
            return False
        rotations = usual_rotations(plain.sizes["d"]) or [*islice(known_rotations(plain.sizes["d"]), 1)]
        agreeing = {each.stage for each in state.stages if each.agrees}
        agreeing = agreeing.intersection((*score_stages(), *stages_after_scores()))
        if not agreeing:
            return bool(rotations)
        rotated = (self._rotated(plain, each)[1].stages for each in rotations)
        return any(agreeing <= {each.stage for each in stages if each.agrees} for stages in rotated)

    def _rotated(self, plain: Candidate, rotation: Rotation) -> Compared:
        candidate = replace(plain, rotation=rotation)
        return candidate, self._compare(candidate, self._nodes.rotated(candidate))

    def _first_agreeing(self, plain: Candidate, rotations: Iterable[Sequence[Rotation]]) -> Diagnosis | None:
        """The pass with the first of some rotations that reproduces every array."""
        nodes, arrays = self._nodes.of(plain), self.candidates.arrays
        before = compare_pass(arrays, plain, nodes, self._rough)
        compared = compared_stages(arrays, plain, nodes)
        differing = [name for name, each in zip(compared, before.stages, strict=True) if not each.agrees]
        near = Prefilter(arrays, plain, self.precision, nodes, (differing or compared)[0])
        for some in chain.from_iterable(_in_batches(each, plain) for each in rotations):
            for rotation in select(some, near.accepts_each(nodes_of_each(some, nodes))):
                candidate, state = self._rotated(plain, rotation)
                if state.agrees:
                    return self._diagnosis(candidate, state)
        return None

    def _with_fitted_rotation(self, plain: Candidate) -> Diagnosis | None:
        """The pass with a rotation of another base or factor that reproduces every array."""

        def nearest(shape: Rotation, varied: str) -> Iterator[list[Rotation]]:
            """Those whose base or factor comes nearest, rounded values first; `shape` fixes everything else."""

            def of(numbers: Iterable[float]) -> list[Rotation]:
                changes: list[dict[str, Any]] = [{varied: float(number)} for number in numbers]
                return [replace(shape, **each) for each in changes]

            for number in numbers_near(lambda numbers: self._distances(plain, of(numbers)), *_RANGES[varied]):
                yield of(dict.fromkeys([*(float(f"{number:.{n}g}") for n in range(1, 7)), number]))

        near = (nearest(*each) for each in rotations_to_fit(plain.sizes["d"]))
        return self._first_agreeing(plain, chain.from_iterable(near))

    def _distances(self, plain: Candidate, rotations: Sequence[Rotation]) -> np.ndarray:
        nodes, arrays = self._nodes.of(plain), self.candidates.arrays
        some = ((nodes_of_each(each, nodes), len(each)) for each in _in_batches(rotations, plain))
        return np.concatenate([distances(arrays, plain, rotated, self._rough, n) for rotated, n in some])

    def _distance_if_rotated(self, plain: Candidate) -> float:
        """The distance with the nearest usual rotation."""
        usual = usual_rotations(plain.sizes["d"])
        return float(self._distances(plain, usual).min()) if usual else math.inf

    def _rest_by(self, plain: Candidate) -> Callable[[Rotation], tuple[float, float]]:
        """Sort key of rotations: the distance that no scale or cap removes, then the total distance."""
        arrays = self.candidates.arrays
        before = compare_pass(arrays, plain, self._nodes.of(plain), self._rough)

        def rest(rotation: Rotation) -> tuple[float, float]:
            rotated = replace(plain, rotation=rotation)
            state = compare_pass(arrays, rotated, rotation.nodes(before.nodes), self._rough, before)
            fits = (Fit.of(each, state.values.get("scaled")) for each in state.stages)
            fit = next(filter(None, fits), None)
            return fit.rest() if fit else 1.0, sum(min(each.off, MOST_OFF) for each in state.stages)

        return rest

    # Passes with mistakes

    def _may_pair(self, first: Agreement) -> bool:
        """Whether pairs of mistakes are tried; coarse numbers don't tell so many apart."""
        first_to_show = (*score_stages(), "attention", "heads", "concat", "output")
        return self.precision.is_fine and first.stage in first_to_show

    def _best(self, passes: Iterable[Compared], in_pairs: bool = False) -> Diagnosis:
        """The first pass that explains everything, perhaps with mistakes; else the best."""
        explained = []
        for candidate, state in passes:
            diagnosis = self._with_mistakes(candidate, self._whole(candidate, state), in_pairs)
            if diagnosis.explains_all:
                return diagnosis
            if candidate.is_large:
                candidate.forget()
            explained.append(diagnosis)
        return max(explained, key=lambda each: each.likelihood)

    def _with_mistakes(self, candidate: Candidate, plain: PassComparison, in_pairs: bool) -> Diagnosis:
        """The pass with the cumulative mistakes that explain most."""
        state = plain
        mistakes: Mistakes = ()
        alternatives: tuple[Mistakes, ...] = ()
        while len(mistakes) < _MAX_MISTAKES and not state.agrees:
            likeliest = self._with_a_mistake(candidate, state, is_first=not mistakes, in_pairs=in_pairs)
            if not likeliest:
                break
            alternatives = alternatives if mistakes else tuple(each for each, _ in likeliest[1:])
            mistakes, state = (*mistakes, *likeliest[0][0]), likeliest[0][1]
        diagnosis = self._diagnosis(candidate, plain)
        return (
            diagnosis.with_mistakes(mistakes, state, plain.nodes, alternatives=alternatives) if mistakes else diagnosis
        )

    def _with_a_mistake(
        self, candidate: Candidate, state: PassComparison, is_first: bool, in_pairs: bool
    ) -> list[tuple[Mistakes, PassComparison]]:
        arrays, failed = self.candidates.arrays, self.candidates.failed_searches
        agreeing = rank_of(state.stages)[0]
        first, compared = state.stages[agreeing], compared_stages(arrays, candidate, state.nodes)
        differs = compared[agreeing]
        near = Prefilter(arrays, candidate, self.precision, state.nodes, differs, frozenset(compared[:agreeing]))
        n_parts = 3 if in_pairs and self._may_pair(first) else 2
        parts = [(part, candidate.trace, candidate.rotation, differs, near.tolerance) for part in range(n_parts)]
        if is_first and failed.issuperset(parts):
            return []
        setting = Setting(
            candidate.trace, state.nodes, candidate.wrong_masks, {*arrays}, candidate.sizes, first, state.values
        )
        known = {each.stage for each in state.stages[:agreeing] if not (each.layout and each.layout.is_averaged)}
        likeliest: list[tuple[Mistakes, PassComparison]] = []
        for part, passes in zip(parts, mistaken_passes(setting, set(targets(first.stage)), known), strict=False):
            if is_first and part in failed:
                continue
            accepted = [each for each in passes if near.accepts(each[1])]
            if not accepted and is_first:
                failed.add(part)
            best = (agreeing + 1, 0)
            for mistakes, nodes in accepted:
                made = self._compare(candidate, nodes, state)
                rank = rank_of(made.stages)
                if made.stages[agreeing].is_nearer_than(first) and rank >= best:
                    likeliest = [*likeliest, (mistakes, made)] if rank == best else [(mistakes, made)]
                    best = rank
            if likeliest:
                break
        least = min((made.stages[agreeing].off for _, made in likeliest), default=0.0)
        return sorted(likeliest, key=lambda each: each[1].stages[agreeing].off > _FAR * least)


def _in_batches(rotations: Sequence[Rotation], plain: Candidate) -> Iterator[Sequence[Rotation]]:
    return batches(rotations, max(plain.trace[each].size for each in ("scores", *plain.trace["scores"].inputs)))


def _alike(readings: Iterable[Reading], n_others: int) -> Iterator[Sequence[Reading]]:
    """Batches of readings whose masks have the same shape and type."""
    for _, alike in groupby(readings, lambda each: (each.arrays["mask"].dtype, each.arrays["mask"].ndim)):
        some = list(alike)
        yield from batches(some, max(some[0].sizes["h"] * some[0].sizes["t"] * ROWS, n_others))


# --- Mistakes to try

_PROJECTED = {"q", "k", "v", "q_normed", "k_normed", "q_rotated", "k_rotated"}
_BEFORE_USE = "attention averaged over heads"  # leaves the returned attention unchanged
_SCORED = ("scaled", "capped", "masked", "attention")  # adjacent stages, in which mistakes hide each other
_BEFORE_SCORES = ("transposed", "bias", "rotation", "positions")  # prefixes of mistakes to pair with those in _SCORED


def mistaken_passes(setting: Setting, wanted: set[str], known: set[str]) -> tuple[Iterable[MistakenPass], ...]:
    """The passes with a mistake that may explain the `wanted` stages, in three parts.

    First those in which a mistake affects everything after it; then those in which the `known` stages stay right but
    are misread later, as where hooks record what a module returns; then those with two mistakes, which hide each other.
    """
    nodes, mistakes = setting.nodes, list(mistakes_in(setting))
    unexplained = needed(nodes, wanted, known)
    likely = [each for each in mistakes if not unexplained.isdisjoint(each.nodes)]
    known_only = (each for each in mistakes if known.issuperset(each.nodes))
    misread = [each for each in known_only if each.id == _BEFORE_USE or _PROJECTED.issuperset(each.nodes)]
    return (
        [((each,), {**nodes, **each.nodes}) for each in likely],
        [((each,), _misread(nodes, each.nodes)) for each in misread],
        (
            ((one, other), {**nodes, **one.nodes, **other.nodes})
            for one, other in _pairs(likely)
            if one.stage != other.stage and one.nodes.keys().isdisjoint(other.nodes)
        ),
    )


def _pairs(likely: list[Mistake]) -> Iterator[tuple[Mistake, Mistake]]:
    """Pairs of mistakes, the earlier one first: in scores and softmax, before them, and after them."""
    scored = sorted((each for each in likely if each.stage in _SCORED), key=lambda each: _SCORED.index(each.stage))
    before = [each for each in likely if each.stage in _PROJECTED and each.id.startswith(_BEFORE_SCORES)]
    after = [each for each in likely if each.stage in ("concat", "output")]
    yield from combinations(scored, 2)
    yield from ((one, other) for one in before for other in scored if other.stage != "attention")
    yield from ((one, other) for one in scored if one.stage == "attention" for other in after)


def _misread(nodes: Nodes, changed: Nodes) -> dict[str, Node]:
    """Nodes in which later stages read the changed stages, which themselves stay unchanged."""
    as_read = {name: f"{name} as it is read" for name in changed}
    made: dict[str, Node] = {}
    for name, node in nodes.items():
        reads = not as_read.keys().isdisjoint(node.inputs)
        made[name] = Node(tuple(as_read.get(each, each) for each in node.inputs), node.make) if reads else node
        if name in changed:
            made[as_read[name]] = changed[name]
    return made


# --- All precisions

_SPREAD = 0.25  # at least this part of a stage differs if it was computed in a coarser format
_SLACK = 8.0  # other code in float32 rounds more often than ours
_MANY = 2**13  # with so many scores no two explanations agree by chance
_LITTLE = 0.02  # the largest relative difference that 16-bit rounding explains


@dataclass(frozen=True, eq=False)
class PrecisionSearch:
    """The search in the formats that arrays are stored in, then in coarser ones that they may have been computed in."""

    candidates: Candidates

    @cached_property
    def _searches(self) -> tuple[list[PassSearch], list[PassSearch]]:
        """The searches in the stored precisions, the finest first; and in coarser ones."""
        arrays, plain = self.candidates.arrays, self.candidates.likely[0]
        floats = {stage: each for stage, each in arrays.items() if each.dtype.kind == "f"}
        compared = [each.format_and_digits for stage, each in floats.items() if plain.compares(stage)]
        digits = min((digits for _, digits in compared if digits), key=lambda each: each.n, default=None)
        stored = {each for each, _ in compared} or {FLOAT64}
        bits = min(each.bits for each in stored)
        formats = {each.format_and_digits[0] for each in floats.values()} | plain.formats
        coarser = [Precision(FLOAT32, digits)] if bits > FLOAT32.bits else []
        if bits == FLOAT32.bits:
            coarser.append(Precision(FLOAT32, digits, slack=_SLACK))
        if FLOAT16 in formats and bits >= FLOAT32.bits:
            coarser.append(Precision(FLOAT16, digits))
        if bits == FLOAT32.bits:
            coarser.append(Precision(FLOAT32, digits, is_tf32=True))
        finest_first = [Precision(each, digits) for each in sorted(stored, key=lambda each: -each.bits)]
        search = partial(PassSearch, self.candidates)
        return [*map(search, finest_first)], [*map(search, coarser)]

    @cached_property
    def plain(self) -> Diagnosis | None:
        return next(filter(None, (each.plain for each in self._searches[0])), None)

    @cached_property
    def quick_match(self) -> Diagnosis | None:
        """A pass with a mistake that reproduces so many numbers that the slower searches can't beat it."""
        if self.plain or self.candidates.likely[0].n_scores < _MANY:
            return None
        fine = [each for each in self._searches[0] if each.precision.is_fine]
        return next((each.single_mistakes for each in fine if each.single_mistakes.explains_all), None)

    @cached_property
    def coarse(self) -> Diagnosis | None:
        """The unmodified pass that reproduces every array if it was computed in a coarser precision."""
        stored, coarser = self._searches
        if self.plain:
            return None
        differing = [first_differing(state.stages) for _, state in stored[-1].nearest_candidates]
        if any(each.spread < _SPREAD for each in differing if each):
            return None
        return next(filter(None, (each.plain for each in coarser)), None)

    @cached_property
    def rotated(self) -> Diagnosis | None:
        return next(filter(None, (each.rotated for each in self._searches[0])), None)

    @property
    def nearest(self) -> Diagnosis:
        return max((each.plain or each.nearest for each in self._searches[0]), key=lambda each: each.rank)

    @property
    def best_so_far(self) -> Diagnosis | None:
        """The best result when a search is stopped; None if there is none yet."""
        run = (each.plain or each.nearest for each in self._searches[0] if "_compared" in vars(each))
        return max(run, key=lambda each: each.rank, default=None)

    @property
    def best(self) -> Diagnosis:
        stored, coarser = self._searches
        for each in stored:
            diagnosis = each.diagnosis(may_be_rotated=not self.coarse)
            if diagnosis.explains_all:
                return diagnosis
        if self.coarse:
            return self.coarse
        first = diagnosis.first
        for each in coarser:
            if first is None or first.spread < _SPREAD:
                break
            other = (each.plain or each.rotated) if each.precision.slack > 1 else each.diagnosis()
            if other and other.explains_all:
                return other
        return diagnosis if diagnosis.mistakes else replace(diagnosis, within=self._within(diagnosis))

    def _within(self, diagnosis: Diagnosis) -> str:
        """The 16-bit format whose rounding would explain a small difference, or ""."""
        first = diagnosis.first
        if first is None or first.expected is None or first.spread < _SPREAD:
            return ""
        if first.off > _LITTLE * np.abs(first.expected[np.isfinite(first.expected)]).max(initial=0):
            return ""
        coarser = (each for each in (FLOAT16, BFLOAT16) if each.bits < diagnosis.precision.format.bits)
        return next((each.name for each in coarser if PassSearch(self.candidates, Precision(each)).plain), "")

    def forget(self) -> None:
        """Drop the passes of large arrays while other readings are tried."""
        if not self.candidates.likely[0].is_small:
            vars(self).pop("_searches", None)
            for each in (*self.candidates.likely, *vars(self.candidates).get("with_inferred_mask", ())):
                each.forget()
