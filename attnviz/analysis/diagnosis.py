"""Diagnosis: the first stage in which someone's arrays part from a pass, and the mistakes with which they don't."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnviz.analysis.agreement import Agreement, agreement, targets
from attnviz.analysis.candidates import Candidate, Candidates
from attnviz.analysis.formats import FLOAT32, FLOAT64
from attnviz.analysis.mistakes import Mistake, Node, Nodes, evaluated, mistakes_in, nodes_of
from attnviz.analysis.ownarrays import OwnArrays
from attnviz.analysis.rotation import rotations
from attnviz.analysis.rounding import Precision, Rounded, applied
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import Stage

_MAX_MISTAKES = 3
"""So many are looked for, one on top of the other."""

_MAX_CANDIDATES = 8
"""So many readings are looked at closely."""

UNSEEING = ("zeros", "a uniform row", "no numbers", "the row as if nothing were hidden", "numbers of its own")
"""What a query that sees no key gets: in attnviz and ONNX; in JAX; in PyTorch; where -1e9 is added to float64; where
two masks are added, one on top of the other, and one number is no longer as small as the other."""

_ANYTHING = 1e9
"""How far off a number may be that is nobody's business."""

_SPREAD = 0.25
"""The part of a stage's numbers that differ where it was computed in a coarser format than it was written in."""

_BESIDE_A_BILLION = 1e-6
"""How far a share may be off after its score was added to -1e9, and lost all digits but seven."""


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Someone's arrays beside a pass.

    Attributes
    ----------
    candidate : Candidate
    precision : Precision
        In which they were compared.
    stages : tuple of Agreement
        One for each array that a stage of the pass is compared with, in the order of the pass, without any mistake.
    mistakes : tuple of Mistake
        With these, one after the other, more stages agree: each time the first that differed, and perhaps others.
    alternatives : tuple of Mistake
        Others than the first of them that explain as much.
    explained : tuple of Agreement
        The stages beside the pass with the mistakes.
    unseeing : str
        What a query that sees no key gets in their pass, one of UNSEEING.
    """

    candidate: Candidate
    precision: Precision
    stages: tuple[Agreement, ...]
    mistakes: tuple[Mistake, ...] = ()
    alternatives: tuple[Mistake, ...] = ()
    explained: tuple[Agreement, ...] = ()
    unseeing: str = UNSEEING[0]

    @property
    def rank(self) -> tuple[int, int]:
        """How many stages agree before the first that differs, and how many in all, with the mistakes."""
        return _rank(self.explained or self.stages)

    @property
    def explains_all(self) -> bool:
        """Whether all stages agree, if need be with the mistakes."""
        return _is_perfect(self.explained or self.stages)

    @property
    def rest(self) -> float:
        """The magnitude of what the mistakes don't explain; 0 if they explain all."""
        return max((_magnitude(each.off) for each in self.explained or self.stages if not each.agrees), default=0.0)

    @property
    def first(self) -> Agreement | None:
        """The first stage that differs."""
        return next((each for each in self.stages if not each.agrees), None)


def diagnosed(candidates: Candidates) -> Diagnosis:
    """What explains arrays best: in the finest precision in which a pass, perhaps with mistakes, explains all of them.

    They are compared in the formats that they were written in, and where much of a stage differs in those that it may
    have been computed in: of what goes in, or TF32.
    """
    held, looser = _precisions(candidates)
    for precision in held:
        found = Examiner(candidates.own, precision).diagnosis(candidates)
        if found.explains_all:
            return found
    for precision in looser:
        if found.first.spread < _SPREAD:
            break
        other = Examiner(candidates.own, precision).diagnosis(candidates)
        if other.explains_all:
            return other
    return found


def _precisions(candidates: Candidates) -> tuple[list[Precision], list[Precision]]:
    """Those that the compared arrays were written in, the finest first; and coarser ones."""
    floats = {stage: each for stage, each in candidates.own.items() if each.dtype.kind == "f"}
    compared = [each.written for stage, each in floats.items() if not candidates.likely[0].begins_with(stage)]
    digits = min((digits for _, digits in compared if digits), key=lambda each: each.n, default=None)
    held = {each for each, _ in compared} or {FLOAT64}
    coarsest = min(each.bits for each in held)
    entering = {each.written[0] for each in floats.values() if each.written[0].bits < coarsest}
    finest_first = [
        [Precision(each, digits) for each in sorted(formats, key=lambda each: -each.bits)]
        for formats in (held, entering)
    ]
    return finest_first[0], finest_first[1] + [Precision(FLOAT32, digits, is_tf32=True)] * (coarsest == FLOAT32.bits)


