"""Extreme: which cell of a row has the largest number, or the smallest; each other one is told what it has instead."""

from __future__ import annotations

from typing import Literal

import numpy as np

from attnviz.contract.lesson import Candidate, LessonRuns
from attnviz.contract.lesson import Pick as PickQuestion
from attnviz.core.stage import layered, split_layer
from attnviz.lessons.expression import SAME
from attnviz.lessons.naming import is_of_words, noun, place_slot
from attnviz.lessons.questions.ask import Ask, giving_away
from attnviz.lessons.reference import LessonError, Passes, Reference, find
from attnviz.lessons.slots import filled, in_words, sentence

Which = Literal["largest", "smallest", "largest in size"]


class Extreme(Ask, frozen=True):
    """Which of some cells has the largest number, or the smallest.

    Attributes
    ----------
    of
        The cells, with * for one axis.
    pick
        What is asked for.
    """

    of: str
    pick: Which = "largest"

    def question(self, passes: Passes) -> PickQuestion:
        of = find(self.of, passes)
        if of.index.count(None) != 1:
            raise LessonError(f"One axis is asked about, as in attention[tired, *]; got {self.of}.")
        candidates = [self.candidate(of, place) for place in range(len(of.values))]
        return PickQuestion(
            prompt=filled(self.prompt, passes), candidates=candidates, right=extremes(of.values, self.pick)
        )

    def covers(self, passes: Passes) -> set[str]:
        return giving_away(find(self.of, passes), is_order_asked=True)

    def answer_cell(self, passes: Passes) -> str | None:
        of = find(self.of, passes)
        return str(of.cells[extremes(of.values, self.pick)[0]]) if of.of == "B" else None

    def candidate(self, of: Reference, place: int) -> Candidate:
        """One of the places that may be picked."""
        raise NotImplementedError

    def feedback(self, of: Reference, place: int) -> LessonRuns:
        """The feedback on a place: which one it is, and where else it would be right."""
        axis = of.index.index(None)
        cell, (slot, label) = of.at(of.cells[place].index), _opening(of, axis, place)
        if _is_hidden(cell):
            return sentence(f"{slot} is hidden by the mask.", name=label)
        others = np.delete(sizes(of.values, self.pick), place) - sizes(cell.values, self.pick)
        which = self._which(of, int((others > SAME).sum()), is_last=bool((others > SAME).all()))
        runs = sentence(f"{slot} has {{number}}{which}.", name=label, number=cell)
        return [*runs, *self._elsewhere(of, axis, place)] if (others > SAME).any() else runs

    def _which(self, of: Reference, n_before: int, *, is_last: bool) -> str:
        """Which one of the row it is: the first, the second or the last; else how many are before it."""
        first, last, more = _ORDERS[self.pick]
        what = "" if self.pick == "largest in size" else f" {noun(of.stage.name)}"
        if n_before < 2:
            return f": the {'second ' if n_before else ''}{first}{what}"
        if is_last:
            return f": the {last}{what}"
        return f": {in_words(n_before)} others {more}"

    def _elsewhere(self, of: Reference, axis: int, place: int) -> LessonRuns:
        """Where else the place would be right: at another place along the other axes, the nearest before all."""
        for other, at in reversed(list(enumerate(of.index))):
            if other == axis or at is None:
                continue
            for instead in range(of.stage.shape[other]):
                row = Reference(of.of, of.trace, of.stage, (*of.index[:other], instead, *of.index[other + 1 :]))
                if instead != at and extremes(row.values, self.pick) == [place]:
                    return self._right_for(row, other)
        return []

    def _right_for(self, row: Reference, other: int) -> LessonRuns:
        """That a place is right for another row: another word's or head's."""
        axis, at = row.index.index(None), row.index[other]
        name, where = row.label(axis, extremes(row.values, self.pick)[0]), row.label(other, at)
        place, whose = place_slot(row, axis), place_slot(row, other, "where")
        if noun(row.stage.name) == "share":
            text = f"{whose} looks most at itself" if name == where else f"{place} is where {whose} looks most"
        else:
            first = _ORDERS[self.pick][0]
            text = f"For {whose}, {place} has the {first} {noun(row.stage.name)}"
            if self.pick == "largest in size":
                text = f"For {whose}, {place} has the number {first}"
        return sentence(f" {text[0].upper()}{text[1:]}.", name=["", name], where=["", where])


_ORDERS = {
    "largest": ("largest", "smallest", "have more"),
    "smallest": ("smallest", "largest", "have less"),
    "largest in size": ("furthest from 0", "nearest to 0", "are further from 0"),
}
"""By what is asked for: what the first of a row is called, what the last, and what those before another do."""


def _opening(of: Reference, axis: int, place: int) -> tuple[str, list]:
    """The slot and the label of a place that a sentence begins with, with a capital unless it is a word."""
    slot, label = place_slot(of, axis), of.label(axis, place)
    if not is_of_words(of, axis):
        slot, label = slot[0].upper() + slot[1:], label[0].upper() + label[1:]
    return slot, ["", label]


def _is_hidden(cell: Reference) -> bool:
    """Whether a mask hides a pair, of whose score or share a cell is."""
    name, layer = split_layer(cell.stage.name)
    masked = layered("masked", layer)
    return name in ("masked", "attention") and bool(np.isneginf(cell.trace[masked].value[cell.index]))


def sizes(numbers: np.ndarray, which: Which) -> np.ndarray:
    """Numbers by what is asked of them: the one asked for has the largest size."""
    return {"largest": numbers, "smallest": -numbers, "largest in size": np.abs(numbers)}[which]


def extremes(numbers: np.ndarray, which: Which) -> list[int]:
    """Where the one that is asked for is; several, where they differ by rounding alone."""
    by_size = sizes(numbers, which)
    largest = by_size.max()
    return [int(place) for place in np.flatnonzero(by_size >= largest - SAME * abs(largest))]
