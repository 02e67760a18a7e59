"""Extreme: which cell of a row has the largest number, or the smallest; each other one is told what it has instead."""

from __future__ import annotations

from typing import Literal

import numpy as np

from attnviz.lessons.naming import noun, ordinal, place_slot
from attnviz.lessons.questions.ask import Ask, giving_away
from attnviz.lessons.reference import LessonError, Passes, Reference, find
from attnviz.lessons.slots import filled, told
from attnviz.scene.contract.lesson import Candidate, LessonRuns
from attnviz.scene.contract.lesson import Pick as PickQuestion

Which = Literal["largest", "smallest", "largest in size"]

_SAME = 1e-12


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

    def candidate(self, of: Reference, place: int) -> Candidate:
        """One of the places that may be picked."""
        raise NotImplementedError

    def told(self, of: Reference, place: int) -> LessonRuns:
        """What is said of who picks a place: which one it is, and where else it would be right."""
        axis = of.index.index(None)
        cell, name = of.at(of.cells[place].index), ["", of.label(axis, place)]
        if np.isneginf(cell.cell.value):
            return told("“{name}” is hidden by the mask.", name=name)
        rank = int((sizes(of.values, self.pick) > sizes(cell.values, self.pick) + _SAME).sum()) + 1
        which = "furthest from 0" if self.pick == "largest in size" else f"{self.pick} {noun(of.stage.name)}"
        which = f"the {ordinal(rank)} {which}".replace("the first ", "the ")
        said = told(f"{place_slot(of, axis)} has {{number}}: {which}.", name=name, number=cell)
        return said if rank == 1 else [*said, *self._elsewhere(of, axis, place)]

    def _elsewhere(self, of: Reference, axis: int, place: int) -> LessonRuns:
        """Where else the place would be right: at another place along the other axes, the nearest before all."""
        for other, at in reversed(list(enumerate(of.index))):
            if other == axis or at is None:
                continue
            for instead in range(of.stage.shape[other]):
                row = Reference(of.of, of.trace, of.stage, (*of.index[:other], instead, *of.index[other + 1 :]))
                if instead != at and extremes(row.values, self.pick) == [place]:
                    where = ["", of.label(other, instead)]
                    return told(f" It would be the answer for {place_slot(of, other, 'where')}.", where=where)
        return []


def sizes(numbers: np.ndarray, which: Which) -> np.ndarray:
    """Numbers by what is asked of them: the one asked for has the largest size."""
    return {"largest": numbers, "smallest": -numbers, "largest in size": np.abs(numbers)}[which]


def extremes(numbers: np.ndarray, which: Which) -> list[int]:
    """Where the one that is asked for is; several, where they differ by rounding alone."""
    by_size = sizes(numbers, which)
    largest = by_size.max()
    return [int(place) for place in np.flatnonzero(by_size >= largest - _SAME * abs(largest))]
