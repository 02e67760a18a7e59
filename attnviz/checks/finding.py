"""Finding: the outcome of a check of someone's arrays, without its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from attnviz.checks.arrays import (
    NONE_STATED,
    Conventions,
    OwnArrays,
    numbers_in,
    own_arrays,
    with_heads_called_output,
    with_query_entering,
    with_zero_key,
)
from attnviz.checks.axes import Make, in_order
from attnviz.checks.batches import OutOfWorkError, at_most
from attnviz.checks.candidates import Candidate, Candidates
from attnviz.checks.causes.mistake import Mistake
from attnviz.checks.diagnosis import Diagnosis, is_perfect
from attnviz.checks.examination import Examination
from attnviz.checks.layers import layers_of, of_layer
from attnviz.checks.layouts import Layout
from attnviz.checks.names import named
from attnviz.checks.nodes import Node, values_of
from attnviz.checks.recomputation import recomputed
from attnviz.checks.rounding import Rounded
from attnviz.checks.sharednodes import SharedNodes
from attnviz.checks.state import state_of
from attnviz.checks.untried import Untried
from attnviz.core.changes import HIDEABLE
from attnviz.core.errors import OwnArraysError
from attnviz.core.order import LayerConfig
from attnviz.core.parameters import ALL_AXES
from attnviz.core.trace import Trace

MOST_MADE = 300_000_000
"""So many numbers a comparison may make, which takes a second or two."""

_MOST_SEARCHED = 100_000_000
"""So many of these to explain a difference between large passes, of which each that is looked at takes much memory."""

_TOO_LARGE = (
    "These arrays are so large, and can be read in so many ways, that a comparison takes too long. Give fewer heads or "
    "tokens, or say n_heads, orientation and true_is."
)

_MAX_WAYS = 2
"""In so many ways of taking arrays apart mistakes are looked for."""


@dataclass(frozen=True, eq=False)
class Finding:
    """The outcome of a check.

    Attributes
    ----------
    own : mapping of stages to OwnArray
        The arrays, as they were read.
    unread : tuple of str
        The names of the arrays that are of no known stage.
    diagnosis : Diagnosis
    given : Trace or None
        The pass that they were compared with; None for one of their own inputs and parameters.
    layer : int
        Which layer of the given pass, from 1 on.
    """

    own: OwnArrays
    unread: tuple[str, ...]
    diagnosis: Diagnosis
    given: Trace | None
    layer: int

    @cached_property
    def entering(self) -> set[str]:
        """The stages that a pass of their own begins with, and that are compared with nothing."""
        return {"x", "context", "mask", *ALL_AXES} if self.given is None else set()

    @cached_property
    def not_recomputed(self) -> tuple[str, ...]:
        """The stages that nothing earlier was given for to recompute them from."""
        compared = {each.name for each in self.diagnosis.stages}
        aside = [
            stage for stage, array in self.own.items() if array.name not in compared and stage not in self.entering
        ]
        if self.given is None and {"q", "k", "v"} <= set(aside):  # where a pass may well begin
            aside = [stage for stage in aside if stage not in "qkv"]
        return tuple(aside)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """How each stage was laid out."""
        diagnosis, reading = self.diagnosis, self.diagnosis.candidate.reading
        layouts = {each.stage: each.layout for each in diagnosis.explained or diagnosis.stages if each.layout}
        return layouts | dict(reading.layouts if reading else {})

    @property
    def true_hides(self) -> bool:
        """Whether True hides a key in their masks."""
        reading = self.diagnosis.candidate.reading
        return bool(reading and reading.mask and reading.mask.true_hides)

    @cached_property
    def trace(self) -> Trace | None:
        """The given pass; or that of their inputs and parameters.

        None where that doesn't reach from queries, keys and values to head outputs, or where theirs rotates queries
        and keys, which attnviz's doesn't.
        """
        candidate = self.diagnosis.candidate
        whole = {"q", "k", "v", "heads"} <= {stage.name for stage in candidate.trace.stages}
        return self.given or (candidate.trace if whole and candidate.rotation is None else None)

    @cached_property
    def turned_trace(self) -> Trace | None:
        """`trace`; or the pass that rotates queries and keys as theirs does, where an operation of ours does so."""
        candidate = self.diagnosis.candidate
        operation = candidate.rotation and candidate.rotation.operation
        if self.given or operation is None or not {"q", "k", "v", "heads"} <= set(candidate.trace.keys()):
            return self.trace
        return recomputed(candidate.reading.arrays, replace(candidate.reading.block, rotation=operation))

    @cached_property
    def mistaken(self) -> Mapping[str, np.ndarray]:
        """The stages of `turned_trace` that the mistakes make otherwise, as these make them; those that are numbers."""
        trace, diagnosis = self.turned_trace, self.diagnosis
        if trace is None or not diagnosis.mistakes:
            return {}
        made = values_of(diagnosis.nodes, {each for each in diagnosis.mistaken if self.full_name(each) in trace})
        return {self.full_name(name): array for name, array in made.items() if _is_of(name, array)}

    def full_name(self, stage: str) -> str:
        """The name of a stage in `turned_trace`."""
        return self.given.layers[self.layer - 1].names.get(stage, stage) if self.given else stage

    @property
    def block(self) -> LayerConfig | None:
        """The block of a pass of their own."""
        reading = self.diagnosis.candidate.reading
        return reading.block if reading else None


def _is_of(stage: str, array: np.ndarray) -> bool:
    """Whether a pass may hold an array: a query that sees no key may have NaN in somebody's."""
    return bool((np.isfinite(array) | (np.isneginf(array) & (stage in HIDEABLE))).all())


