"""Contents: the list of all lessons, as the browser is given it."""

from functools import cache
from urllib.parse import urlencode

from attnviz.contract.lesson import LessonEntry, LessonsPage
from attnviz.lessons.lesson import LESSONS
from attnviz.scene.address import query
from attnviz.scene.document.encoding import to_json
from attnviz.scene.scene import Scene


@cache
def contents() -> bytes:
    """The list as JSON."""
    entries = [
        LessonEntry(id=name, name=each.title, says=each.says, minutes=each.minutes, n_moments=len(each.moment))
        for name, each in LESSONS.items()
    ]
    return to_json(LessonsPage(lessons=entries, own_sentence=urlencode(query(Scene()))))