@dataclass(frozen=True, eq=False)
class _State:
    nodes: Nodes
    values: Mapping[str, Rounded]
    stages: tuple[Agreement, ...]
    unseeing: str


@dataclass(frozen=True, eq=False)
class Examiner:
    """What compares arrays with passes, in one precision.

    Attributes
    ----------
    own : mapping of stages to OwnArray
    precision : Precision
    """

    own: OwnArrays
    precision: Precision

    def diagnosis(self, candidates: Candidates) -> Diagnosis:
        """Of the pass that explains most of the arrays; of several that do, the first."""
        states = []
        for group in ("likely", "with_more_hidden"):
            for candidate, nodes in self._likeliest(getattr(candidates, group)):
                state = self._state(candidate, nodes, self.precision)
                if _is_perfect(state.stages):
                    return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)
                states.append((candidate, state))
        best = max(_rank(state.stages) for _, state in states)
        tied = [each for each in states if _rank(each[1].stages) == best]
        for candidate, state in (each for plain, _ in tied for each in self._rotated(plain)):
            if _is_perfect(state.stages):
                return Diagnosis(candidate, self.precision, state.stages, unseeing=state.unseeing)
        found = max((self._explained(*each) for each in tied), key=lambda found: (found.rank, -found.rest))
        if found.explains_all:
            return found
        rotated = (self._explained(*each) for each in self._rotated(found.candidate))
        return next((each for each in rotated if each.explains_all), found)

    def _rotated(self, candidate: Candidate) -> Iterator[tuple[Candidate, _State]]:
        """The pass with queries and keys that are turned by their positions."""
        plain = nodes_of(candidate.trace, self._given)
        for rotation in rotations(plain, candidate.sizes.get("d", 1)) if candidate.reading else ():
            yield replace(candidate, rotation=rotation), self._state(candidate, rotation.nodes(plain), self.precision)

    @property
    def _rough(self) -> Precision:
        return replace(self.precision, is_rough=True)

    def _likeliest(self, candidates: Sequence[Candidate]) -> list[tuple[Candidate, Nodes]]:
        """The passes that roughly explain most, and are nearest, with their nodes; in their order, where they tie."""
        found = [(each, nodes_of(each.trace, self._given)) for each in candidates]
        if len(found) < 2:
            return found
        rough = [self._state(*each, self._rough).stages for each in found]
        ranks = [_rank(stages) for stages in rough]
        off = [_magnitude(max((each.roundings for each in stages), default=0.0)) for stages in rough]
        nearest = sorted(range(len(found)), key=lambda i: ((-ranks[i][0], -ranks[i][1]), off[i]))[:_MAX_CANDIDATES]
        return [found[i] for i in sorted(sorted(nearest), key=lambda i: ranks[i], reverse=True)]

    def _explained(self, candidate: Candidate, state: _State) -> Diagnosis:
        first, mistakes, alternatives = state.stages, [], ()
        while len(mistakes) < _MAX_MISTAKES and not _is_perfect(state.stages):
            found = self._with_a_mistake(candidate, state)
            if not found:
                break
            if not mistakes:
                alternatives = tuple(mistake for mistake, _ in found[1:])
            mistake, state = found[0]
            mistakes.append(mistake)
        explained = state.stages if mistakes else ()
        return Diagnosis(candidate, self.precision, first, tuple(mistakes), alternatives, explained, state.unseeing)

    def _with_a_mistake(self, candidate: Candidate, state: _State) -> list[tuple[Mistake, _State]]:
        """The mistakes with which most agrees, and at least the first stage that differs, and what is made of them."""
        agreeing = _rank(state.stages)[0]
        until = {each.stage for each in state.stages[: agreeing + 1]}
        best, found = (agreeing + 1, 0), []
        for mistake in mistakes_in(candidate.trace, state.nodes, candidate.other_masks, set(self.own)):
            nodes = {**state.nodes, **mistake.nodes}
            rough = self._state(candidate, nodes, self._rough, state, until)
            if not _is_perfect(rough.stages):
                continue
            made = self._state(candidate, nodes, self.precision, state)
            rank = _rank(made.stages)
            if not _is_finite(made.stages[agreeing]):
                continue  # what isn't a number is explained by anything that makes none
            if rank > best:
                best, found = rank, []
            if rank == best:
                found.append((mistake, made))
        return found

    def _state(
        self,
        candidate: Candidate,
        nodes: Nodes,
        precision: Precision,
        before: _State | None = None,
        until: set[str] | None = None,
    ) -> _State:
        """The stages beside the arrays, with what suits these best where a query sees no key.

        Only those that `until` names, where it does; what `before` has made already isn't made again.
        """
        stages = [each for each in self.own if each in nodes and (until is None or until.intersection(targets(each)))]
        wanted = {name for each in stages for name in targets(each)} & set(nodes)
        wanted |= {"masked"} & set(nodes) if "attention" in nodes else set()
        old = (before.nodes, before.values) if before else None
        values = evaluated(nodes, precision, wanted, old)
        best = _State(nodes, values, self._agreements(candidate, values, stages, precision), UNSEEING[0])
        if _is_perfect(best.stages) or not {"masked", "scaled"} <= values.keys() or "attention" not in nodes:
            return best
        unseeing = np.isneginf(values["masked"].value).all(axis=-1)
        if not unseeing.any():
            return best
        for nature in UNSEEING[1:-1] if unseeing.all() else UNSEEING[1:]:
            other = {**nodes, "attention": _filled(nodes["attention"], nature)}
            filled = evaluated(other, precision, wanted, (nodes, values))
            found = self._agreements(candidate, filled, stages, precision)
            if _rank(found) > _rank(best.stages):
                best = _State(other, filled, found, nature)
        return best

    def _agreements(
        self, candidate: Candidate, values: Mapping[str, Rounded], stages: list[str], precision: Precision
    ) -> tuple[Agreement, ...]:
        return tuple(
            agreement(self.own[stage], stage, values, candidate.sizes, precision)
            for stage in stages
            if not candidate.begins_with(stage)
        )

    def _given(self, stage: Stage) -> Rounded:
        """A stage that was given, with what it may have lost when it was written."""
        own, fewest = self.own.get(stage.name), self.precision.digits
        digits = own.digits if own and fewest and own.digits and own.digits.n >= fewest.n else None
        return Rounded.given(stage.value, self.precision, digits)