@np.errstate(all="ignore")  # of someone's numbers any may overflow; what comes of it is looked at
def examine(
    trace: Trace | None, arrays: Mapping[str, np.ndarray], layer: int | None = None, stated: Conventions = NONE_STATED
) -> Finding:
    """Hold someone's arrays against a pass, stage by stage.

    Parameters
    ----------
    trace, arrays, layer
        As in `attnviz.compare`.
    stated : Conventions, optional

    Raises
    ------
    OwnArraysError
        If an array holds no real numbers, or they do not fit each other.
    """
    is_of_several = len(layers_of(arrays)) > 1
    arrays = arrays if layer is None else of_layer(arrays, layer)
    layer = 1 if layer is None or (is_of_several and trace and trace.n_layers == 1) else layer
    numbers, arrays = numbers_in(arrays)
    owns, unread = own_arrays(arrays, stated)
    if trace is None:
        owns = [way for own in owns for each in with_query_entering(own) for way in with_heads_called_output(each)]
        owns = [way for own in owns for way in with_zero_key(own)]
        make = partial(Candidates.of, n_heads=stated.n_heads, numbers=numbers)
    else:
        if not 1 <= layer <= trace.n_layers:
            raise OwnArraysError(f"The pass has the layers 1 to {trace.n_layers}; got {layer}.")
        candidate = Candidate.beside(trace.layers[layer - 1].trace)
        if len(unread) == 1 and not owns[0]:
            owns, unread = _nearest(unread[0], arrays[unread[0]], candidate)
        make = partial(Candidates, likely=[candidate])
    own, diagnosis = _explained(owns, make)
    return Finding(own, unread, _by_convention(own, diagnosis), trace, layer)


def _explained(owns: list[OwnArrays], make: Make) -> tuple[OwnArrays, Diagnosis]:
    """The arrays in the way that explains most, and what explains them, if need be with their axes in another order."""
    fitting, diagnosis = [], None
    try:
        with at_most(MOST_MADE):
            if found := _right([partial(make, own) for own in owns], fitting):
                return found
            is_large = any(each.candidates.likely[0].is_large for each in fitting)
            with at_most(_MOST_SEARCHED) if is_large else nullcontext():
                own, diagnosis = _best(fitting)
                return (not diagnosis.explains_all and in_order(own, make, diagnosis)) or (own, diagnosis)
    except OwnArraysError:
        if found := _in_order(owns, make):
            return found
        raise
    except OutOfWorkError:
        if diagnosis is None:
            found = [(each.candidates.own, each.so_far) for each in fitting if each.so_far]
            if not found:
                raise OwnArraysError(_TOO_LARGE) from None
            own, diagnosis = max(found, key=lambda each: each[1].rank)
        return own, replace(diagnosis, untried=(*diagnosis.untried, Untried.REST))


def _in_order(owns: list[OwnArrays], make: Make) -> tuple[OwnArrays, Diagnosis] | None:
    """Arrays that fit no pass as they are, with their axes in an order in which they do."""
    try:
        with at_most(MOST_MADE):
            return next(filter(None, (in_order(own, make, None) for own in owns[:_MAX_WAYS])), None)
    except OutOfWorkError:
        return None


