"""Explanation: everything that a check of a user's arrays finds out, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from attnviz.checks.causes.cause import Mistake
from attnviz.checks.explain.axis_orders import Make, in_order
from attnviz.checks.explain.candidates import Candidate, Candidates
from attnviz.checks.explain.diagnosis import Diagnosis, SharedNodes, SkippedCheck, compare_pass, is_perfect
from attnviz.checks.explain.nodes import Node, values_of
from attnviz.checks.explain.pass_search import PrecisionSearch
from attnviz.checks.read.arrays import (
    NONE_STATED,
    Conventions,
    OwnArrays,
    numbers_in,
    own_arrays,
    with_heads_called_output,
    with_query_entering,
    with_zero_key,
)
from attnviz.checks.read.budget import OutOfWorkError, work_limit
from attnviz.checks.read.layouts import Layout
from attnviz.checks.read.names import layers_of, named, of_layer
from attnviz.checks.read.rounding import Rounded
from attnviz.checks.read.stages import recomputed
from attnviz.core.changes import HIDEABLE
from attnviz.core.errors import OwnArraysError
from attnviz.core.order import LayerConfig
from attnviz.core.parameters import ALL_AXES
from attnviz.core.trace import Trace

MOST_MADE = 300_000_000  # how many numbers a comparison may compute: a second or two
_MOST_SEARCHED = 100_000_000  # of these for explaining a difference between large passes, which take much memory

_TOO_LARGE = (
    "These arrays are so large, and can be read in so many ways, that a comparison takes too long. Give fewer heads or "
    "tokens, or say n_heads, orientation and true_is."
)

_MAX_WAYS = 2  # in how many readings mistakes are searched


@dataclass(frozen=True, eq=False)
class Explanation:
    """The outcome of a check.

    Attributes
    ----------
    own : mapping of stages to OwnArray
    unread : tuple of str
        The names of arrays that match no stage.
    diagnosis : Diagnosis
    given : Trace or None
        The pass to compare with; None for a pass from the user's own inputs and parameters.
    layer : int
        The layer of the given pass, from 1 on.
    """

    own: OwnArrays
    unread: tuple[str, ...]
    diagnosis: Diagnosis
    given: Trace | None
    layer: int

    @cached_property
    def entering(self) -> set[str]:
        """The stages that start the user's own pass, and are compared with nothing."""
        return {"x", "context", "mask", *ALL_AXES} if self.given is None else set()

    @cached_property
    def not_recomputed(self) -> tuple[str, ...]:
        """The stages for whose recomputation an earlier array is missing."""
        compared = {each.name for each in self.diagnosis.stages}
        aside = [
            stage for stage, array in self.own.items() if array.name not in compared and stage not in self.entering
        ]
        if self.given is None and {"q", "k", "v"} <= set(aside):  # where a pass may well begin
            aside = [stage for stage in aside if stage not in "qkv"]
        return tuple(aside)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """The layout of each stage."""
        diagnosis, reading = self.diagnosis, self.diagnosis.candidate.reading
        layouts = {each.stage: each.layout for each in diagnosis.explained or diagnosis.stages if each.layout}
        return layouts | dict(reading.layouts if reading else {})

    @property
    def true_hides(self) -> bool:
        """Whether True hides a key in the user's masks."""
        reading = self.diagnosis.candidate.reading
        return bool(reading and reading.mask and reading.mask.true_hides)

    @cached_property
    def trace(self) -> Trace | None:
        """The given pass, or that of the user's inputs and parameters.

        None if that doesn't reach from queries, keys and values to head outputs, or if it needs a rotation that
        attnviz's pass doesn't have.
        """
        candidate = self.diagnosis.candidate
        whole = {"q", "k", "v", "heads"} <= {stage.name for stage in candidate.trace.stages}
        return self.given or (candidate.trace if whole and candidate.rotation is None else None)

    @cached_property
    def rotated_trace(self) -> Trace | None:
        """`trace`, rotated as the user's if an operation of attnviz can do it."""
        candidate = self.diagnosis.candidate
        operation = candidate.rotation and candidate.rotation.operation
        if self.given or operation is None or not {"q", "k", "v", "heads"} <= set(candidate.trace.keys()):
            return self.trace
        return recomputed(candidate.reading.arrays, replace(candidate.reading.block, rotation=operation))

    @cached_property
    def mistaken(self) -> Mapping[str, np.ndarray]:
        """The stages of `rotated_trace` that the mistakes change, with the changed values if they are numbers."""
        trace, diagnosis = self.rotated_trace, self.diagnosis
        if trace is None or not diagnosis.mistakes:
            return {}
        made = values_of(diagnosis.nodes, {each for each in diagnosis.mistaken if self.full_name(each) in trace})
        return {self.full_name(name): array for name, array in made.items() if _is_of(name, array)}

    def full_name(self, stage: str) -> str:
        """The name of a stage in `rotated_trace`."""
        return self.given.layers[self.layer - 1].names.get(stage, stage) if self.given else stage

    @property
    def block(self) -> LayerConfig | None:
        """The layer settings of the user's own pass."""
        reading = self.diagnosis.candidate.reading
        return reading.block if reading else None


def _is_of(stage: str, array: np.ndarray) -> bool:
    """Whether a pass may hold an array: only hidden scores may be −∞, and nothing may be NaN."""
    return bool((np.isfinite(array) | (np.isneginf(array) & (stage in HIDEABLE))).all())


