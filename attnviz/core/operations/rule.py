"""Rule: how any cell of a stage is computed, said once for all cells: patterns of indices, sentences with slots.

A pattern has a letter for each axis, as in einops: `h q k`. Letters in brackets
lie on one axis, the outermost first: `q (h f)`. The letter `i` stands in no
result: a line that reads it is there once for each of its places, or for the
first of them. Any other letter that the result lacks is at its last place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from attnviz.core.operations.input import Input

RUNNING = "i"

Index = tuple[int, ...]


@dataclass(frozen=True)
class Slot:
    """A number that sentences name.

    Attributes
    ----------
    source : int or str
        The place of an input among the operation's; or an array of the rule, as in "#exp"; or "", the stage itself.
    pattern : str
        Its index, in the letters of the cell that is computed.
    """

    source: int | str
    pattern: str


@dataclass(frozen=True)
class Line:
    """One line of how a number is computed.

    Attributes
    ----------
    cells : tuple of str
        The slots it reads, all of them of inputs.
    text : str
        What is done with them, as in "{a} × {b}".
    value : str
        The slot that holds its result; the product of its cells if empty.
    is_exponential : bool
        Whether its result is the exponential of its first cell less its second instead, times the others.
    """

    cells: tuple[str, ...]
    text: str
    value: str = ""
    is_exponential: bool = False


@dataclass(frozen=True)
class Variant:
    """How a number is computed in one case.

    Attributes
    ----------
    lines : tuple of Line
    conclusion : str
        How the lines make the number, in words, with `{n}` lines; empty where the one line does.
    formula : str
        The right side of its formula, as LaTeX; empty where a formula would say no more than the line.
    term : str
        What stands in the formula's `{terms}` once for each place of `i`, with " + " between.
    """

    lines: tuple[Line, ...]
    conclusion: str = ""
    formula: str = ""
    term: str = ""


@dataclass(frozen=True, eq=False)
class Rule:
    """How any cell of a stage is computed.

    Attributes
    ----------
    result : str
        The pattern of the stage itself.
    sizes : mapping of letters to int
    slots : mapping of names to Slot
    variants : tuple of Variant
    case : Slot or None
        Where the place of a cell's variant stands; without it all have the first.
    until : Slot or None
        Where it stands how many of the places of `i` the lines of a cell are there for; without it for all.
    arrays : mapping of names to ndarray
        Numbers that lines name and no stage holds; their names begin with "#".
    """

    result: str
    sizes: Mapping[str, int]
    slots: Mapping[str, Slot]
    variants: tuple[Variant, ...]
    case: Slot | None
    arrays: Mapping[str, np.ndarray]
    until: Slot | None = None

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
        """The rule by which some inputs are read; their shapes and those of the arrays are its sizes."""
        arrays = arrays or {}
        sources = {**dict(enumerate(inputs)), **arrays}
        read = (slot for slot in (*slots.values(), case, until) if slot and slot.source in sources)
        measured = (zip(axes(slot.pattern), sources[slot.source].shape, strict=True) for slot in read)
        sizes = {letters: length for each in measured for letters, length in each if len(letters) == 1}
        return cls(result, sizes, slots, variants, case, arrays, until)

    def cells(self, index: Index) -> list[tuple[tuple[int, Index], ...]]:
        """The cells that the lines of the cell at `index` read: for each line, places of inputs and indices in them."""
        places = self._places(index)
        cells: list[tuple[tuple[int, Index], ...]] = []
        for line in self._variant(places).lines:
            slots, count = [self.slots[name] for name in line.cells], self._count(line, places)
            reads = [[(slot.source, at) for at in self._indices(slot.pattern, places, count)] for slot in slots]
            cells += zip(*reads, strict=True)
        return cells

    @property
    def most_cells(self) -> int:
        """The most cells that one cell of the stage is computed from."""
        return max(sum(self._count(line) * len(line.cells) for line in variant.lines) for variant in self.variants)

    def _count(self, line: Line, places: Mapping[str, int] | None = None) -> int:
        """How often a line is there, for a cell at some places or at most."""
        if not any(RUNNING in self.slots[name].pattern for name in line.cells):
            return 1
        return self.sizes[RUNNING] if self.until is None or places is None else self._at(self.until, places)

    def _variant(self, places: Mapping[str, int]) -> Variant:
        return self.variants[0 if self.case is None else self._at(self.case, places)]

    def _at(self, slot: Slot, places: Mapping[str, int]) -> int:
        (at,) = self._indices(slot.pattern, places, 1)
        return int(self.arrays[slot.source][at])

    def _places(self, index: Index) -> dict[str, int]:
        """The place of each letter for the cell at `index`; the last of what the result lacks, the first of `i`."""
        places = {letter: size - 1 for letter, size in self.sizes.items()} | {RUNNING: 0}
        for letters, place in zip(axes(self.result), index, strict=True):
            for letter in reversed(letters):
                place, places[letter] = divmod(place, self.sizes[letter])
        return places

    def _indices(self, pattern: str, places: Mapping[str, int], count: int) -> Iterator[Index]:
        """The indices that a pattern stands for, at each of the first `count` places of the letter that runs."""
        return zip(*(self._along(letters, places, count) for letters in axes(pattern)), strict=True)

    def _along(self, letters: str, places: Mapping[str, int], count: int) -> list[int]:
        """The places on one axis, from some places of its letters on."""
        start = step = 0
        for letter in letters:
            size = self.sizes[letter]
            start, step = start * size + places[letter], 1 if letter == RUNNING else step * size
        return [start + step * place for place in range(count)]


def products(result: str, *reads: tuple[Input, str]) -> Rule:
    """The rule of a sum of products: the first input times the second along `i`, and a third that is added."""
    inputs, patterns = zip(*reads, strict=True)
    slots = {name: Slot(place, pattern) for place, (name, pattern) in enumerate(zip("abc", patterns, strict=False))}
    lines, formula = (Line(("a", "b"), "{a} × {b}"),), "{terms}"
    if "c" in slots:
        lines, formula = (*lines, Line(("c",), "{c}")), "{terms} + {c:bt}"
    conclusion = "the sum of {n}, added up unrounded"
    return Rule.of(inputs, result, slots, Variant(lines, conclusion, formula, term=r"{a:bt} \cdot {b:bt}"))


def copies(source: Input, result: str, pattern: str) -> Rule:
    """The rule of an input that is passed on as it is, read at `pattern`."""
    return Rule.of((source,), result, {"a": Slot(0, pattern)}, Variant((Line(("a",), "the same number"),)))


@cache
def axes(pattern: str) -> tuple[str, ...]:
    """The letters on each axis of a pattern.

    Examples
    --------
    >>> axes("q (h f)")
    ('q', 'hf')
    """
    return tuple(group.replace(" ", "").strip("()") for group in re.findall(r"\(.*?\)|\w", pattern))
