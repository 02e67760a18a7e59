"""Export: the questions of a lesson or a talk as a file of one of several forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attnviz.contract.lesson import Moment
from attnviz.lessons.gift import gift
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.moment import moments_of
from attnviz.lessons.slides import slides
from attnviz.lessons.talk import Talk, TalkError
from attnviz.lessons.talk_moment import talk_moment

_WRITERS = {"gift": gift, "slides": slides}

Form = Literal[tuple(_WRITERS)]
"""GIFT, or slides in Markdown."""

ENDINGS = {"gift": "gift.txt", "slides": "md"}
"""The extension of a file in each form."""


def exported(form: Form, title: str, moments: Sequence[Moment]) -> str:
    """The questions of moments."""
    return _WRITERS[form](title, moments)


def of_lesson(form: Form, lesson: str) -> str:
    """The questions of the lesson with this id.

    Raises
    ------
    TalkError
        If there is none.
    """
    if lesson not in LESSONS:
        raise TalkError(f"There is no such lesson. The lessons are {', '.join(LESSONS)}.")
    return exported(form, LESSONS[lesson].title, moments_of(lesson))


def of_talk(form: Form, talk: Talk) -> str:
    """The questions of a talk.

    Raises
    ------
    TalkError
        If a moment doesn't fit its pass.
    """
    return exported(form, talk.title or "A talk", [talk_moment(each, talk.uploads) for each in talk.moment])
