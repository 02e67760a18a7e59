"""Search: the rotations and the mistakes with which a pass reproduces the arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Literal

import numpy as np

from attnviz.checks.causes.cause import Mistake, Setting
from attnviz.checks.causes.fit import Fit, numbers_near
from attnviz.checks.causes.table import MistakenPass, passes_with_mistakes
from attnviz.checks.explain.agreement import ANYTHING, Agreement, distances, targets
from attnviz.checks.explain.candidates import Candidate
from attnviz.checks.explain.diagnosis import Diagnosis, PassComparison, SharedNodes, compare_pass, is_perfect, rank_of
from attnviz.checks.explain.prefilter import Prefilter
from attnviz.checks.explain.rotation import (
    Rotation,
    known_rotations,
    may_be_rotated,
    nodes_of_each,
    shapes_of_rotations,
    usual_rotations,
)
from attnviz.checks.read.arrays import OwnArrays
from attnviz.checks.read.budget import batches, select
from attnviz.checks.read.rounding import Precision
from attnviz.checks.read.stages import score_stages, stages_from_scores

_RANGES = {"base": (10, 1e8), "factor": (1, 100)}

Off = Callable[[Sequence[Rotation]], np.ndarray]


def rotations_near(shape: Rotation, varied: Literal["base", "factor"], off: Off) -> Iterator[list[Rotation]]:
    """Rotations whose base or factor comes nearest, rounded values first.

    Parameters
    ----------
    shape : Rotation
        Fixes everything else.
    varied : {"base", "factor"}
    off : callable
        The distance of the arrays for each of some rotations.
    """

    def of(number: float) -> Rotation:
        return replace(shape, **{varied: float(number)})

    for number in numbers_near(lambda numbers: off([of(each) for each in numbers]), *_RANGES[varied]):
        yield [of(each) for each in dict.fromkeys([*(float(f"{number:.{n}g}") for n in range(1, 7)), number])]


@dataclass(frozen=True, eq=False)
class RotationSearch:
    """The search for a rotation; `nodes` holds the unrotated passes, the arrays and the precision."""

    nodes: SharedNodes

    @property
    def own(self) -> OwnArrays:
        return self.nodes.own

    @property
    def precision(self) -> Precision:
        return self.nodes.precision

    def may_be_rotated(self, plain: Candidate) -> bool:
        """Whether the pass may lack a rotation of its queries and keys."""
        return plain.reading is not None and may_be_rotated(self.nodes.of(plain), plain.sizes.get("d", 1))

    def leaves_what_agrees(self, plain: Candidate, state: PassComparison) -> bool:
        """Whether a rotation keeps what agrees, such as the weight of a query's only visible key."""
        if not self.may_be_rotated(plain):
            return False
        d = plain.sizes["d"]
        rotations = [*usual_rotations(d)] or [*islice(known_rotations(d), 1)]
        agreeing = {each.stage for each in state.stages if each.agrees}.intersection(stages_from_scores())
        if not agreeing:
            return bool(rotations)
        rotated = (self.rotated(plain, each)[1] for each in rotations)
        return any(agreeing <= {each.stage for each in way.stages if each.agrees} for way in rotated)

    def rotated(self, plain: Candidate, rotation: Rotation) -> tuple[Candidate, PassComparison]:
        """The pass with rotated queries and keys, compared."""
        candidate = replace(plain, rotation=rotation)
        return candidate, compare_pass(self.own, candidate, rotation.nodes(self.nodes.of(plain)), self.precision)

    def known(self, plain: Candidate) -> Diagnosis | None:
        """The first known rotation that reproduces every array."""
        return self._first_perfect(plain, [[*known_rotations(plain.sizes["d"])]])

    def unknown(self, plain: Candidate) -> Diagnosis | None:
        """A rotation with another base or factor that reproduces every array."""
        shapes = shapes_of_rotations(plain.sizes["d"])
        near = (rotations_near(shape, varied, self._off_by(plain)) for shape, varied in shapes)
        return self._first_perfect(plain, chain.from_iterable(near))

    def off_if_rotated(self, plain: Candidate) -> float:
        """The distance with the nearest usual rotation."""
        usual = [*usual_rotations(plain.sizes["d"])]
        return float(self._off_by(plain)(usual).min()) if usual else math.inf

    def rest_by(self, plain: Candidate) -> Callable[[Rotation], tuple[float, float]]:
        """Sort key of rotations: the distance that no scale or cap removes, then the total distance."""
        before = compare_pass(self.own, plain, self.nodes.of(plain), self._rough)

        def rest(rotation: Rotation) -> tuple[float, float]:
            rotated = replace(plain, rotation=rotation)
            state = compare_pass(self.own, rotated, rotation.nodes(before.nodes), self._rough, before)
            fits = (Fit.of(each, state.values.get("scaled")) for each in state.stages)
            fit = next(filter(None, fits), None)
            return fit.rest() if fit else 1.0, sum(min(each.off, ANYTHING) for each in state.stages)

        return rest

    def _first_perfect(self, plain: Candidate, rotations: Iterable[Sequence[Rotation]]) -> Diagnosis | None:
        """The first of some rotations that reproduces every array."""
        nodes = self.nodes.of(plain)
        before = compare_pass(self.own, plain, nodes, self._rough)
        compared = [stage for stage in self.own if stage in nodes and not plain.begins_with(stage)]
        differing = [name for name, each in zip(compared, before.stages, strict=True) if not each.agrees]
        near = Prefilter(self.own, plain, self.precision, nodes, set(), (differing or compared)[0])
        for some in chain.from_iterable(_in_batches(each, plain) for each in rotations):
            for rotation in select(some, near.of_each(nodes_of_each(some, nodes))):
                candidate, state = self.rotated(plain, rotation)
                if is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, fully_masked=state.fully_masked)
        return None

    def _off_by(self, plain: Candidate) -> Callable[[Sequence[Rotation]], np.ndarray]:
        """The distance of the arrays as a function of the rotations."""
        nodes = self.nodes.of(plain)

        def off(rotations: Sequence[Rotation]) -> np.ndarray:
            ways = [(nodes_of_each(some, nodes), len(some)) for some in _in_batches(rotations, plain)]
            return np.concatenate([distances(self.own, plain, way, self._rough, n) for way, n in ways])

        return off

    @cached_property
    def _rough(self) -> Precision:
        return replace(self.precision, is_rough=True)


