"""Lessons and talks: each on a page of its own, with all its moments and each of their passes a single time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from attnviz.contract.lesson import LessonEntry, LessonsPage, Moment
from attnviz.lessons.contents import contents
from attnviz.lessons.export import ENDINGS, exported
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.moment import moments_of
from attnviz.lessons.talk import Talk
from attnviz.lessons.talk_moment import talk_moment
from attnviz.scene.document.encoding import Json, to_json
from attnviz.viewer.pool import Data, pooled
from attnviz.viewer.site.page import OWN, Page, drawn_page
from attnviz.viewer.site.passes import model_page_name

MOST_NUMBERS = 3_000
"""Of an array of parameters that a lesson's page holds. Larger ones, no moment shows; four of them would take more than
a page has room for (150 kB)."""

_CHARACTERS = 8 * 4 / 3  # of a number: float64 as base64

_TALK = "a-talk"
"""The lesson that a talk is on its page: `talk` is the one that a browser keeps."""


def lesson_page_name(lesson: str) -> str:
    """The file of a lesson."""
    return f"lesson-{lesson}.html"


def talk_page_name(talk: Talk) -> str:
    """The file of a talk, by its title."""
    return f"talk-{'-'.join(re.findall(r'[a-z0-9]+', talk.title.lower()))[:60]}".rstrip("-") + ".html"


def lesson_pages() -> Iterator[Page]:
    """The pages of all lessons, and their questions."""
    pages = {each: lesson_page_name(each) for each in LESSONS}
    for name, lesson in LESSONS.items():
        yield from _pages(name, lesson.title, moments_of(name), Json(contents()), pages)


def talk_pages(talk: Talk) -> Iterator[Page]:
    """The page of a talk, and its questions.

    Raises
    ------
    TalkError
        If a moment doesn't fit its pass.
    """
    name, title = talk_page_name(talk), talk.title or "A talk"
    moments = [talk_moment(each, talk.uploads) for each in talk.moment]
    planned = [each.minutes for each in talk.moment]
    minutes = max(round(sum(planned)), 1)
    entry = LessonEntry(
        id=_TALK, name=title, says="", minutes=minutes, n_moments=len(moments), planned=planned if any(planned) else []
    )
    course = LessonsPage(lessons=[entry], own_sentence=json.loads(contents())["ownSentence"])
    yield from _pages(_TALK, title, moments, Json(to_json(course)), {_TALK: name})


def _pages(name: str, title: str, moments: Sequence[Moment], course: Json, pages: dict[str, str]) -> Iterator[Page]:
    questions = {form: exported(form, title, moments) for form in ENDINGS}
    sent = [json.loads(to_json(each)) for each in moments]
    given = {
        "lesson": name,
        "course": course,
        "lightened": [number for number, each in enumerate(sent, 1) if _lightened(each)],
        "moments": pooled(sent),
        "questions": questions,
        "pages": pages,
        "own": OWN,
        "walkthrough": model_page_name("who-is-it"),
    }
    yield drawn_page(pages[name], "lesson", title, given)
    for form, text in questions.items():
        yield Page(f"{pages[name].removesuffix('.html')}.{ENDINGS[form]}", text)


def _lightened(moment: Data) -> bool:
    """Take the largest arrays of parameters out of a moment, as they don't compress and would double a page.

    Returns whether any number is missing then: of a large pass the moment itself has some of its heads (None stands for
    the others). Its page says so to who looks around there.
    """
    document, is_lighter = moment["document"], False
    for each in (document, *([document["other"]["document"]] if document["other"] else [])):
        parameters = (each["parameters"]["parts"] or {"stages": {}})["stages"]
        for stage in parameters.values():
            if sum(len(chunk or "") for chunk in stage["values"]) > MOST_NUMBERS * _CHARACTERS:
                stage["values"] = [None for _ in stage["values"]]
        is_lighter |= any(None in stage.get("values", ()) for stage in (*parameters.values(), *each["stages"].values()))
    return is_lighter
