"""Compare: whether a number is more than another, less or the same: in A and in B, or two of one pass."""

from __future__ import annotations

import math

from attnviz.lessons.naming import noun, quoted
from attnviz.lessons.questions.ask import Ask, giving_away
from attnviz.lessons.reference import LessonError, Passes, Reference, find
from attnviz.lessons.slots import filled, told
from attnviz.scene.contract.lesson import Candidate, Choose, LessonRuns

ANSWERS = ("more", "less", "the same")

_SAME = 1e-12


class Compare(Ask, tag="compare", frozen=True):
    """Whether a number is more, less or the same.

    Attributes
    ----------
    of
        Its cell.
    than
        The cell that it is compared with; empty for its own place in the pass beside it, A.
    """

    of: str
    than: str = ""

    def question(self, passes: Passes) -> Choose:
        of, than = self._compared(passes)
        right = ANSWERS.index(compared(of.cell.value, than.cell.value))
        candidates = [Candidate(label=each, told=self._told(each, of, than, passes)) for each in ANSWERS]
        return Choose(prompt=filled(self.prompt, passes), candidates=candidates, right=[right])

    def covers(self, passes: Passes) -> set[str]:
        return giving_away(find(self.of, passes), is_order_asked=False)

    def _compared(self, passes: Passes) -> tuple[Reference, Reference]:
        of = find(self.of, passes)
        than = find(self.than or f"A.{self.of.removeprefix('B.')}", passes)
        if than.cell == of.cell and than.of == of.of:
            raise LessonError(f"A number is compared with another one; got {self.of} twice.")
        return of, than

    def _told(self, answer: str, of: Reference, than: Reference, passes: Passes) -> LessonRuns:
        now = compared(of.cell.value, than.cell.value)
        said = told(
            "{than} and {of}: the same." if now == "the same" else f"{{of}} is {now} than {{than}}.", of=of, than=than
        )
        if answer == now or self.than:
            return said
        elsewhere = _where(answer, of, passes)
        return [*said, *elsewhere]


def compared(one: float, other: float) -> str:
    """Which of the answers is right for two numbers."""
    if one == other or math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME):
        return "the same"
    return "more" if one > other else "less"


def _where(answer: str, of: Reference, passes: Passes) -> LessonRuns:
    """Another cell of the row for which an answer would be right."""
    axis = len(of.index) - 1
    for place in range(of.stage.shape[axis]):
        other = of.at((*of.index[:axis], place))
        name = other.label(axis, place)
        if place == of.index[axis]:
            continue
        try:
            before = find(f"A.{of.stage.name}[{', '.join(_quoted_names(other))}]", passes)
        except LessonError:  # a word that A has not
            continue
        if compared(other.cell.value, before.cell.value) == answer:
            said = (
                f" It would be right for the {noun(of.stage.name)} of {quoted(of, axis)}: {{before}}, then {{after}}."
            )
            return told(said, name=["word", name], before=before, after=other)
    return []


def _quoted_names(of: Reference) -> list[str]:
    return [f'"{of.label(axis, place)}"' for axis, place in enumerate(of.index)]
