"""Explanation: the reading of a user's arrays, with permuted axes if need be, and the mistakes that explain most."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from attnviz.checks.causes.cause import Mistake, mask_phrase
from attnviz.checks.explain.axis_orders import Explained, MakeCandidates, with_permuted_axes
from attnviz.checks.explain.diagnosis import Diagnosis, SkippedCheck
from attnviz.checks.explain.search import Search
from attnviz.checks.passes.candidates import Candidate, Candidates, LayerArrays
from attnviz.checks.passes.comparison import Comparer
from attnviz.checks.passes.nodes import FULLY_MASKED, Node, nodes_of, values_of
from attnviz.checks.read.decode_steps import CACHE_STAGES
from attnviz.checks.read.layouts import Layout, recomputed, stages
from attnviz.checks.read.limits import OutOfWorkError, most_numbers, work_limit
from attnviz.checks.read.names import layers_of, named, of_layer
from attnviz.checks.read.rounding import Rounded
from attnviz.checks.read.table_rotation import TableRotation, as_table
from attnviz.checks.read.user_arrays import Conventions, UserArray, UserArrays, user_arrays
from attnviz.checks.read.user_tables import OF_QUERIES, UserTables
from attnviz.core.changes import HIDEABLE
from attnviz.core.errors import OwnArraysError
from attnviz.core.operations.rotation import Rotation
from attnviz.core.order import LayerConfig
from attnviz.core.parameters import ALL_AXES
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace

# How many numbers a comparison of a server's upload may compute, a second or two; and how many of these for explaining
# a difference between large passes, which take much memory, or how many times as many as the pass has
MOST_COMPUTED = 300_000_000
_MOST_SEARCHED = 100_000_000
_TIMES_SEARCHED = 100
_SAME_TABLE = 0.02  # how far a table in bfloat16 may be from ours
_MAX_WAYS = 2  # how many readings are searched for mistakes
_TOO_LARGE = (
    "These arrays are so large, and can be read in so many ways, that a comparison takes too long. Give fewer heads or "
    "tokens, or say n_heads, orientation and true_is."
)
_OF_TWO_TEXTS = (
    "Without a pass the arrays of one layer are compared; got context and memory, as of an encoder and a decoder. Give "
    "those of one layer: what its queries are made from as x and, if its keys are made of the other text, that as "
    "context."
)
_BEFORE_SCORES = {"x", "context", "embeddings", "positions", *CACHE_STAGES}
_BEFORE_SCORES |= {f"{kind}_{letter}" for kind in "wb" for letter in "qkv"} | {"g_attn_norm", "b_attn_norm"}
_BEFORE_SCORES |= {f"{each}{part}" for each in "qk" for part in ("", "_normed", "_rotated")}
_BEFORE_SCORES |= {"g_q_norm", "g_k_norm", "v"}
_SCORES_MADE_OF: tuple[tuple[str, ...], ...] = (("x", "w_q", "w_k"), ("q", "k"))
_MADE_OF: dict[str, tuple[tuple[str, ...], ...]] = {
    **{letter: (("x", f"w_{letter}"),) for letter in "qkv"},
    **dict.fromkeys(("heads", "concat"), (("x", "w_q", "w_k", "w_v"), ("q", "k", "v"), ("attention", "v"))),
    "output": (("x", "w_q", "w_k", "w_v", "w_o"), ("q", "k", "v", "w_o"), ("attention", "v", "w_o"), ("heads", "w_o")),
}
_WHOLE = {"q", "k", "v", "heads"}  # the stages of a pass that can be shown


@dataclass(frozen=True, eq=False)
class Explanation:
    """The outcome of a check of arrays against a given pass, or the one from their own inputs and parameters."""

    arrays: UserArrays
    unread: tuple[str, ...]  # the names of arrays that match no stage
    diagnosis: Diagnosis
    reference: Trace | None  # the given pass, if there is one
    layer: int  # the layer of the given pass, counted from 1
    tables: UserTables  # tables that may rotate queries and keys

    @cached_property
    def inputs(self) -> set[str]:
        """The stages that start the user's own pass, and are compared with nothing."""
        return {"x", "context", "mask", *CACHE_STAGES, *ALL_AXES} if self.reference is None else set()

    @cached_property
    def not_recomputed(self) -> tuple[str, ...]:
        """The stages for whose recomputation an earlier array is missing."""
        compared = {each.name for each in self.diagnosis.stages}
        others = {stage: each.name for stage, each in self.arrays.items() if stage not in self.inputs}
        missing = [stage for stage, name in others.items() if name not in compared]
        if self.reference is None and {"q", "k", "v"} <= set(missing):  # where a pass may well begin
            missing = [stage for stage in missing if stage not in "qkv"]
        return tuple(missing)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """What is missing to recompute the first stage that the user gave and no earlier array makes."""
        ways = [set(each) for stage in self.not_recomputed[:1] for each in _MADE_OF.get(stage, _SCORES_MADE_OF)]
        fewest = min((way - self.arrays.keys() for way in ways), key=len, default=set())
        return tuple(stage for stage in stages() if stage in fewest)

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """The inputs that no compared stage is made of, so that no number of theirs was checked."""
        stages, used = self.diagnosis.candidate.trace.stages, {each.stage for each in self.diagnosis.stages}
        for stage in reversed(stages):
            used |= set(stage.inputs) if stage.name in used else set()
        return tuple(stage for stage in self.arrays if stage in self.inputs - used)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        diagnosis, reading = self.diagnosis, self.diagnosis.candidate.reading
        layouts = {each.stage: each.layout for each in diagnosis.explained or diagnosis.stages if each.layout}
        return layouts | dict(reading.layouts if reading else {})

    @cached_property
    def trace(self) -> Trace | None:
        """The given pass or the user's own, perhaps from its rotated queries and keys on; None if it is incomplete."""
        candidate = self.diagnosis.candidate
        if self.reference or not set(candidate.trace.keys()) >= _WHOLE:
            return self.reference
        if candidate.reading is None or self.config is None:
            return candidate.trace
        if not self.starts and self.config is candidate.reading.config:
            return candidate.trace
        values = values_of(Comparer(self.arrays, self.diagnosis.precision).nodes(candidate), {*self.starts.values()})
        before = _BEFORE_SCORES - ({"x"} if self.config.residual else set()) if self.starts else set()
        arrays = {name: each for name, each in candidate.reading.arrays.items() if name not in before}
        return recomputed(arrays | {stage: values[name] for stage, name in self.starts.items()}, self.config)

    @cached_property
    def config(self) -> LayerConfig | None:
        """The layer settings of the user's own pass as it is shown."""
        candidate = self.diagnosis.candidate
        if candidate.reading is None:
            return None
        config = candidate.reading.config
        if self.starts:
            return replace(config, rotation=None, qk_norm=None)
        return replace(config, rotation=candidate.rotation.operation) if candidate.rotation else config

    @cached_property
    def starts(self) -> Mapping[str, str]:
        """Where attnviz has no operation for the rotation, the stages that the shown pass begins with.

        For each the stage of the compared pass whose numbers it has.
        """
        candidate = self.diagnosis.candidate
        operation = candidate.reading and candidate.reading.config.rotation
        is_kept = candidate.reading is not None and not candidate.reading.arrays.keys().isdisjoint(CACHE_STAGES)
        is_unknown = candidate.rotation and candidate.rotation.operation is None
        is_of_cosines = candidate.reading is not None and candidate.reading.is_of_cosines
        if not is_kept and not is_unknown and not is_of_cosines and not isinstance(operation, TableRotation):
            return {}
        nodes = candidate.rotation.nodes(nodes_of(candidate.trace)) if candidate.rotation else candidate.trace
        if not {"q", "k", "v"} <= set(nodes.keys()):
            return {}
        last = {each: next(n for n in (f"{each}_rotated", f"{each}_normed", each) if n in nodes) for each in "qk"}
        return {**last, "v": "v"}

    @cached_property
    def mistaken(self) -> Mapping[str, np.ndarray]:
        """The stages of `trace` that the mistakes change, with the changed values if they are numbers."""
        trace, diagnosis = self.trace, self.diagnosis
        if trace is None or not diagnosis.mistakes:
            return {}
        changed = {each for each in diagnosis.changed_stages if self.full_name(each) in trace}
        if self.starts:
            of_rows = {
                stage: {n for n in diagnosis.changed_stages if n.split("_")[0] == stage} for stage in self.starts
            }
            shown = {self.starts[stage]: stage for stage, names in of_rows.items() if names}
            made = values_of(diagnosis.nodes, {*changed - {*"qkv"}, *shown})
            made = {shown.get(name, name): each for name, each in made.items()}
        else:
            made = values_of(diagnosis.nodes, changed)
        finite = {name: np.isfinite(each) | (np.isneginf(each) & (name in HIDEABLE)) for name, each in made.items()}
        return {self.full_name(name): each for name, each in made.items() if finite[name].all()}

    def full_name(self, stage: str) -> str:
        """The name of a stage in `trace`."""
        return self.reference.layers[self.layer - 1].names.get(stage, stage) if self.reference else stage