def _magnitude(off: float) -> float:
    """How large a difference is, alike for those that only rounding tells apart: more by 1 for each factor of e."""
    return round(math.log1p(min(off, 1e300) / np.finfo(float).eps), 3)


def _rank(stages: tuple[Agreement, ...]) -> tuple[int, int]:
    agree = [each.agrees for each in stages]
    return (agree.index(False) if False in agree else len(agree)), sum(agree)


def _is_finite(stage: Agreement) -> bool:
    return stage.value is not None and bool(np.isfinite(stage.value).any())


def _is_perfect(stages: tuple[Agreement, ...]) -> bool:
    return all(each.agrees for each in stages)


def _filled(attention: Node, nature: str) -> Node:
    """The stage attention with other numbers where a query sees no key."""

    def refilled(given: list[Rounded], precision: Precision) -> Rounded:
        *inputs, scaled = given
        shares = attention.make(inputs, precision)
        unseeing = np.isneginf(inputs[0].value).all(axis=-1, keepdims=True)
        if nature == UNSEEING[3]:
            other = applied(Softmax(), [scaled], precision)
            other = Rounded(other.value, other.error + _BESIDE_A_BILLION * other.value)
        elif nature == UNSEEING[4]:
            other = Rounded(np.zeros(shares.value.shape), np.full(shares.value.shape, _ANYTHING))
        else:
            filling = 1 / shares.value.shape[-1] if nature == UNSEEING[1] else np.nan
            other = Rounded(np.full(shares.value.shape, filling), shares.error)
        return Rounded(np.where(unseeing, other.value, shares.value), np.where(unseeing, other.error, shares.error))

    return Node((*attention.inputs, "scaled"), refilled)
