"""A lecturer's own questions: a choice with a right answer or as an opinion, a number, and a few words.

Nothing of them is computed, so they need no pass. What is typed is plain text: no slots, no marks.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from attnviz.contract.lesson import Candidate, Choose, Fill, LessonRuns, Write
from attnviz.core.errors import TalkError
from attnviz.lessons.cell_reference import Passes
from attnviz.lessons.questions.spec import FileStruct, QuestionSpec

MAX_OPTIONS = 10
Number = Annotated[float, Meta(ge=-1e12, le=1e12)]  # the same limit as for a class's answers


class OwnQuestion(QuestionSpec, frozen=True):
    """A question of a lecturer's own."""

    def covers(self, passes: Passes) -> set[str]:
        return set()

    @property
    def _typed(self) -> LessonRuns:
        if not self.prompt.strip():
            raise TalkError("A question of yours has a text, and this one has none yet: type it in “Asked as”.")
        return [("", self.prompt)]


class OwnOption(FileStruct, frozen=True):
    """One of the answers to choose from; an empty one is left out."""

    text: Annotated[str, Meta(max_length=200)]
    right: bool = False


class OwnChoice(OwnQuestion, tag="own-choice", frozen=True):
    """Which of some answers; without a right one an opinion is asked."""

    options: Annotated[tuple[OwnOption, ...], Meta(max_length=MAX_OPTIONS)]

    def question(self, passes: Passes | None) -> Choose:
        offered = [each for each in self.options if each.text.strip()]
        if len(offered) < 2:
            raise TalkError(f"A choice has at least two answers; {len(offered)} of these have a text. Type another.")
        right = [place for place, each in enumerate(offered) if each.right]
        if len(right) == len(offered):
            raise TalkError("All answers are marked as right, so nobody could be wrong: mark fewer, or none.")
        return Choose(
            prompt=self._typed, candidates=[Candidate(label=each.text, feedback=[]) for each in offered], right=right
        )


class OwnNumber(OwnQuestion, tag="own-number", frozen=True):
    """A number; any is an answer if none is right."""

    right: Number | None = None
    tolerance: Annotated[float, Meta(ge=0, le=1e12)] = 0.0  # how far off counts as right; not shown before the answer
    unit: Annotated[str, Meta(max_length=40)] = ""

    def question(self, passes: Passes | None) -> Fill:
        return Fill(
            prompt=self._typed,
            right=self.right,
            text="" if self.right is None else _format_number(self.right),
            tolerance=self.tolerance,
            is_share=False,
            nears=[],
            unit=self.unit.strip(),
        )


class OwnWords(OwnQuestion, tag="own-words", frozen=True):
    """A few words of each listener's own."""

    def question(self, passes: Passes | None) -> Write:
        return Write(prompt=self._typed)


def _format_number(number: float) -> str:
    return f"{number:.12g}".replace("-", "−")
