"""Compare: whether a number is more than another, less or the same: in A and in B, or two of one pass."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from attnviz.lessons.expression import value
from attnviz.lessons.naming import noun, quoted
from attnviz.lessons.questions.ask import Ask, giving_away, named_in
from attnviz.lessons.reference import PATTERN, LessonError, Passes, Reference, find
from attnviz.lessons.slots import filled, form_of, quantity, told
from attnviz.scene.contract.lesson import Candidate, Choose, LessonRuns

Compared = Literal["more", "less", "the same"]

ANSWERS: tuple[Compared, ...] = ("more", "less", "the same")

_SAME = 1e-12


class Instead(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What a wrong answer would be right for.

    Attributes
    ----------
    answer
    of, than
        The expressions that would have to be compared.
    told
        What they are, with slots.
    """

    answer: Compared
    of: str
    than: str
    told: str


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
        candidates = [Candidate(label=each, told=self._told(each, right, passes)) for each in ANSWERS]
        return Choose(prompt=filled(self.prompt, passes), candidates=candidates, right=[ANSWERS.index(right)])

    def covers(self, passes: Passes) -> set[str]:
        return set().union(*(giving_away(each, is_order_asked=False) for each in named_in(self.of, passes)))

    @property
    def _other(self) -> str:
        if not self.than and not PATTERN.fullmatch(self.of):
            raise LessonError(f"An expression is compared with another, than; {self.of} has none.")
        return self.than or f"A.{self.of.removeprefix('B.')}"

    def _told(self, answer: Compared, right: Compared, passes: Passes) -> LessonRuns:
        form = self.form or (form_of(find(self.of, passes)) if PATTERN.fullmatch(self.of) else "")
        said = told(
            "{of} and {than}: the same." if right == "the same" else f"{{of}} is {right} than {{than}}.",
            of=quantity(self.of, form, passes),
            than=quantity(self._other, form, passes),
        )
        if answer == right:
            return said
        own = [filled(f" {each.told}", passes) for each in self.instead if each.answer == answer]
        return [*said, *(own[0] if own else self._elsewhere(answer, passes))]

    def _elsewhere(self, answer: Compared, passes: Passes) -> LessonRuns:
        """Another cell of the row for which an answer would be right."""
        if self.than:
            return []
        of, axis = find(self.of, passes), len(find(self.of, passes).index) - 1
        for place in range(of.stage.shape[axis]):
            after, before = _before_and_after(of, (*of.index[:axis], place), passes)
            if before and place != of.index[axis] and compared(after.cell.value, before.cell.value) == answer:
                name = ["word", of.label(axis, place)]
                said = (
                    f" It would be right for the {noun(of.stage.name)} of {quoted(of, axis)}, {{before}} and {{after}}."
                )
                return told(said, name=name, before=before, after=after)
        return []


def compared(one: float, other: float) -> Compared:
    """Which of the answers is right for two numbers."""
    if one == other or math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME):
        return "the same"
    return "more" if one > other else "less"


def _before_and_after(of: Reference, index: tuple[int, ...], passes: Passes) -> tuple[Reference, Reference | None]:
    """A cell, and that of the same name in A; None where A has none."""
    after = of.at(index)
    names = ", ".join(f'"{of.label(axis, place)}"' for axis, place in enumerate(index))
    try:
        return after, find(f"A.{of.stage.name}[{names}]", passes)
    except LessonError:
        return after, None
