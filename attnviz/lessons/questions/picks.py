"""Questions answered by picking: a word, a cell of a row, or more, less or the same."""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct, field

from attnviz.contract.lesson import Candidate, Choose, LessonRuns
from attnviz.contract.lesson import Pick as PickQuestion
from attnviz.core.stage import layered, split_layer
from attnviz.lessons.questions.spec import QuestionSpec, cell_of, covers_of, giving_away
from attnviz.lessons.reference import (
    PATTERN,
    LessonError,
    Passes,
    Reference,
    find,
    is_of_words,
    noun,
    place_name,
    place_slot,
)
from attnviz.lessons.slots import (
    SAME,
    evaluate,
    fill_slots,
    form_of,
    format_number,
    in_words,
    is_equal,
    quantity,
    sentence,
)

Which = Literal["largest", "smallest", "largest in size"]


class Extreme(QuestionSpec, frozen=True):
    """Which of some cells has the largest number, or the smallest.

    Attributes
    ----------
    of
        The cells, with * for one axis.
    pick
        Which of them is asked for.
    """

    of: str
    pick: Which = "largest"

    def question(self, passes: Passes) -> PickQuestion:
        of = find(self.of, passes)
        if of.index.count(None) != 1:
            raise LessonError(f"One axis is asked about, as in attention[tired, *]; got {self.of}.")
        candidates = [self.candidate(of, place) for place in range(len(of.values))]
        return PickQuestion(
            prompt=fill_slots(self.prompt, passes), candidates=candidates, right=extremes(of.values, self.pick)
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
        """Its rank in the row: first, second, last, or the number ahead of it."""
        first, last, more = _ORDERS[self.pick]
        what = "" if self.pick == "largest in size" else f" {noun(of.stage.name)}"
        if n_before < 2:
            return f": the {'second ' if n_before else ''}{first}{what}"
        if is_last:
            return f": the {last}{what}"
        return f": {in_words(n_before)} others {more}"

    def _elsewhere(self, of: Reference, axis: int, place: int) -> LessonRuns:
        """The row, along another axis, for which this place would be right."""
        for other, at in reversed(list(enumerate(of.index))):
            if other == axis or at is None:
                continue
            for instead in range(of.stage.shape[other]):
                row = Reference(of.of, of.trace, of.stage, (*of.index[:other], instead, *of.index[other + 1 :]))
                if instead != at and extremes(row.values, self.pick) == [place]:
                    return self._right_for(row, other)
        return []

    def _right_for(self, row: Reference, other: int) -> LessonRuns:
        """The sentence that a place is right for another word's or head's row."""
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
"""For each kind: what the first and the last of a row are called, and how many are ahead of another."""


def _opening(of: Reference, axis: int, place: int) -> tuple[str, list]:
    """The slot and label of a place at the start of a sentence, capitalised unless it is a word."""
    slot, label = place_slot(of, axis), of.label(axis, place)
    if not is_of_words(of, axis):
        slot, label = slot[0].upper() + slot[1:], label[0].upper() + label[1:]
    return slot, ["", label]


def _is_hidden(cell: Reference) -> bool:
    """Whether the mask hides the pair whose score or weight a cell is."""
    name, layer = split_layer(cell.stage.name)
    masked = layered("masked", layer)
    return name in ("masked", "attention") and bool(np.isneginf(cell.trace[masked].value[cell.index]))


def sizes(numbers: np.ndarray, which: Which) -> np.ndarray:
    """The numbers as sort keys: the one asked for is largest."""
    return {"largest": numbers, "smallest": -numbers, "largest in size": np.abs(numbers)}[which]


def extremes(numbers: np.ndarray, which: Which) -> list[int]:
    """The places of the number asked for; several if they differ only by rounding."""
    by_size = sizes(numbers, which)
    largest = by_size.max()
    return [int(place) for place in np.flatnonzero(by_size >= largest - SAME * abs(largest))]


class Word(Extreme, tag="word", frozen=True):
    """A question that is answered by a click on a word."""

    def candidate(self, of: Reference, place: int) -> Candidate:
        axis = of.index.index(None)
        if not is_of_words(of, axis):
            raise LessonError(f"Words are asked for; {self.of} has none along its *.")
        return Candidate(label=of.label(axis, place), feedback=self.feedback(of, place), word=place)


class CellAsked(Extreme, tag="cell", frozen=True):
    """A question that is answered by a click on a cell."""

    def candidate(self, of: Reference, place: int) -> Candidate:
        name = place_name(of, of.index.index(None), place)
        return Candidate(label=name, feedback=self.feedback(of, place), cell=str(of.cells[place]))


Compared = Literal["more", "less", "the same"]

ANSWERS: tuple[Compared, ...] = ("more", "less", "the same")


class Instead(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A comparison for which a wrong answer would be right.

    Attributes
    ----------
    answer
    of, than
        The expressions for which `answer` would be right.
    feedback
        What they are, with slots.
    """

    answer: Compared
    of: str
    than: str
    feedback: str = field(name="told")


class Compare(QuestionSpec, tag="compare", frozen=True):
    """Whether a number is more, less or the same.

    Attributes
    ----------
    of
        A cell or an expression.
    than
        The other cell or expression; empty for the same cell in A.
    form
        The number format, as in a slot; a cell's default is its stage's.
    instead
        Feedback on wrong answers, used instead of the generated one.
    """

    of: str
    than: str = ""
    form: str = ""
    instead: tuple[Instead, ...] = ()

    def question(self, passes: Passes) -> Choose:
        right = compared(evaluate(self.of, passes), evaluate(self._other, passes))
        candidates = [Candidate(label=each, feedback=self._feedback(each, right, passes)) for each in ANSWERS]
        return Choose(prompt=fill_slots(self.prompt, passes), candidates=candidates, right=[ANSWERS.index(right)])

    def covers(self, passes: Passes) -> set[str]:
        return covers_of(self.of, passes)

    def asked_cell(self, passes: Passes) -> str | None:
        return cell_of(self.of, passes)

    @property
    def _other(self) -> str:
        if not self.than and not PATTERN.fullmatch(self.of):
            raise LessonError(f"An expression is compared with another, than; {self.of} has none.")
        return self.than or f"A.{self.of.removeprefix('B.')}"

    def _feedback(self, answer: Compared, right: Compared, passes: Passes) -> LessonRuns:
        form = self.form or (form_of(find(self.of, passes)) if PATTERN.fullmatch(self.of) else "")
        both = {"of": quantity(self.of, form, passes), "than": quantity(self._other, form, passes)}
        if answer == right:
            return sentence("{of}, against {than}." if self.than else "{than} in A, {of} in B.", **both)
        written = [fill_slots(each.feedback, passes) for each in self.instead if each.answer == answer]
        return (
            written[0]
            if written
            else self._elsewhere(answer, passes) or sentence("The two are {of} and {than}.", **both)
        )

    def _elsewhere(self, answer: Compared, passes: Passes) -> LessonRuns:
        """Another cell for which this answer would be right, first in the same row."""
        if self.than:
            return []
        of = find(self.of, passes)
        every = Reference(of.of, of.trace, of.stage, (*of.index[:-2], None, None)).cells
        for cell in sorted(every, key=lambda each: each.index[:-1] != of.index[:-1]):
            after = of.at(cell.index)
            before = _before(after, passes)
            if before and compared(cell.value, before.cell.value) == answer and _reads(answer, after, before):
                return _right_for(answer, after, before)
        return []


def compared(one: float, other: float) -> Compared:
    """Which of the answers is right for two numbers."""
    if is_equal(one, other):
        return "the same"
    return "more" if one > other else "less"


def _before(after: Reference, passes: Passes) -> Reference | None:
    """The cell of the same labels in A; None if A has none."""
    names = ", ".join(f'"{after.label(axis, place)}"' for axis, place in enumerate(after.index))
    try:
        return find(f"A.{after.stage.name}[{names}]", passes)
    except LessonError:
        return None


def _reads(answer: Compared, after: Reference, before: Reference) -> bool:
    """Whether different numbers also look different as written."""
    one, other = (format_number(float(each.cell.value), form_of(each)) for each in (after, before))
    return answer == "the same" or one != other


def _right_for(answer: Compared, after: Reference, before: Reference) -> LessonRuns:
    row, column = len(after.index) - 2, len(after.index) - 1
    where = f"{place_slot(after, row, 'row')} and {place_slot(after, column, 'column')}"
    if noun(after.stage.name) == "share":
        where = f"what {place_slot(after, row, 'row')} gives {place_slot(after, column, 'column')}"
    return sentence(
        f"{answer.capitalize()} is right for {where}: {{before}}, then {{after}}.",
        row=["", after.label(row, after.index[row])],
        column=["", after.label(column, after.index[column])],
        before=before,
        after=after,
    )
