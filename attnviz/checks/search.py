"""Search: the mistakes with which a pass makes someone's arrays, one on top of the other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from attnviz.checks.agreement import Agreement, targets
from attnviz.checks.arrays import OwnArrays
from attnviz.checks.candidates import Candidate
from attnviz.checks.causes.mistake import Mistake, Setting
from attnviz.checks.diagnosis import Diagnosis, is_perfect, rank_of
from attnviz.checks.mistakes import Mistaken, mistaken
from attnviz.checks.nearness import Nearness
from attnviz.checks.rounding import Precision
from attnviz.checks.stages import score_stages
from attnviz.checks.state import State, state_of

_MAX_MISTAKES = 3
"""So many are looked for, one on top of the other."""

_FAR = 4.0
"""By so many times the least difference others are less likely."""

_PAIRED = ("attention", "heads", "concat", "output")
"""Stages after the scores that two mistakes may have changed before any other stage shows one of them."""


@dataclass(frozen=True, eq=False)
class Search:
    """A search for mistakes in one precision.

    Attributes
    ----------
    own : mapping of stages to OwnArray
    precision : Precision
    in_pairs : bool
        Whether two are tried at once, too.
    hopeless : set
        What came near nothing before, and isn't tried again; what doesn't, joins it.
    """

    own: OwnArrays
    precision: Precision
    in_pairs: bool
    hopeless: set[Hashable]

    def explained(self, candidate: Candidate, state: State) -> Diagnosis:
        """A pass with the mistakes that explain most."""
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
            unseeing=state.unseeing,
        )

    def _with_a_mistake(
        self, candidate: Candidate, state: State, n_before: int
    ) -> list[tuple[tuple[Mistake, ...], State]]:
        """The mistakes, or pairs, with which most agrees, at least the first stage that differs; and the pass."""
        agreeing = rank_of(state.stages)[0]
        first = state.stages[agreeing]
        compared = [stage for stage in self.own if stage in state.nodes and not candidate.begins_with(stage)]
        agree, differs = {*compared[:agreeing]}, compared[agreeing]
        nearness = Nearness(self.own, candidate, self.precision, state.nodes, agree, differs)
        n_parts = 3 if self.in_pairs and may_pair(self.precision, first) else 2
        parts = [(part, candidate.trace, candidate.rotation, differs, nearness.size) for part in range(n_parts)]
        if not n_before and self.hopeless.issuperset(parts):
            return []
        likeliest: list[tuple[tuple[Mistake, ...], State]] = []
        for part, ways in zip(parts, self._ways(candidate, state, agreeing), strict=False):
            if not n_before and part in self.hopeless:
                continue
            near = [each for each in ways if nearness.of(each[1])]
            if not near and not n_before:
                self.hopeless.add(part)
            if likeliest := self._best(near, candidate, state, agreeing):
                break
        least = min((made.stages[agreeing].off for _, made in likeliest), default=0.0)
        return sorted(likeliest, key=lambda each: each[1].stages[agreeing].off > _FAR * least)

    def _ways(self, candidate: Candidate, state: State, agreeing: int) -> tuple[Iterable[Mistaken], ...]:
        """The passes with mistakes."""
        known = {each.stage for each in state.stages[:agreeing] if not (each.layout and each.layout.is_averaged)}
        first, masks, own = state.stages[agreeing], candidate.other_masks, set(self.own)
        setting = Setting(candidate.trace, state.nodes, masks, own, candidate.sizes, first, state.values)
        return mistaken(setting, set(targets(first.stage)), known)

    def _best(
        self, near: Iterable[Mistaken], candidate: Candidate, state: State, agreeing: int
    ) -> list[tuple[tuple[Mistake, ...], State]]:
        """Of passes that are near those with which most agrees."""
        best, likeliest = (agreeing + 1, 0), []
        for mistakes, nodes in near:
            made = state_of(self.own, candidate, nodes, self.precision, state)
            rank = rank_of(made.stages)
            if not made.stages[agreeing].is_nearer_than(state.stages[agreeing]):
                continue
            if rank > best:
                best, likeliest = rank, []
            if rank == best:
                likeliest.append((mistakes, made))
        return likeliest


def may_pair(precision: Precision, first: Agreement) -> bool:
    """Whether pairs of mistakes are tried: numbers must tell so many apart."""
    return precision.is_fine and first.stage in (*score_stages(), *_PAIRED)
