"""Rule: how any cell of a stage is computed, stated once for all cells as patterns of indices and sentences with slots.

A pattern has a letter for each axis, as in einops: `h q k`. Letters in brackets lie on one axis, the outermost first:
`q (h f)`. The letter `i` runs: a line that reads it is repeated for each of its places, or for the first ones; outside
of lines it is at its first place. Any other letter that the result lacks is at its last place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple, Protocol

import numpy as np

AxesAndShape = tuple[tuple[str, ...], tuple[int, ...]]
"""The names of the axes, and their lengths."""


class Input(Protocol):
    """A stage, as an operation reads it."""

    axes: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def value(self) -> np.ndarray:
        """Its numbers; everything else is known without computing them."""

    @property
    def bound(self) -> float:
        """An upper bound of the absolute values, hidden keys aside; inf if -inf was given or set."""


RUNNING = "i"

SAME_NUMBER = "the same number"
"""The text of a line that copies its cell."""

Index = tuple[int, ...]


@dataclass(frozen=True)
class Slot:
    """A number that sentences can name."""

    source: int | str  # the position of an input; or an array of the rule, such as "#exp"; or "", the stage itself
    pattern: str  # its index, in the letters of the computed cell
    title: str = ""  # the heading of a column of such numbers, for arrays of the rule


@dataclass(frozen=True)
class Line:
    """One line of the computation of a number."""

    cells: tuple[str, ...]  # the slots it reads, all of them inputs
    text: str  # the calculation, as in "{a} × {b}"
    value: str = ""  # the slot that holds its result; the product of its cells if empty
    is_exponential: bool = False  # whether its result is instead exp(first cell - second cell) times the others


@dataclass(frozen=True)
class Variant:
    """How a number is computed in one case."""

    lines: tuple[Line, ...]
    conclusion: str = ""  # how the lines give the number, in words, where `{n}` is their count; empty for a single line
    formula: str = ""  # the right side of its formula, as LaTeX; empty where a formula would add nothing to the line
    term: str = ""  # the summand of the formula's `{terms}`, repeated for each place of `i`


class Run(NamedTuple):
    """Evenly spaced cells of one input that a slot stands for."""

    source: int | str  # the source of the slot
    start: Index  # the index of the first cell
    step: Index  # the distance between neighbouring cells along each axis
    length: int

    @property
    def indices(self) -> Iterator[Index]:
        """The index of each."""
        axes_of = (
            range(at, at + step * self.length, step) if step else repeat(at, self.length)
            for at, step in zip(self.start, self.step, strict=True)
        )
        return zip(*axes_of, strict=True)


@dataclass(frozen=True, eq=False)
class Rule:
    """How any cell of a stage is computed."""

    result: str  # the pattern of the stage itself
    sizes: Mapping[str, int]
    slots: Mapping[str, Slot]
    variants: tuple[Variant, ...]
    case: Slot | None  # the array with the number of each cell's variant; by default all have the first
    arrays: Mapping[str, np.ndarray]  # numbers that lines name but no stage holds; their names begin with "#"
    until: Slot | None = None  # the array with the number of places of `i` that count for each cell; by default all

    @classmethod
    def of(
        cls,
        inputs: Sequence[Input],
        result: str,
        slots: Mapping[str, Slot],
        *variants: Variant,
        case: Slot | None = None,
        until: Slot | None = None,
        arrays: Mapping[str, np.ndarray] | None = None,
    ) -> Rule:
        """The rule of some inputs; the sizes of the letters come from the shapes of inputs and arrays."""
        arrays = arrays or {}
        shapes: dict[int | str, tuple[int, ...]] = {place: each.shape for place, each in enumerate(inputs)}
        shapes.update((name, each.shape) for name, each in arrays.items())
        read = (slot for slot in (*slots.values(), case, until) if slot and slot.source in shapes)
        measured = (zip(axes(slot.pattern), shapes[slot.source], strict=True) for slot in read)
        sizes = {letters: length for each in measured for letters, length in each if len(letters) == 1}
        return cls(result, sizes, slots, variants, case, arrays, until)

    def runs(self, index: Index) -> list[list[Run]]:
        """The cells that the lines of the cell at `index` read: for each line a run for each slot."""
        places = self._places(index)
        lines = []
        for line in self._variant(places).lines:
            count = self._count(line, places)
            lines.append([self._run(self.slots[name], places, count) for name in line.cells])
        return lines

    def variant(self, index: Index) -> Variant:
        """How the cell at `index` is computed."""
        return self._variant(self._places(index))

    def run(self, name: str, index: Index) -> Run:
        """The numbers that a slot stands for, for the cell at `index`: one, or one at each place of `i`."""
        slot = self.slots[name]
        return self._run(slot, self._places(index), self.sizes[RUNNING] if RUNNING in slot.pattern else 1)

    @property
    def most_cells(self) -> int:
        """The most cells that one cell of the stage is computed from."""
        return max(sum(self._count(line) * len(line.cells) for line in variant.lines) for variant in self.variants)

    def _count(self, line: Line, places: Mapping[str, int] | None = None) -> int:
        """How often a line is repeated for a cell at these places; without places, at most."""
        if not any(RUNNING in self.slots[name].pattern for name in line.cells):
            return 1
        if self.until is None:
            return self.sizes[RUNNING]
        return int(self.arrays[str(self.until.source)].max()) if places is None else self._at(self.until, places)

    def _variant(self, places: Mapping[str, int]) -> Variant:
        return self.variants[0 if self.case is None else self._at(self.case, places)]

    def _at(self, slot: Slot, places: Mapping[str, int]) -> int:
        return int(self.arrays[str(slot.source)][self._run(slot, places, 1).start])

    def _places(self, index: Index) -> dict[str, int]:
        """The place of each letter for the cell at `index`; for letters that it lacks see the module docstring."""
        places = dict(self._last_places)
        for letters, place in zip(axes(self.result), index, strict=True):
            outermost = letters[0]
            for letter in reversed(letters[1:]):
                place, places[letter] = divmod(place, self.sizes[letter])
            places[outermost] = place
        return places

    @cached_property
    def _last_places(self) -> dict[str, int]:
        """The last place of each letter, and the first of `i`."""
        return {letter: size - 1 for letter, size in self.sizes.items()} | {RUNNING: 0}

    def _run(self, slot: Slot, places: Mapping[str, int], count: int) -> Run:
        """The cells that a slot stands for, at each of the first `count` places of the letter that runs."""
        start_at, step = self._strides(slot.pattern)
        return Run(slot.source, start_at(places), step, count)

    def _strides(self, pattern: str) -> tuple[Callable[[Mapping[str, int]], Index], Index]:
        """A function from places to the index of a pattern, and the step of that index along `i`."""
        if pattern not in self._known_strides:
            along = [self._along(letters) for letters in axes(pattern)]
            step = tuple(strides.get(RUNNING, 0) for strides in along)
            self._known_strides[pattern] = _start_of(along), step
        return self._known_strides[pattern]

    @cached_property
    def _known_strides(self) -> dict[str, tuple[Callable[[Mapping[str, int]], Index], Index]]:
        """A cache of the strides of patterns."""
        return {}

    def _along(self, letters: str) -> dict[str, int]:
        """The stride of each letter on the axis that these letters share."""
        strides, stride = {}, 1
        for letter in reversed(letters):
            strides[letter], stride = stride, stride * self.sizes[letter]
        return strides


def _start_of(along: Sequence[Mapping[str, int]]) -> Callable[[Mapping[str, int]], Index]:
    """A function from the places of letters to the index of a cell, given the strides on each axis."""
    letters = [letter for strides in along for letter in strides]
    if len(letters) == len(along) > 1:  # most patterns, and by far the fastest
        return itemgetter(*letters)
    return lambda places: tuple(sum(places[letter] * stride for letter, stride in strides.items()) for strides in along)


def products(result: str, *reads: tuple[Input, str]) -> Rule:
    """The rule of a sum of products: the first input times the second along `i`, plus a third if there is one."""
    inputs, patterns = zip(*reads, strict=True)
    slots = {name: Slot(place, pattern) for place, (name, pattern) in enumerate(zip("abc", patterns, strict=False))}
    lines, formula = [Line(("a", "b"), "{a} × {b}")], "{terms}"
    if "c" in slots:
        lines.append(Line(("c",), "{c}"))
        formula += " + {c:bt}"
    conclusion = "the sum of {n}, added up unrounded"
    return Rule.of(inputs, result, slots, Variant(tuple(lines), conclusion, formula, term=r"{a:bt} \cdot {b:bt}"))


def copies(source: Input, result: str, pattern: str) -> Rule:
    """The rule of a copy of an input, read at `pattern`."""
    return Rule.of((source,), result, {"a": Slot(0, pattern)}, Variant((Line(("a",), SAME_NUMBER),)))


@cache
def axes(pattern: str) -> tuple[str, ...]:
    """The letters on each axis of a pattern.

    >>> axes("q (h f)")
    ('q', 'hf')
    """
    return tuple(group.replace(" ", "").strip("()") for group in re.findall(r"\(.*?\)|\w", pattern))