@np.errstate(all="ignore")  # a user's numbers may overflow, which is checked afterwards
def explain(
    trace: Trace | None, arrays: Mapping[str, np.ndarray], layer: int | None = None, stated: Conventions = NONE_STATED
) -> Explanation:
    """Compare a user's arrays with a pass, stage by stage.

    Parameters
    ----------
    trace, arrays, layer
        As in `attnviz.compare`.
    stated : Conventions, optional

    Raises
    ------
    OwnArraysError
        If an array holds no real numbers, or the arrays do not fit each other.
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
        candidate = Candidate.of_trace(trace.layers[layer - 1].trace)
        if len(unread) == 1 and not owns[0]:
            owns, unread = _nearest(unread[0], arrays[unread[0]], candidate)
        make = partial(Candidates, likely=[candidate])
    own, diagnosis = _explained(owns, make)
    return Explanation(own, unread, _by_convention(own, diagnosis), trace, layer)


def _explained(owns: list[OwnArrays], make: Make) -> tuple[OwnArrays, Diagnosis]:
    """The reading of the arrays that explains most, with permuted axes if nothing else does."""
    fitting, diagnosis = [], None
    try:
        with work_limit(MOST_MADE):
            if found := _right([partial(make, own) for own in owns], fitting):
                return found
            is_large = any(each.candidates.likely[0].is_large for each in fitting)
            with work_limit(_MOST_SEARCHED) if is_large else nullcontext():
                own, diagnosis = _best(fitting)
                return (not diagnosis.explains_all and in_order(own, make, diagnosis)) or (own, diagnosis)
    except OwnArraysError:
        if found := _in_order(owns, make):
            return found
        raise
    except OutOfWorkError:
        if diagnosis is None:
            found = [(each.candidates.own, each.best_so_far) for each in fitting if each.best_so_far]
            if not found:
                raise OwnArraysError(_TOO_LARGE) from None
            own, diagnosis = max(found, key=lambda each: each[1].rank)
        return own, replace(diagnosis, skipped_checks=(*diagnosis.skipped_checks, SkippedCheck.REST))


def _in_order(owns: list[OwnArrays], make: Make) -> tuple[OwnArrays, Diagnosis] | None:
    """Arrays that only make a pass once their axes are permuted."""
    try:
        with work_limit(MOST_MADE):
            return next(filter(None, (in_order(own, make, None) for own in owns[:_MAX_WAYS])), None)
    except OutOfWorkError:
        return None


def _by_convention(own: OwnArrays, diagnosis: Diagnosis) -> Diagnosis:
    """If only a mask read against its library's convention agrees, report an inverted mask."""
    against = diagnosis.candidate.reading
    usual = against and against.mask and against.mask.by_convention
    if not usual or not diagnosis.stages or diagnosis.mistakes or not diagnosis.explains_all:
        return diagnosis
    reading = replace(against, mask=usual, arrays={**against.arrays, "mask": usual.value})
    candidate = replace(Candidate.of(reading), rotation=diagnosis.candidate.rotation)
    nodes = SharedNodes(own, diagnosis.precision).of(candidate)
    nodes = candidate.rotation.nodes(nodes) if candidate.rotation else nodes
    state = compare_pass(own, candidate, nodes, diagnosis.precision)
    plain = Diagnosis(candidate, diagnosis.precision, state.stages, fully_masked=state.fully_masked)
    if is_perfect(state.stages):
        return plain
    taken = Node.constant(Rounded.unrounded(against.mask.value))
    changed = {name: node.reading("mask", taken) for name, node in nodes.items() if "mask" in node.inputs}
    explained = compare_pass(own, candidate, {**nodes, **changed}, diagnosis.precision)
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
        fully_masked=explained.fully_masked,
        against=against.mask,
    )


def _right(ways: list[Callable[[], Candidates]], fitting: list[PrecisionSearch]) -> tuple[OwnArrays, Diagnosis] | None:
    """The first reading that agrees entirely; None if there is none, or only one reading.

    The readings whose arrays fit each other are appended to `fitting`; OwnArraysError if there is none.
    """
    misfit = None
    for way in ways:
        try:
            fitting.append(PrecisionSearch(way()))
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


def _best(fitting: list[PrecisionSearch]) -> tuple[OwnArrays, Diagnosis]:
    """The best explanation among several readings."""
    if wrong := next(_having("quick_match", fitting), None):
        return wrong.candidates.own, wrong.quick_match
    likely = list(_having("coarse", fitting))
    if not likely and len(fitting) > 1 and (right := next(_having("rotated", fitting), None)):
        return right.candidates.own, right.rotated
    diagnoses = [(each.candidates.own, each.best) for each in (likely or fitting)[:_MAX_WAYS]]
    return max(diagnoses, key=lambda each: (each[1].explains_all, each[1].rank, -len(each[1].mistakes)))


def _having(diagnosis: str, fitting: list[PrecisionSearch]) -> Iterator[PrecisionSearch]:
    """Those of several searches that have this diagnosis."""
    for each in fitting:
        if getattr(each, diagnosis):
            yield each
        elif each is not fitting[0]:
            each.forget()


def _nearest(name: str, array: np.ndarray, candidate: Candidate) -> tuple[list[OwnArrays], tuple[str, ...]]:
    """Take an array of unknown name for the stage that it is nearest to."""
    ranked = []
    for stage in candidate.trace.stages:
        if not named(stage.name) or (stage.name == "mask") != (np.asarray(array).dtype == bool):
            continue
        (alone,), _ = own_arrays({stage.name: array})
        for each in PrecisionSearch(Candidates(alone, [candidate])).best.stages:
            if each.layout and each.stage == stage.name:
                ranked.append((not each.agrees, each.roundings, len(ranked), stage.name, alone[stage.name]))
    if not ranked:
        return [{}], (name,)
    *_, nearest, own = min(ranked)
    return [{nearest: replace(own, name=name)}], ()