@np.errstate(all="ignore")  # a user's numbers may overflow, which is checked afterwards
def explain(
    trace: Trace | None, arrays: Mapping[str, np.ndarray], layer: int | None = None, stated: Conventions | None = None
) -> Explanation:
    """Compare a user's arrays with a pass, stage by stage, as `attnviz.compare` does."""
    stated = stated or Conventions()
    if trace is None and {"context", "memory"} <= arrays.keys():
        raise OwnArraysError(_OF_TWO_TEXTS)
    is_of_several = len(layers_of(arrays)) > 1
    arrays = arrays if layer is None else of_layer(_as_in_layer(trace, arrays, layer), layer)
    layer = 1 if layer is None or (is_of_several and trace and trace.n_layers == 1) else layer
    given = LayerArrays.of(arrays, stated)
    ways, unread, tables = given.ways, given.unread, given.tables
    if trace is None:
        result = best_explanation(given.meanings, given.candidates)
    else:
        if not 1 <= layer <= trace.n_layers:
            raise OwnArraysError(f"The pass has the layers 1 to {trace.n_layers}; got {layer}.")
        candidate = Candidate.of_trace(trace.layers[layer - 1].trace)
        if len(unread) == 1 and not ways[0]:
            ways, unread = _nearest(unread[0], arrays[unread[0]], candidate)
        result = best_explanation(ways, partial(Candidates, likely=[candidate], tolerance=stated.tolerance))
    user_arrays_, diagnosis = result[0], _with_rows_of_nan(by_convention(*result))
    unread = tuple(each for each in arrays if each in (*unread, *_unused_tables(tables, diagnosis.candidate)))
    return Explanation(user_arrays_, unread, diagnosis, trace, layer, tables)


