"""Candidates: the passes that someone's arrays may be of."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from attnviz.checks.arrays import Numbers, OwnArray, OwnArrays, forms
from attnviz.checks.batches import made
from attnviz.checks.formats import Format, written_in
from attnviz.checks.layouts import Layout, Sizes
from attnviz.checks.masks import OtherMask, others_than, seen_in
from attnviz.checks.readings import Reading, largest_stage, readings, sizes_of, with_more_hidden
from attnviz.checks.recomputation import recomputed
from attnviz.checks.rotation import Rotation
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace

_SMALL = 2**17
"""So many numbers are kept of each pass that arrays may be of."""

_LARGE = 2**20
"""Of a pass with more numbers nothing is kept while another one is looked at."""


def _of_layers(trace: Trace) -> Iterator[OtherMask]:
    """The masks that other layers have of their own, each once."""
    known = [trace["mask"].value]
    for stage in trace:
        base, number = split_layer(stage.name)
        if base == "mask" and number and not any(np.array_equal(stage.value, each) for each in known):
            known.append(stage.value)
            yield OtherMask("mask of another layer", str(number), stage.value)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pass that someone's arrays are compared with.

    Attributes
    ----------
    kept : list of Trace
        Its pass, while it is kept; where it was read, it is made of that again.
    reading : Reading or None
        How the arrays that it begins with were read; None where the pass was given.
    sizes : mapping of letters to int
    rotation : Rotation, optional
        How its queries and keys are turned besides.
    read : dict
        Arrays in attnviz's layouts, as far as they were asked for; a turned pass reads them alike.
    """

    kept: list[Trace]
    reading: Reading | None
    sizes: Sizes
    rotation: Rotation | None = None
    read: dict[tuple[OwnArray, str], list[tuple[Layout, np.ndarray]]] = field(default_factory=dict)

    @classmethod
    def beside(cls, trace: Trace) -> Candidate:
        """A pass that was given."""
        sizes = dict(sizes_of({stage.name: stage.shape for stage in trace.stages}))
        if sizes["g"] == sizes["h"]:
            del sizes["g"]  # theirs may hold once what the heads of a group share
        return cls([trace], None, sizes)

    @classmethod
    def of(cls, reading: Reading) -> Candidate:
        """The pass that a reading makes."""
        candidate = cls([], reading, reading.sizes)
        assert candidate.trace  # made now, so that it is now that numbers which make no pass are refused
        if not candidate.is_small:
            candidate.forget()
        return candidate

    @property
    def trace(self) -> Trace:
        """The pass.

        Raises
        ------
        OwnArraysError
            If a number is not finite, or one that follows is too large.
        """
        if not self.kept:
            made(sum(each.size for each in self.reading.arrays.values()))
            try:
                self.kept.append(recomputed(self.reading.arrays, self.reading.block))
            except ArrayError as error:
                raise OwnArraysError(str(error)) from None
        return self.kept[0]

    def forget(self) -> None:
        """Keep its pass no longer, as passes of large arrays are, where it can be made again."""
        if self.reading:
            self.kept.clear()

    @property
    def is_small(self) -> bool:
        """Whether so little is kept of its pass that many may be kept."""
        return self.size <= _SMALL

    @property
    def is_large(self) -> bool:
        """Whether so little memory is left beside its pass that it is made again each time."""
        return self.size > _LARGE

    @cached_property
    def size(self) -> int:
        """How many numbers its pass has, its parameters and, several times, its largest stage."""
        given = self.reading.arrays.values() if self.reading else ()
        return sum(each.size for each in given) + 8 * largest_stage(self.sizes)

    @property
    def other_masks(self) -> tuple[OtherMask, ...]:
        """The masks that its own may have been taken for."""
        if self.reading is None:
            return (*others_than(self.trace["mask"].value), *_of_layers(self.trace)) if "mask" in self.trace else ()
        return self.reading.mask.others if self.reading.mask else ()

    @property
    def hides_all_keys(self) -> bool:
        """Whether some query sees no key, with the masks as they were read."""
        mask = self.reading and self.reading.mask
        return bool(mask and not seen_in(mask.value).any(axis=-1).all())

    @property
    def turned_by(self) -> Rotation | None:
        """How queries and keys of theirs are turned, besides the pass or in it."""
        own = self.reading and self.reading.block.rotation
        return Rotation.like(own, self.sizes["d"]) if own else self.rotation

    @property
    def formats(self) -> set[Format]:
        """The formats that a pass was written in that was given; none of one that begins with their arrays."""
        given = [stage.value for stage in self.trace.stages if stage.is_given] if self.reading is None else []
        return {written_in(value, value.dtype)[0] for value in given if value.dtype.kind == "f"}

    def forms(self, own: OwnArray, stage: str) -> list[tuple[Layout, np.ndarray]]:
        """An array in attnviz's layout of a stage, for each layout that it may have."""
        if (own, stage) not in self.read:
            self.read[own, stage] = list(forms(own, stage, self.sizes))
        return self.read[own, stage]

    def begins_with(self, stage: str) -> bool:
        """Whether an array of theirs is where it begins, and so compared with nothing."""
        return self.reading is not None and stage in self.reading.arrays


@dataclass(frozen=True, eq=False)
class Candidates:
    """All passes that arrays may be of.

    Attributes
    ----------
    own : mapping of stages to OwnArray
    likely : sequence of Candidate
        Those of the arrays as they are; the simplest first.
    hopeless : set
        Searches in one precision that came near nothing, which need not be made in another one again.
    """

    own: OwnArrays
    likely: Sequence[Candidate]
    hopeless: set[Hashable] = field(default_factory=set)

    @classmethod
    def of(cls, own: OwnArrays, n_heads: int | None, numbers: Numbers) -> Candidates:
        """Those that begin with the arrays, whose scores are made as `numbers` say.

        Raises
        ------
        OwnArraysError
            If the arrays make no pass.
        """
        return cls(own, [Candidate.of(each) for each in readings(own, n_heads, numbers)])

    @cached_property
    def with_more_hidden(self) -> list[Candidate]:
        """Those in which more keys are hidden than by the masks that were given, if any were."""
        likely = [each.reading for each in self.likely if each.reading]
        return [Candidate.of(more) for each in likely for more in with_more_hidden(each, self.own)]
