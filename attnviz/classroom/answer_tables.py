"""The answers of a class as CSV: counted, or a row a seat. Formulas get an apostrophe."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Iterable, Iterator, Sequence

from attnviz.classroom.commands import Value
from attnviz.classroom.questions import question_at
from attnviz.classroom.room import Question, Room
from attnviz.contract.lesson import Choose, Fill, Pick, Write
from attnviz.lessons.given import text_of_runs

SURE = ("guessed", "fairly sure", "very sure")  # 1 to 3, as phones ask
_COLUMNS = ("question", "round", "answer", "answer (%)", "count", *SURE, "right")
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def counts_table(room: Room) -> str:
    """A line per answer: how many gave it, and how many of them said how sure they were. A share is in per cent."""
    return _csv(_COLUMNS, (line for each in room.questions.values() for line in _lines(each)))


def _lines(entry: Question) -> Iterator[tuple]:
    question = question_at(entry.place)
    is_share = isinstance(question, Fill) and question.is_share
    for number, counts in enumerate(entry.counts, start=1):
        sure = {(value, how): n for value, how, n in entry.sure_counts[number - 1]}
        for value, count in counts:
            text, is_known = _label(question, value), is_right(question, value)
            right = "" if is_known is None else "yes" if is_known else "no"
            answer = ("", text) if is_share else (text, "")
            how_sure = [sure.get((value, how), "") for how in (1, 2, 3)]
            yield (_prompt(question), number, *answer, count, *how_sure, right)


def seats_table(room: Room) -> str:
    """A row for each seat that answered, numbered at random each time: never the seat, nor in the order of joining."""
    heads, columns = ["seat"], []
    for number, each in enumerate(room.questions.values(), start=1):
        question = question_at(each.place)
        unit = " (%)" if isinstance(question, Fill) and question.is_share else ""
        for nth, answers in enumerate(each.rounds):
            again = ", asked again" if nth else ""
            heads.append(f"{number}. {_prompt(question)}{again}{unit}")
            columns.append({seat: _label(question, value) for seat, value in answers.items()})
            if each.sure[nth]:
                heads.append(f"{number}. How sure, 1 to 3{again}")
                columns.append(each.sure[nth])
    seats = sorted({seat for column in columns for seat in column} - {*room.speakers})
    secrets.SystemRandom().shuffle(seats)
    rows = ((number, *(column.get(seat, "") for column in columns)) for number, seat in enumerate(seats, start=1))
    return _csv(heads, rows)


def is_right(question: Pick | Choose | Fill | Write, value: Value) -> bool | None:
    """Whether an answer counts as right; None where no answer is right or wrong."""
    if isinstance(question, Write) or question.right in (None, []):
        return None
    if isinstance(question, Fill):
        return abs(value - question.right) <= question.tolerance
    return value in question.right


def _prompt(question: Pick | Choose | Fill | Write) -> str:
    return _inert(text_of_runs(question.prompt))


def _label(question: Pick | Choose | Fill | Write, value: Value) -> str | Value:
    """An answer as the table has it: a share in per cent, a choice as its label."""
    if isinstance(question, Fill):
        return round(100 * value, 9) if question.is_share else value
    return _inert(value if isinstance(question, Write) else question.candidates[value].label)


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_ACTIVE) else text


def _csv(heads: Sequence[str], rows: Iterable[tuple]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue()