def _unused_tables(tables: UserTables, candidate: Candidate) -> tuple[str, ...]:
    """The names of tables and positions by which the pass isn't rotated, unless its queries and keys may be already."""
    reading, rotation = candidate.reading, candidate.rotated_by
    are_used = bool(reading and (reading.table or reading.begins_with_queries)) or _has_tables(candidate, tables)
    is_ours = tables.position_name == OF_QUERIES
    return (*(() if are_used else tables.names), *((tables.position_name,) if not rotation and not is_ours else ()))


def _has_tables(candidate: Candidate, tables: UserTables) -> bool:
    """Whether the rotation of a given pass is one by these tables."""
    rotation = candidate.trace["q_rotated"].operation if "q_rotated" in candidate.trace else None
    if candidate.reading or not isinstance(rotation, Rotation) or isinstance(rotation, TableRotation):
        return False
    n, s = (candidate.sizes.get(each, 1) for each in "ts")
    ours = as_table(rotation, rotation.first + np.arange(s)).table.numbers
    of_all = (each.table.numbers for each in tables.rotations(candidate.sizes["d"], n, s))
    return any(each.shape == ours.shape and np.allclose(each, ours, rtol=0, atol=_SAME_TABLE) for each in of_all)


def _as_in_layer(trace: Trace | None, arrays: Mapping[str, np.ndarray], number: int) -> Mapping[str, np.ndarray]:
    """The arrays of one layer of an encoder and a decoder, renamed as if it were the only layer.

    Its input becomes `x`; if its keys are made from the other text, that becomes `context`.
    """
    if not trace or number not in range(1, trace.n_layers + 1) or trace.layers[0].names["x"] != "context":
        return arrays
    others = [name for name in arrays if name not in trace and not name.startswith(("size_", "words_"))]
    if others or len(layers_of(arrays)) < 2:
        return arrays
    own = trace.layers[number - 1].names.items()
    in_layer = {name: full for name, full in own if name in ("x", "context") or split_layer(full) == (name, number)}
    return {name: arrays[full] for name, full in in_layer.items() if full in arrays}


def best_explanation(ways: list[UserArrays], make: MakeCandidates) -> Explained:
    """The reading of the arrays that explains most, with permuted axes if nothing else does."""
    searches: list[Search] = []
    best: Explained | None = None
    try:
        with work_limit(_most_computed()):
            if match := first_match(ways, make, searches):
                return match
            first = [each.candidates.likely[0] for each in searches]
            most = _MOST_SEARCHED if _is_bounded() else max(_MOST_SEARCHED, _TIMES_SEARCHED * first[0].size)
            with work_limit(most) if any(each.is_large for each in first) else nullcontext():
                best = _best(searches)
                return (not best[1].explains_all and with_permuted_axes(best[0], make, best[1])) or best
    except OwnArraysError:
        with suppress(OutOfWorkError), work_limit(_most_computed()):
            for way in ways[:_MAX_WAYS]:
                if result := with_permuted_axes(way, make, None):
                    return result
        raise
    except OutOfWorkError:
        so_far = [(each.candidates.arrays, each.best_so_far) for each in searches]
        result = best or max(((a, d) for a, d in so_far if d), key=lambda each: each[1].rank, default=None)
        if result is None:
            raise OwnArraysError(_TOO_LARGE) from None
        arrays, diagnosis = result
        return arrays, replace(diagnosis, skipped_checks=(*diagnosis.skipped_checks, SkippedCheck.REST))


