"""Lessons: each as a page of its own, with all its moments and each of their passes a single time."""

from __future__ import annotations

import json
from collections.abc import Iterator

from attnviz.lessons.contents import contents
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.moment import moment
from attnviz.scene.document.encoding import Json
from attnviz.site.page import OWN, Page, drawn_page
from attnviz.site.passes import model_page_name
from attnviz.viewer.pool import Data, pooled

MOST_NUMBERS = 3_000
"""Of an array of parameters that a lesson's page holds. Larger ones, no moment shows; four of them would take more than
a page has room for (150 kB)."""

_CHARACTERS = 8 * 4 / 3  # of a number: float64 as base64


def lesson_page_name(lesson: str) -> str:
    """The file of a lesson."""
    return f"lesson-{lesson}.html"


def lesson_pages() -> Iterator[Page]:
    """The pages of all lessons."""
    for name, lesson in LESSONS.items():
        moments = [json.loads(moment(name, number)) for number in range(1, len(lesson.moment) + 1)]
        given = {
            "lesson": name,
            "course": Json(contents()),
            "moments": pooled([_lightened(each) for each in moments]),
            "pages": {each: lesson_page_name(each) for each in LESSONS},
            "own": OWN,
            "walkthrough": model_page_name("who-is-it"),
        }
        yield drawn_page(lesson_page_name(name), "lesson", lesson.title, given)


def _lightened(moment: Data) -> Data:
    """A moment without the largest arrays of parameters, which its page says it lacks."""
    document = moment["document"]
    for each in (document, *([document["other"]["document"]] if document["other"] else [])):
        for stage in (each["parameters"]["parts"] or {"stages": {}})["stages"].values():
            if sum(map(len, stage["values"])) > MOST_NUMBERS * _CHARACTERS:
                stage["values"] = [None for _ in stage["values"]]
    return moment
