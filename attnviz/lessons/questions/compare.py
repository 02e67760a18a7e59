"""Compare: whether a number is more than another, less or the same: in A and in B, or two of one pass."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from attnviz.contract.lesson import Candidate, Choose, LessonRuns
from attnviz.lessons.expression import is_equal, value
from attnviz.lessons.naming import noun, place_slot
from attnviz.lessons.questions.ask import Ask, cell_of, covers_of
from attnviz.lessons.reference import PATTERN, LessonError, Passes, Reference, find
from attnviz.lessons.slots import filled, form_of, format_number, quantity, sentence

Compared = Literal["more", "less", "the same"]

ANSWERS: tuple[Compared, ...] = ("more", "less", "the same")


class Instead(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A comparison that a wrong answer would be right for.

    Attributes
    ----------
    answer
    of, than
        The expressions that would have to be compared.
    feedback
        What they are, with slots.
    """

    answer: Compared
    of: str
    than: str
    feedback: str = field(name="told")


class Compare(Ask, tag="compare", frozen=True):
    """Whether a number is more, less or the same.

    Attributes
    ----------
    of
        A cell or an expression.
    than
        What it is compared with; empty for its own place in the pass beside it, A.
    form
        How the two are written, as in a slot; that of its stage, for a cell.
    instead
        What wrong answers would be right for, where no other cell of the row tells.
    """

    of: str
    than: str = ""
    form: str = ""
    instead: tuple[Instead, ...] = ()

    def question(self, passes: Passes) -> Choose:
        right = compared(value(self.of, passes), value(self._other, passes))
        candidates = [Candidate(label=each, feedback=self._feedback(each, right, passes)) for each in ANSWERS]
        return Choose(prompt=filled(self.prompt, passes), candidates=candidates, right=[ANSWERS.index(right)])

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
        written = [filled(each.feedback, passes) for each in self.instead if each.answer == answer]
        return (
            written[0]
            if written
            else self._elsewhere(answer, passes) or sentence("The two are {of} and {than}.", **both)
        )

    def _elsewhere(self, answer: Compared, passes: Passes) -> LessonRuns:
        """Another cell for which an answer would be right: of the same row, else of another."""
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
    """The cell of the same name in A; None where A has none."""
    names = ", ".join(f'"{after.label(axis, place)}"' for axis, place in enumerate(after.index))
    try:
        return find(f"A.{after.stage.name}[{names}]", passes)
    except LessonError:
        return None


def _reads(answer: Compared, after: Reference, before: Reference) -> bool:
    """Whether two numbers are to be told apart, as they are written, where they differ."""
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