def _by_convention(own: OwnArrays, diagnosis: Diagnosis) -> Diagnosis:
    """A diagnosis whose arrays agree only with a mask read against its library's convention: it is inverted there."""
    against = diagnosis.candidate.reading
    usual = against and against.mask and against.mask.by_convention
    if not usual or not diagnosis.stages or diagnosis.mistakes or not diagnosis.explains_all:
        return diagnosis
    reading = replace(against, mask=usual, arrays={**against.arrays, "mask": usual.value})
    candidate = replace(Candidate.of(reading), rotation=diagnosis.candidate.rotation)
    nodes = SharedNodes(own, diagnosis.precision).of(candidate)
    nodes = candidate.rotation.nodes(nodes) if candidate.rotation else nodes
    state = state_of(own, candidate, nodes, diagnosis.precision)
    plain = Diagnosis(candidate, diagnosis.precision, state.stages, unseeing=state.unseeing)
    if is_perfect(state.stages):
        return plain
    taken = Node.constant(Rounded.unrounded(against.mask.value))
    changed = {name: node.reading("mask", taken) for name, node in nodes.items() if "mask" in node.inputs}
    explained = state_of(own, candidate, {**nodes, **changed}, diagnosis.precision)
    if not is_perfect(explained.stages):
        return diagnosis
    inverted = [each.name for each in against.mask.taken if each.is_against]
    about = " and ".join(inverted) if own["mask"].name not in inverted else ""
    return replace(
        plain,
        mistakes=(Mistake("mask inverted", "masked", about, changed),),
        explained=explained.stages,
        nodes=explained.nodes,
        mistaken=tuple(name for name, node in explained.nodes.items() if node is not nodes.get(name)),
        unseeing=explained.unseeing,
        against=against.mask,
    )


def _right(ways: list[Callable[[], Candidates]], fitting: list[Examination]) -> tuple[OwnArrays, Diagnosis] | None:
    """Of the first of several ways in which all agrees; None if it does in none, or there is one.

    The ways in which the arrays fit each other are put into `fitting`.

    Raises
    ------
    OwnArraysError
        If there is no way in which the arrays fit each other.
    """
    misfit = None
    for way in ways:
        try:
            fitting.append(Examination(way()))
        except OwnArraysError as error:
            misfit = misfit or error
            continue
        if (perfect := fitting[-1].plain) and perfect.stages and len(ways) > 1:
            return fitting[-1].candidates.own, perfect
        if len(fitting) > 1:
            fitting[-1].forget()
    if not fitting:
        raise misfit
    return None


def _best(fitting: list[Examination]) -> tuple[OwnArrays, Diagnosis]:
    """Of several ways of reading arrays, the likeliest, what explains most."""
    if wrong := next(_having("soon", fitting), None):
        return wrong.candidates.own, wrong.soon
    likely = list(_having("coarse", fitting))
    if not likely and len(fitting) > 1 and (right := next(_having("turned", fitting), None)):
        return right.candidates.own, right.turned
    diagnoses = [(each.candidates.own, each.best) for each in (likely or fitting)[:_MAX_WAYS]]
    return max(diagnoses, key=lambda each: (each[1].explains_all, each[1].rank, -len(each[1].mistakes)))


def _having(diagnosis: str, fitting: list[Examination]) -> Iterator[Examination]:
    """Those of several examinations that have such a diagnosis."""
    for each in fitting:
        if getattr(each, diagnosis):
            yield each
        elif each is not fitting[0]:
            each.forget()


def _nearest(name: str, array: np.ndarray, candidate: Candidate) -> tuple[list[OwnArrays], tuple[str, ...]]:
    """An array of no known name as the stage of a pass that it is nearest to."""
    ranked = []
    for stage in candidate.trace.stages:
        if not named(stage.name) or (stage.name == "mask") != (np.asarray(array).dtype == bool):
            continue
        (alone,), _ = own_arrays({stage.name: array})
        for each in Examination(Candidates(alone, [candidate])).best.stages:
            if each.layout and each.stage == stage.name:
                ranked.append((not each.agrees, each.roundings, len(ranked), stage.name, alone[stage.name]))
    if not ranked:
        return [{}], (name,)
    *_, nearest, own = min(ranked)
    return [{nearest: replace(own, name=name)}], ()
