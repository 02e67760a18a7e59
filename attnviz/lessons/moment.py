"""Moment: a moment of a lesson, or of a talk, as the browser reads it, with its pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import parse_qsl, urlencode

from attnviz.contract.lesson import Ending, LessonRuns, Moment
from attnviz.lessons.lesson import LESSONS, Lesson
from attnviz.lessons.reference import LessonError, Passes
from attnviz.lessons.slots import filled
from attnviz.lessons.written import WrittenMoment
from attnviz.scene.address import parse, query
from attnviz.scene.document.encoding import Json, to_json
from attnviz.scene.document.pass_cache import ANSWERS
from attnviz.scene.scene import Upload

_SESSION = "lessons"
"""The session that a moment's document is made for: that of everybody."""


def opened(at: str, uploads: Mapping[str, Upload] = MappingProxyType({})) -> Passes:
    """The passes of a moment's address, with the files of somebody's own that it shows, each by its source.

    Raises
    ------
    LessonError
        If something of it doesn't fit, and would be mended with a notice.
    """
    scene, notices = parse(dict(parse_qsl(at, keep_blank_values=True, strict_parsing=True)), uploads)
    resolved = ANSWERS.resolved(scene)
    complaints = (*notices, *resolved.notices, *resolved.refused)
    if complaints or resolved.trace is None:
        raise LessonError(f"The address of a moment opens without a notice; {at} says: {' '.join(complaints)}")
    return Passes(resolved)


def moment(lesson: str, number: int) -> bytes:
    """A moment of a lesson as JSON, as `contract.lesson` declares it.

    Parameters
    ----------
    lesson : str
        Its id.
    number : int
        Counted from 1.

    Raises
    ------
    KeyError
        If there is no such moment.
    """
    n_moments = len(LESSONS[lesson].moment)
    if number not in range(1, n_moments + 1):
        raise KeyError(f"{lesson} has {n_moments} moments; got {number}")
    return to_json(_moment(LESSONS[lesson], number))


def moments_of(lesson: str) -> list[Moment]:
    """All moments of the lesson with this id."""
    return [_moment(LESSONS[lesson], number) for number in range(1, len(LESSONS[lesson].moment) + 1)]


def _moment(lesson: Lesson, number: int) -> Moment:
    made = lesson.moment[number - 1]
    passes = opened(made.at)
    return as_sent(made, passes, filled, _ending(lesson, passes) if number == len(lesson.moment) else None)


def as_sent(
    made: WrittenMoment, passes: Passes, fill: Callable[[str, Passes], LessonRuns], ending: Ending | None = None
) -> Moment:
    """A moment as the browser reads it; `fill` fills the slots of its texts."""
    return Moment(
        title=made.title,
        text=fill(made.text, passes),
        after=fill(made.after, passes),
        question=made.ask.question(passes) if made.ask else None,
        covers=sorted(made.ask.covers(passes)) if made.ask else [],
        asked_cell=made.ask.asked_cell(passes) if made.ask else None,
        answer_cell=made.ask.answer_cell(passes) if made.ask else None,
        says_words_alone=made.says_words_alone,
        at=urlencode(query(passes.b.scene)),
        notes=made.notes,
        ending=ending,
        working=None,
        picture=made.picture.drawn(passes) if made.picture else None,
        document=Json(ANSWERS.document_json(passes.b, _SESSION)),
    )


def _ending(lesson: Lesson, passes: Passes) -> Ending:
    return Ending(explain=filled(lesson.ending.explain, passes), answer=filled(lesson.ending.answer, passes))
