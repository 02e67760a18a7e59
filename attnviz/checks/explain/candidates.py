"""Candidates: the passes that a user's arrays may belong to."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from attnviz.checks.explain.rotation import Rotation
from attnviz.checks.read.arrays import Numbers, OwnArray, OwnArrays, forms
from attnviz.checks.read.budget import spend
from attnviz.checks.read.formats import Format, written_in
from attnviz.checks.read.layouts import Layout, Sizes
from attnviz.checks.read.masks import OtherMask, others_than, seen_in
from attnviz.checks.read.readings import Reading, largest_stage, readings, sizes_of, with_more_hidden
from attnviz.checks.read.stages import recomputed
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace

_SMALL = 2**17  # up to so many numbers, passes are kept in memory

_LARGE = 2**20  # of larger passes nothing is kept while others are examined


def _of_layers(trace: Trace) -> Iterator[OtherMask]:
    """The masks of other layers, without duplicates."""
    known = [trace["mask"].value]
    for stage in trace:
        base, number = split_layer(stage.name)
        if base == "mask" and number and not any(np.array_equal(stage.value, each) for each in known):
            known.append(stage.value)
            yield OtherMask("mask of another layer", str(number), stage.value)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pass that a user's arrays are compared with.

    Attributes
    ----------
    kept : list of Trace
        A cache of the pass; empty if it has to be computed again.
    reading : Reading or None
        How the arrays that start the pass were read; None if the pass was given.
    sizes : mapping of letters to int
    rotation : Rotation, optional
        A rotation of queries and keys that the pass itself lacks.
    read : dict
        A cache of arrays in attnviz's layouts, shared with the rotated candidates.
    """

    kept: list[Trace]
    reading: Reading | None
    sizes: Sizes
    rotation: Rotation | None = None
    read: dict[tuple[OwnArray, str], list[tuple[Layout, np.ndarray]]] = field(default_factory=dict)

    @classmethod
    def of_trace(cls, trace: Trace) -> Candidate:
        """The candidate for a given pass."""
        sizes = dict(sizes_of({stage.name: stage.shape for stage in trace.stages}))
        if sizes["g"] == sizes["h"]:
            del sizes["g"]  # theirs may hold once what the heads of a group share
        return cls([trace], None, sizes)

    @classmethod
    def of(cls, reading: Reading) -> Candidate:
        """The candidate for a reading of the arrays."""
        candidate = cls([], reading, reading.sizes)
        assert candidate.trace  # made now, so that it is now that numbers which make no pass are refused
        if not candidate.is_small:
            candidate.forget()
        return candidate

    @property
    def trace(self) -> Trace:
        """The pass; OwnArraysError if a number of it is not finite."""
        if not self.kept:
            spend(sum(each.size for each in self.reading.arrays.values()))
            try:
                self.kept.append(recomputed(self.reading.arrays, self.reading.block))
            except ArrayError as error:
                raise OwnArraysError(str(error)) from None
        return self.kept[0]

    def forget(self) -> None:
        """Drop the cached pass of large arrays, if it can be recomputed."""
        if self.reading:
            self.kept.clear()

    @property
    def is_small(self) -> bool:
        """Whether the pass is small enough to keep many like it."""
        return self.size <= _SMALL

    @property
    def is_large(self) -> bool:
        """Whether memory is too short to keep the pass, so that it is recomputed each time."""
        return self.size > _LARGE

    @cached_property
    def size(self) -> int:
        """How many numbers the pass holds: its parameters, and eight times its largest stage."""
        given = self.reading.arrays.values() if self.reading else ()
        return sum(each.size for each in given) + 8 * largest_stage(self.sizes)

    @property
    def other_masks(self) -> tuple[OtherMask, ...]:
        """The masks that someone may have applied instead of the right one."""
        if self.reading is None:
            return (*others_than(self.trace["mask"].value), *_of_layers(self.trace)) if "mask" in self.trace else ()
        return self.reading.mask.others if self.reading.mask else ()

    @property
    def hides_all_keys(self) -> bool:
        """Whether the masks leave some query without a visible key."""
        mask = self.reading and self.reading.mask
        return bool(mask and not seen_in(mask.value).any(axis=-1).all())

    @property
    def rotated_by(self) -> Rotation | None:
        """The rotation of the queries and keys, whether the pass includes it or not."""
        own = self.reading and self.reading.block.rotation
        return Rotation.like(own, self.sizes["d"]) if own else self.rotation

    @property
    def formats(self) -> set[Format]:
        """The number formats of a given pass; empty if the pass starts from the user's arrays."""
        given = [stage.value for stage in self.trace.stages if stage.is_given] if self.reading is None else []
        return {written_in(value, value.dtype)[0] for value in given if value.dtype.kind == "f"}

    def forms(self, own: OwnArray, stage: str) -> list[tuple[Layout, np.ndarray]]:
        """An array in each layout that it may have for a stage."""
        if (own, stage) not in self.read:
            self.read[own, stage] = list(forms(own, stage, self.sizes))
        return self.read[own, stage]

    def begins_with(self, stage: str) -> bool:
        """Whether the pass starts from this array, which is then not compared."""
        return self.reading is not None and stage in self.reading.arrays


@dataclass(frozen=True, eq=False)
class Candidates:
    """All passes that a user's arrays may belong to.

    Attributes
    ----------
    likely : sequence of Candidate
        Those without extra masks, the simplest first.
    failed_searches : set
        Searches that found nothing near in one precision, and need not be repeated in another.
    """

    own: OwnArrays
    likely: Sequence[Candidate]
    failed_searches: set[Hashable] = field(default_factory=set)

    @classmethod
    def of(cls, own: OwnArrays, n_heads: int | None, numbers: Numbers) -> Candidates:
        """The candidates that start from the arrays; OwnArraysError if they make no pass."""
        return cls(own, [Candidate.of(each) for each in readings(own, n_heads, numbers)])

    @cached_property
    def with_more_hidden(self) -> list[Candidate]:
        """Those that hide more keys than the given masks."""
        likely = [each.reading for each in self.likely if each.reading]
        return [Candidate.of(more) for each in likely for more in with_more_hidden(each, self.own)]