def _is_bounded() -> bool:
    return most_numbers() < math.inf


def _most_computed() -> float:
    return MOST_COMPUTED if _is_bounded() else math.inf


def first_match(ways: list[UserArrays], make: MakeCandidates, searches: list[Search]) -> Explained | None:
    """The first of several readings that agrees entirely, if any; appends a search for each whose arrays fit."""
    misfit = None
    for way in ways:
        try:
            searches.append(Search(make(way)))
        except OwnArraysError as error:
            misfit = misfit or error
            continue
        match = searches[-1].match
        if match and match.stages and len(ways) > 1:
            return way, match
        if len(searches) > 1:
            searches[-1].forget()
    if misfit and not searches:
        raise misfit
    return None


def _best(searches: list[Search]) -> Explained:
    """The best diagnosis of several readings, none of which agrees entirely; the quickest kinds of search first."""

    def found(by: Callable[[Search], Diagnosis | None]) -> Iterator[tuple[Search, Diagnosis]]:
        for each in searches:
            if diagnosis := by(each):
                yield each, diagnosis
            elif each is not searches[0]:
                each.forget()

    for each, diagnosis in found(lambda each: each.quick_diagnosis):
        return each.candidates.arrays, diagnosis
    likely = [each for each, _ in found(lambda each: each.coarse_match)]
    for each, match in found(lambda each: each.completed_match) if not likely and len(searches) > 1 else ():
        return each.candidates.arrays, match
    result = [(each.candidates.arrays, each.best) for each in (likely or searches)[:_MAX_WAYS]]
    return max(result, key=lambda each: (each[1].explains_all, each[1].rank, -len(each[1].mistakes)))


def _nearest(name: str, array: np.ndarray, candidate: Candidate) -> tuple[list[UserArrays], tuple[str, ...]]:
    """Take an array of unknown name for the stage that it is nearest to."""
    ranked: list[tuple[bool, float, int, str, UserArray]] = []
    for stage in candidate.trace.stages:
        if not named(stage.name) or (stage.name == "mask") != (np.asarray(array).dtype == bool):
            continue
        (alone,), _ = user_arrays({stage.name: array})
        for each in Search(Candidates(alone, [candidate])).best.stages:
            if each.layout and each.stage == stage.name:
                ranked.append((not each.agrees, each.roundings, len(ranked), stage.name, alone[stage.name]))
    if not ranked:
        return [{}], (name,)
    *_, nearest, user_array = min(ranked)
    return [{nearest: replace(user_array, name=name)}], ()


def _with_rows_of_nan(diagnosis: Diagnosis) -> Diagnosis:
    """Name the rows that see no key if they are NaN, although they agree."""
    has_nan = any(each.agrees and each.value is not None and np.isnan(each.value).any() for each in diagnosis.stages)
    if diagnosis.mistakes or not has_nan or diagnosis.fully_masked != FULLY_MASKED[2]:
        return diagnosis
    return replace(diagnosis, mistakes=(Mistake("no key is visible", "attention", {}, {}),))


def by_convention(arrays: UserArrays, diagnosis: Diagnosis) -> Diagnosis:
    """If only a mask read against its library's convention agrees, report an inverted mask."""
    reading = diagnosis.candidate.reading
    mask = reading.mask if reading else None
    if not reading or not mask or not mask.by_convention:
        return diagnosis
    if not diagnosis.stages or diagnosis.mistakes or not diagnosis.explains_all:
        return diagnosis
    usual = Candidate.of(reading.with_mask(mask.by_convention))
    candidate = replace(usual, rotation=diagnosis.candidate.rotation)
    comparer = Comparer(arrays, diagnosis.precision)
    unmodified = comparer.compare(candidate)
    if unmodified.agrees:
        return Diagnosis.of(unmodified)
    nodes = unmodified.nodes
    as_read = Node.constant(Rounded(mask.value))
    changed = {name: node.with_constant("mask", as_read) for name, node in nodes.items() if "mask" in node.inputs}
    explained = comparer.compare(candidate, {**nodes, **changed})
    if not explained.agrees:
        return diagnosis
    inverted = [each.name for each in mask.chosen if each.contradicts]
    name = " and ".join(inverted) if arrays["mask"].name not in inverted else ""
    mistake = Mistake("mask inverted", "masked", {"mask": mask_phrase(name)}, changed)
    return Diagnosis.of(unmodified).with_mistakes((mistake,), explained, nodes, unconventional_mask=mask)
