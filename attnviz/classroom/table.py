"""Table: the counts of a room's questions, as CSV that the speaker may keep. Nobody's answers stand in it."""

from __future__ import annotations

import csv
import io

import msgspec

from attnviz.classroom.commands import Place, Value
from attnviz.classroom.places import moment_at
from attnviz.classroom.question import Question
from attnviz.classroom.room import Room
from attnviz.contract.lesson import Choose, Fill, LessonRuns, NumberLink, Pick

_COLUMNS = ("question", "round", "answer", "count", "right")
_ACTIVE = ("=", "+", "-", "@", "\t", "\r")


class _Asked(msgspec.Struct):
    question: Pick | Choose | Fill | None


def table(room: Room) -> str:
    """All counts of a room, a line for each answer.

    The right ones are those of the pass. Texts that a spreadsheet would read as a formula begin with an apostrophe
    there.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for each in room.questions.values():
        writer.writerows(_lines(each))
    return text.getvalue()


def _lines(held: Question) -> list[tuple]:
    question = _question(held.place)
    prompt = _inert(_plain(question.prompt))
    return [
        (prompt, nth, _label(question, value), count, "yes" if is_right(question, value) else "no")
        for nth, counts in enumerate(held.counts, start=1)
        for value, count in counts
    ]


def is_right(question: Pick | Choose | Fill, value: Value) -> bool:
    """Whether an answer counts as right."""
    if isinstance(question, Fill):
        return abs(value - question.right) <= question.tolerance
    return value in question.right


def _question(place: Place) -> Pick | Choose | Fill:
    return msgspec.json.decode(moment_at(place), type=_Asked).question


def _label(question: Pick | Choose | Fill, value: Value) -> str | Value:
    return value if isinstance(question, Fill) else _inert(question.candidates[value].label)


def _plain(prompt: LessonRuns) -> str:
    return "".join(text.text if isinstance(text, NumberLink) else text for _, text in prompt)


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_ACTIVE) else text
