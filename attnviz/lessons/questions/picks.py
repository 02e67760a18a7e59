"""Questions answered by picking: a word, a cell of a row, a statement, or more, less or the same."""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import field

from attnviz.contract.lesson import Candidate, Choose, LessonRuns
from attnviz.contract.lesson import Pick as PickQuestion
from attnviz.core.stage import name_in_layer, split_layer
from attnviz.explain.texts import crosses
from attnviz.lessons.cell_reference import (
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
from attnviz.lessons.questions.spec import ExpressionSpec, FileStruct, QuestionSpec, giving_away
from attnviz.lessons.slots import (
    SAME,
    evaluate,
    fill_slots,
    form_of,
    format_number,
    holds,
    in_words,
    is_equal,
    quantity,
    sentence,
)

Which = Literal["largest", "smallest", "largest in size"]
ALMOST_NOTHING = 0.01  # an attention weight below this is not told in numbers


class Extreme(QuestionSpec, frozen=True):
    """Which of some cells has the largest number, or the smallest."""

    of: str  # the cells, with * for one axis
    pick: Which = "largest"  # which of them is asked for

    def question(self, passes: Passes) -> PickQuestion:
        ref = find(self.of, passes)
        if ref.index.count(None) != 1:
            raise LessonError(f"One axis is asked about, as in attention[tired, *]; got {self.of}.")
        candidates = [self.candidate(ref, index) for index in range(len(ref.values))]
        right = extremes(ref.values, self.pick)
        return PickQuestion(prompt=fill_slots(self.prompt, passes), candidates=candidates, right=right)

    def covers(self, passes: Passes) -> set[str]:
        return giving_away(find(self.of, passes), is_order_asked=True)

    def answer_cell(self, passes: Passes) -> str | None:
        ref = find(self.of, passes)
        return str(ref.cells[extremes(ref.values, self.pick)[0]]) if ref.side == "B" else None

    def candidate(self, ref: Reference, index: int) -> Candidate:
        """One of the answers that may be picked."""
        raise NotImplementedError

    def feedback(self, ref: Reference, index: int) -> LessonRuns:
        """The feedback on an answer: its rank in the row, and where else it would be right."""
        axis, cell = ref.index.index(None), ref.at(ref.cells[index].index)
        slot, label = place_slot(ref, axis), ref.label(axis, index)
        if not is_of_words(ref, axis):  # at the start of a sentence
            slot, label = slot[0].upper() + slot[1:], label[0].upper() + label[1:]
        base, layer = split_layer(cell.stage.name)
        if base in ("masked", "attention") and np.isneginf(ref.trace[name_in_layer("masked", layer)].value[cell.index]):
            return sentence(f"{slot} is hidden by the mask.", name=["", label])
        others = np.delete(sizes(ref.values, self.pick), index) - sizes(cell.values, self.pick)
        n_before = int((others > SAME).sum())
        if n_before and base == "attention" and float(cell.values) < ALMOST_NOTHING:
            runs = sentence(f"{slot} gets almost nothing.", name=["", label])
        else:
            rank = self._rank(noun(ref.stage.name), n_before, is_last=n_before == len(others))
            runs = sentence(f"{slot} has {{number}}: {rank}.", name=["", label], number=cell)
        return [*runs, *self._elsewhere(ref, axis, index)] if n_before else runs

    def _rank(self, noun: str, n_before: int, *, is_last: bool) -> str:
        first, last, more = _ORDERS[self.pick]
        what = "" if self.pick == "largest in size" else f" {noun}"
        if n_before < 2:
            return f"the {'second ' if n_before else ''}{first}{what}"
        return f"the {last}{what}" if is_last else f"{in_words(n_before)} others {more}"

    def _elsewhere(self, ref: Reference, axis: int, index: int) -> LessonRuns:
        """The sentence on a row, along another axis, for which this answer would be right."""
        for other, current in reversed(list(enumerate(ref.index))):
            if other == axis or current is None:
                continue
            for instead in range(ref.stage.shape[other]):
                row = ref.at((*ref.index[:other], instead, *ref.index[other + 1 :]))
                if instead != current and extremes(row.values, self.pick) == [index]:
                    return self._right_for(row, axis, index, other)
        return []

    def _right_for(self, row: Reference, axis: int, index: int, other: int) -> LessonRuns:
        name, where = row.label(axis, index), row.label(other, row.index[other])
        answer, whose = place_slot(row, axis), place_slot(row, other, "where")
        if split_layer(row.stage.name)[0] == "attention" and (written := _next_written_word(row, other)):
            where, text = written, f"{answer} is where the model looked most for {whose}"
        elif split_layer(row.stage.name)[0] == "attention":
            how = "least" if self.pick == "smallest" else "most"
            text = f"{whose} looks {how} at itself" if name == where else f"{answer} is where {whose} looks {how}"
        else:
            text = f"For {whose}, {answer} has the {_ORDERS[self.pick][0]} {noun(row.stage.name)}"
            if self.pick == "largest in size":
                text = f"For {whose}, {answer} has the number {_ORDERS[self.pick][0]}"
        return sentence(f" {text[0].upper()}{text[1:]}.", name=["", name], where=["", where])


def _next_written_word(row: Reference, axis: int) -> str:
    """The word that a translator wrote next, after the word of a row of its cross-attention; else empty."""
    trace = row.trace
    if row.stage.axes[axis] != "query" or not crosses(trace.layer_of(row.stage.name).trace):
        return ""
    return (*trace.labels["query"], trace.labels["answer"][-1])[row.index[axis] + 1]


_ORDERS = {  # what the first and the last of a row are called, and how many are ahead of another
    "largest": ("largest", "smallest", "have more"),
    "smallest": ("smallest", "largest", "have less"),
    "largest in size": ("furthest from 0", "nearest to 0", "are further from 0"),
}


def sizes(numbers: np.ndarray, which: Which) -> np.ndarray:
    """The numbers as sort keys: the one asked for is largest."""
    return {"largest": numbers, "smallest": -numbers, "largest in size": np.abs(numbers)}[which]


def extremes(numbers: np.ndarray, which: Which) -> list[int]:
    """The indices of the number asked for; several if they differ only by rounding."""
    by_size = sizes(numbers, which)
    return np.flatnonzero(by_size >= by_size.max() - SAME * abs(by_size.max())).tolist()


class PickWord(Extreme, tag="word", frozen=True):
    """A question that is answered by a click on a word."""

    def candidate(self, ref: Reference, index: int) -> Candidate:
        axis = ref.index.index(None)
        if not is_of_words(ref, axis):
            raise LessonError(f"Words are asked for; {self.of} has none along its *.")
        return Candidate(label=ref.label(axis, index), feedback=self.feedback(ref, index), word=index)


class PickCell(Extreme, tag="cell", frozen=True):
    """A question that is answered by a click on a cell."""

    def candidate(self, ref: Reference, index: int) -> Candidate:
        name = place_name(ref, ref.index.index(None), index)
        return Candidate(label=name, feedback=self.feedback(ref, index), cell=str(ref.cells[index]))


class Option(FileStruct, frozen=True):
    """One of the answers of a choice."""

    answer: str
    holds: str  # the comparison that is true if this answer is right
    feedback: str = field(name="told")  # why it is wrong or right, with slots


class Choice(QuestionSpec, tag="choose", frozen=True):
    """Which of some answers is right. It covers nothing: one reads the picture to answer."""

    options: tuple[Option, ...]

    def question(self, passes: Passes) -> Choose:
        right = [place for place, each in enumerate(self.options) if holds(each.holds, passes)]
        if len(right) != 1:
            raise LessonError(f"One answer of a choice is right; {len(right)} are of: {self.prompt}")
        candidates = [Candidate(label=each.answer, feedback=fill_slots(each.feedback, passes)) for each in self.options]
        return Choose(prompt=fill_slots(self.prompt, passes), candidates=candidates, right=right)

    def covers(self, passes: Passes) -> set[str]:
        return set()


Compared = Literal["more", "less", "the same"]
ANSWERS: tuple[Compared, ...] = ("more", "less", "the same")


class Instead(FileStruct, frozen=True):
    """A comparison for which a wrong answer would be right."""

    answer: Compared
    of: str  # the expressions for which `answer` would be right
    than: str
    feedback: str = field(name="told")  # what they are, with slots


class Compare(ExpressionSpec, tag="compare", frozen=True):
    """Whether a number is more, less or the same."""

    than: str = ""  # the other cell or expression; empty for the same cell in A
    form: str = ""  # the number format, as in a slot; a cell's default is its stage's
    instead: tuple[Instead, ...] = ()  # feedback on wrong answers, used instead of the generated one

    def question(self, passes: Passes) -> Choose:
        right = compared(evaluate(self.of, passes), evaluate(self._other, passes))
        candidates = [Candidate(label=each, feedback=self._feedback(each, right, passes)) for each in ANSWERS]
        return Choose(prompt=fill_slots(self.prompt, passes), candidates=candidates, right=[ANSWERS.index(right)])

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
        for each in self.instead:
            if each.answer == answer:
                return fill_slots(each.feedback, passes)
        return self._elsewhere(answer, passes) or sentence("The two are {of} and {than}.", **both)

    def _elsewhere(self, answer: Compared, passes: Passes) -> LessonRuns:
        """Another cell for which this answer would be right, first in the same row."""
        if self.than:
            return []
        ref = find(self.of, passes)
        every = Reference(ref.side, ref.trace, ref.stage, (*ref.index[:-2], None, None)).cells
        for cell in sorted(every, key=lambda each: each.index[:-1] != ref.index[:-1]):
            after = ref.at(cell.index)
            before = _before(after, passes)
            if before and compared(cell.value, before.cell.value) == answer:
                one, other = (format_number(float(each.cell.value), form_of(each)) for each in (after, before))
                if answer == "the same" or one != other:  # different numbers must also look different
                    return _right_for(answer, after, before)
        return []


def compared(one: float, other: float) -> Compared:
    """Which of the answers is right for two numbers."""
    if is_equal(one, other):
        return "the same"
    return "more" if one > other else "less"


def _before(after: Reference, passes: Passes) -> Reference | None:
    """The cell of the same labels in A; None if A has none."""
    names = ", ".join(f'"{after.label(axis, index)}"' for axis, index in enumerate(after.index))
    try:
        return find(f"A.{after.stage.name}[{names}]", passes)
    except LessonError:
        return None


def _right_for(answer: Compared, after: Reference, before: Reference) -> LessonRuns:
    row, column = len(after.index) - 2, len(after.index) - 1
    slots = place_slot(after, row, "row"), place_slot(after, column, "column")
    is_weight = split_layer(after.stage.name)[0] == "attention"
    where = "what {} gives {}".format(*slots) if is_weight else " and ".join(slots)
    return sentence(
        f"{answer.capitalize()} is right for {where}: {{before}}, then {{after}}.",
        row=["", after.label(row, after.index[row])],
        column=["", after.label(column, after.index[column])],
        before=before,
        after=after,
    )
