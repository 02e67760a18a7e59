"""Candidates: the passes that a user's arrays may belong to, one for each reading of them, or the given pass."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from attnviz.checks.passes.rope_variants import RopeVariant
from attnviz.checks.read.formats import Format, written_in
from attnviz.checks.read.layouts import Layout, Sizes, arranged, fitted, layouts_of, recomputed
from attnviz.checks.read.limits import spend
from attnviz.checks.read.masks import WrongMask, seen_in, wrong_masks
from attnviz.checks.read.readings import Reading, largest_stage, readings, sizes_of, with_inferred_mask
from attnviz.checks.read.rounding import Tolerance
from attnviz.checks.read.user_arrays import Conventions, UserArray, UserArrays, numbers_in, other_meanings, user_arrays
from attnviz.checks.read.user_tables import UserTables, rotation_tables
from attnviz.core.assembly import NO_MASK
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace

_SMALL = 2**17  # passes of at most this many numbers are kept in memory
_LARGE = 2**20  # larger passes are dropped while others are examined


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pass that the user's arrays are compared with: a given one, or the one from a reading of the arrays."""

    reading: Reading | None
    sizes: Sizes
    rotation: RopeVariant | None = None  # a rotation of queries and keys that the pass itself lacks
    _trace: list[Trace] = field(default_factory=list, repr=False)  # empty if it has to be computed again
    _forms: dict[tuple[UserArray, str], list[tuple[Layout, np.ndarray]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of_trace(cls, trace: Trace) -> Candidate:
        others = {"embeddings", "positions"}  # as long as `x`, or part of a text that this layer doesn't read
        sizes = dict(sizes_of({stage.name: stage.shape for stage in trace.stages if stage.name not in others}))
        if sizes["g"] == sizes["h"]:
            del sizes["g"]  # the user may have one copy of what the heads of a group share
        return cls(None, sizes, None, [trace])

    @classmethod
    def of(cls, reading: Reading) -> Candidate:
        """The candidate for a reading of the arrays; OwnArraysError if a number of its pass is not finite."""
        candidate = cls(reading, reading.sizes)
        assert candidate.trace  # computed now, so that it is refused now
        if not candidate.is_small:
            candidate.forget()
        return candidate

    @property
    def trace(self) -> Trace:
        if not self._trace and self.reading:
            spend(sum(each.size for each in self.reading.arrays.values()))
            try:
                self._trace.append(recomputed(self.reading.arrays, self.reading.config))
            except ArrayError as error:
                raise OwnArraysError(str(error)) from None
        return self._trace[0]

    def forget(self) -> None:
        if self.reading:
            self._trace.clear()

    @property
    def is_cached(self) -> bool:
        return bool(self._trace)

    @property
    def is_small(self) -> bool:
        return self.size <= _SMALL

    @property
    def is_large(self) -> bool:
        """Whether memory is too short to keep the pass, so that it is recomputed each time."""
        return self.size > _LARGE

    @cached_property
    def size(self) -> int:
        """How many numbers the pass holds: its parameters, and eight times its largest stage."""
        inputs = self.reading.arrays.values() if self.reading else ()
        return sum(each.size for each in inputs) + 8 * largest_stage(self.sizes)

    @property
    def n_scores(self) -> int:
        return self.trace["scores"].size if "scores" in self.trace else 0

    @property
    def wrong_masks(self) -> list[WrongMask]:
        """The masks that someone may have applied instead of the right one, those of other layers included."""
        if self.reading:
            return list(self.reading.mask.wrong if self.reading.mask else ())
        if "mask" not in self.trace:
            return []
        mask = self.trace["mask"]
        masks, known = [] if mask.operation == NO_MASK else [*wrong_masks(mask.value)], [mask.value]
        scores = self.trace["masked"].shape
        for stage in self.trace.stages:
            base, layer = split_layer(stage.name)
            fits = stage.shape in (scores, scores[1:])
            if base == "mask" and layer and fits and not any(np.array_equal(stage.value, each) for each in known):
                known.append(stage.value)
                masks.append(WrongMask("mask of another layer", str(layer), stage.value))
        return masks

    @property
    def has_fully_masked_row(self) -> bool:
        """Whether the mask leaves some query without a visible key."""
        mask = self.reading and self.reading.mask
        return bool(mask and not seen_in(mask.value).any(axis=-1).all())

    @property
    def is_fully_masked(self) -> bool:
        """Whether the mask leaves every query without a visible key."""
        mask = self.reading and self.reading.mask
        return bool(mask and not seen_in(mask.value).any())

    @property
    def rotated_by(self) -> RopeVariant | None:
        """The rotation of the queries and keys, whether the pass includes it or not."""
        operation = self.reading and self.reading.config.rotation
        if operation and not self.rotation and self.reading and "d" in self.sizes:
            return replace(RopeVariant.like(operation, self.sizes["d"]), positions=self.reading.positions)
        return self.rotation

    @property
    def formats(self) -> set[Format]:
        """The number formats of a given pass; empty if the pass starts from the user's arrays."""
        inputs = [stage.value for stage in self.trace.stages if stage.is_given] if self.reading is None else []
        return {written_in(value, value.dtype)[0] for value in inputs if value.dtype.kind == "f"}

    def forms(self, array: UserArray, stage: str) -> list[tuple[Layout, np.ndarray]]:
        """An array in attnviz's layout of a stage, for each layout that it may have."""
        if (array, stage) not in self._forms:
            new = {**self.sizes, "s": self.sizes["t"]} if "p" in self.sizes and stage[0] in "kv" else None
            ways = [(each, sizes) for sizes in (self.sizes, new) if sizes for each in layouts_of(stage)]
            fits = ((layout, fitted(layout, array.value.shape, sizes)) for layout, sizes in ways)
            forms = [(layout, arranged(array.value, layout, stage, fit)) for layout, fit in fits if fit]
            self._forms[array, stage] = forms
        return self._forms[array, stage]

    def compares(self, stage: str) -> bool:
        """Whether an array of this stage is compared, as the pass doesn't start from it."""
        return self.reading is None or stage not in self.reading.arrays


# For each candidate and largest number of the format: how many stages agree roughly, and how far off the rest is
RoughRanks = dict[tuple[Candidate, float], tuple[tuple[int, int], float]]


@dataclass(frozen=True, eq=False)
class Candidates:
    """All passes that a user's arrays may belong to."""

    arrays: UserArrays
    likely: Sequence[Candidate]  # the simplest first
    tolerance: Tolerance | None = None  # the user's own
    is_final: bool = False  # whether to skip the search for more masks and rotations
    failed_searches: set[Hashable] = field(default_factory=set, init=False)  # for mistakes, in any precision
    rough_ranks: RoughRanks = field(default_factory=dict, init=False)

    @cached_property
    def with_inferred_mask(self) -> list[Candidate]:
        """The candidates that hide more keys than the given masks."""
        likely = [each.reading for each in self.likely if each.reading]
        return [Candidate.of(more) for each in likely for more in with_inferred_mask(each, self.arrays)]

    @property
    def groups(self) -> Iterator[Sequence[Candidate]]:
        """The likely candidates; then, only if they are asked for, those with an inferred mask."""
        yield self.likely
        if not self.is_final:
            yield self.with_inferred_mask

    def forget(self) -> None:
        """Drop the passes until they are used again."""
        for each in (*self.likely, *vars(self).get("with_inferred_mask", ())):
            each.forget()


@dataclass(frozen=True, eq=False)
class LayerArrays:
    """A layer's arrays as stages, in each way to read them, and the numbers and tables among them."""

    ways: list[UserArrays]
    unread: tuple[str, ...]  # the names of arrays that match no stage
    numbers: Mapping[str, float]  # a scale and a softcap
    tables: UserTables
    stated: Conventions

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], stated: Conventions) -> LayerArrays:
        """Read a layer's arrays; OwnArraysError if one holds no real numbers, or two are the same stage."""
        numbers, arrays = numbers_in(arrays)
        tables, arrays = rotation_tables(arrays)
        return cls(*user_arrays(arrays, stated), numbers, tables, stated)

    @cached_property
    def meanings(self) -> list[UserArrays]:
        """What the arrays may mean in a pass of their own, the likeliest first."""
        return [other for way in self.ways for other in other_meanings(way)]

    def candidates(self, way: UserArrays) -> Candidates:
        """The passes that start from these arrays; OwnArraysError if they don't fit each other."""
        read = readings(way, self.stated.n_heads, self.numbers, self.tables)
        return Candidates(way, [Candidate.of(each) for each in read], self.stated.tolerance)
