"""Export: the questions of a lesson or a talk as a file of one of several forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Literal

from attnviz.contract.lesson import Choose, Fill, LessonRuns, Moment, Pick
from attnviz.lessons.gift import gift, text_of, words_of
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.moment import moments_of
from attnviz.lessons.talk import Talk, TalkError
from attnviz.lessons.talk_moment import talk_moment

_SIGNS = re.compile(r"[\\`*_{}\[\]<>|~$#&]|^[-+=]|(?<=^\d)[.)]")
_MARKS = {"strong": "**", "em": "*", "q": "**", "k": "**", "v": "**", "output": "**"}


def slides(title: str, moments: Sequence[Moment]) -> str:
    """The questions of moments as slides in Markdown."""
    made = [f"# {_plain(title)}"]
    for number, each in enumerate(moments, 1):
        made += _of(f"## {number}. {_plain(each.title)}".rstrip(". "), each)
    return "\n\n---\n\n".join(made) + "\n"


def _of(heading: str, moment: Moment) -> Iterator[str]:
    """The slides of a moment: what is asked, and what is right."""
    if moment.question:
        question = moment.question
        parts = [
            _said(moment.text),
            f"*{_plain(words_of(moment))}*",
            f"**{_bare(question.prompt)}**",
            *_choices(question),
        ]
        yield "\n\n".join((heading, *filter(None, parts)))
        yield "\n\n".join((heading, _right(question), *filter(None, [_said(moment.after)])))
    if moment.ending:
        yield "\n\n".join(("## In your own words", _said(moment.ending.explain)))
        yield "\n\n".join(("## In your own words", _said(moment.ending.answer)))


def _choices(question: Pick | Choose | Fill) -> Iterator[str]:
    if not isinstance(question, Fill):
        yield "\n".join(
            f"- {letter}: {label}" for letter, label in zip(_letters(question), _labels(question), strict=True)
        )


def _right(question: Pick | Choose | Fill) -> str:
    if isinstance(question, Fill):
        return f"**{_plain(question.text)}** {_plain(question.unit)}".strip()
    named = [*zip(_letters(question), _labels(question), strict=True)]
    return "\n\n".join(f"**{named[place][0]}**: {named[place][1]}" for place in question.right)


def _letters(question: Pick | Choose) -> list[str]:
    """A letter for each answer, as one votes for; after Z two."""
    n = len(question.candidates)
    return [*ascii_uppercase, *(f"A{letter}" for letter in ascii_uppercase)][:n] if n <= 52 else [*map(str, range(n))]


def _labels(question: Pick | Choose) -> list[str]:
    is_code = isinstance(question, Choose) and question.is_code
    return [_code(each.label) if is_code else _plain(each.label) for each in question.candidates]


def _said(runs: LessonRuns) -> str:
    return "".join(_run(style, text_of(text)) for style, text in runs)


def _bare(runs: LessonRuns) -> str:
    """The text of a passage in bold, without the marks of bold within it."""
    return "".join(_run(style if style in ("code", "math") else "", text_of(text)) for style, text in runs).strip()


def _run(style: str, text: str) -> str:
    if style == "math":
        return f"${text}$"
    if style == "code":
        return _code(text)
    mark = _MARKS.get(style, "")
    return f"{mark}{_plain(text)}{mark}"


def _code(text: str) -> str:
    """Code in a line: between more backticks than stand in it."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{room}{' '.join(text.split())}{room}{fence}"


def _plain(text: str) -> str:
    return _SIGNS.sub(lambda sign: f"\\{sign[0]}", text.replace("\n", " "))


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