def _in_batches(rotations: Sequence[Rotation], plain: Candidate) -> Iterator[Sequence[Rotation]]:
    return batches(rotations, max(plain.trace[each].size for each in ("scores", *plain.trace["scores"].inputs)))


_MAX_MISTAKES = 3  # how many cumulative mistakes are searched
_FAR = 4.0  # mistakes that leave more than 4 times the least difference rank last

# Stages after the scores that may be the first to show two mistakes
_PAIRED = ("attention", "heads", "concat", "output")


@dataclass(frozen=True, eq=False)
class MistakeSearch:
    """The search for mistakes in one precision.

    Attributes
    ----------
    in_pairs : bool
        Whether pairs of mistakes are tried, too.
    failed_searches : set
        Searches that found nothing near; not repeated, and extended here.
    """

    own: OwnArrays
    precision: Precision
    in_pairs: bool
    failed_searches: set[Hashable]

    def explained(self, candidate: Candidate, state: PassComparison) -> Diagnosis:
        """The pass with the cumulative mistakes that explain most."""
        plain, mistakes, alternatives = state, [], ()
        while len(mistakes) < _MAX_MISTAKES and not is_perfect(state.stages):
            likeliest = self._with_a_mistake(candidate, state, len(mistakes))
            if not likeliest:
                break
            if not mistakes:
                alternatives = tuple(each for each, _ in likeliest[1:])
            made, state = likeliest[0]
            mistakes += made
        return Diagnosis(
            candidate,
            self.precision,
            plain.stages,
            tuple(mistakes),
            alternatives,
            explained=state.stages if mistakes else (),
            nodes=state.nodes if mistakes else {},
            mistaken=tuple(name for name, node in state.nodes.items() if node is not plain.nodes.get(name)),
            fully_masked=state.fully_masked,
        )

    def _with_a_mistake(
        self, candidate: Candidate, state: PassComparison, n_before: int
    ) -> list[tuple[tuple[Mistake, ...], PassComparison]]:
        """The mistakes, or pairs, with which the first differing stage and most others agree; with their passes."""
        agreeing = rank_of(state.stages)[0]
        first = state.stages[agreeing]
        compared = [stage for stage in self.own if stage in state.nodes and not candidate.begins_with(stage)]
        agree, differs = {*compared[:agreeing]}, compared[agreeing]
        prefilter = Prefilter(self.own, candidate, self.precision, state.nodes, agree, differs)
        n_parts = 3 if self.in_pairs and may_pair(self.precision, first) else 2
        parts = [(part, candidate.trace, candidate.rotation, differs, prefilter.size) for part in range(n_parts)]
        if not n_before and self.failed_searches.issuperset(parts):
            return []
        likeliest: list[tuple[tuple[Mistake, ...], PassComparison]] = []
        for part, ways in zip(parts, self._ways(candidate, state, agreeing), strict=False):
            if not n_before and part in self.failed_searches:
                continue
            near = [each for each in ways if prefilter.of(each[1])]
            if not near and not n_before:
                self.failed_searches.add(part)
            if likeliest := self._best(near, candidate, state, agreeing):
                break
        least = min((made.stages[agreeing].off for _, made in likeliest), default=0.0)
        return sorted(likeliest, key=lambda each: each[1].stages[agreeing].off > _FAR * least)

    def _ways(self, candidate: Candidate, state: PassComparison, agreeing: int) -> tuple[Iterable[MistakenPass], ...]:
        known = {each.stage for each in state.stages[:agreeing] if not (each.layout and each.layout.is_averaged)}
        first, masks, own = state.stages[agreeing], candidate.other_masks, set(self.own)
        setting = Setting(candidate.trace, state.nodes, masks, own, candidate.sizes, first, state.values)
        return passes_with_mistakes(setting, set(targets(first.stage)), known)

    def _best(
        self, near: Iterable[MistakenPass], candidate: Candidate, state: PassComparison, agreeing: int
    ) -> list[tuple[tuple[Mistake, ...], PassComparison]]:
        """The best of the passes that passed the prefilter."""
        best, likeliest = (agreeing + 1, 0), []
        for mistakes, nodes in near:
            made = compare_pass(self.own, candidate, nodes, self.precision, state)
            rank = rank_of(made.stages)
            if not made.stages[agreeing].is_nearer_than(state.stages[agreeing]):
                continue
            if rank > best:
                best, likeliest = rank, []
            if rank == best:
                likeliest.append((mistakes, made))
        return likeliest


def may_pair(precision: Precision, first: Agreement) -> bool:
    """Whether pairs of mistakes are tried; coarse numbers don't tell so many apart."""
    return precision.is_fine and first.stage in (*score_stages(), *_PAIRED)
