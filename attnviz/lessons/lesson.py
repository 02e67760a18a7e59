"""Lesson: a list of moments, as people write it in TOML, one file each."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec

from attnviz.lessons.slots import SLOT
from attnviz.lessons.written import Written, WrittenMoment

FOLDER = Path(__file__).parent

_WORDS_A_MINUTE = 180
_MINUTES_A_QUESTION = 0.25


class LessonMoment(WrittenMoment, frozen=True):
    """A moment of a lesson.

    Attributes
    ----------
    claims
        What its texts say in words or digits, as expressions: they are true of its passes (`test_lesson_claims`).
    """

    claims: tuple[str, ...] = ()


class WrittenEnding(Written, frozen=True):
    """A question to explain in one's own words, and an answer to compare."""

    explain: str
    answer: str


class Lesson(Written, frozen=True):
    """A lesson.

    Attributes
    ----------
    title
    says
        What one knows after it, in a sentence.
    moment
        Its moments, in order.
    ending
        What its last moment ends with.
    """

    title: str
    says: str
    moment: tuple[LessonMoment, ...]
    ending: WrittenEnding

    @property
    def minutes(self) -> int:
        """How long it takes, about: to read it, and to think about its questions."""
        texts = " ".join(f"{each.text} {each.after} {each.ask.prompt if each.ask else ''}" for each in self.moment)
        n_words = len(SLOT.sub("0", texts).split())
        n_questions = sum(each.ask is not None for each in self.moment)
        return max(round(n_words / _WORDS_A_MINUTE + n_questions * _MINUTES_A_QUESTION), 1)


def _read(file: Path) -> Lesson:
    return msgspec.convert(tomllib.loads(file.read_text("utf-8")), Lesson)


LESSONS: dict[str, Lesson] = {
    re.sub("^[0-9]+-", "", file.stem): _read(file) for file in sorted(FOLDER.glob("[0-9]*-*.toml"))
}
"""All lessons by their ids, in order."""
