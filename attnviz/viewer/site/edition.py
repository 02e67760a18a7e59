"""Edition: all files of the site, and the folder that they are written into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from attnviz.lessons.talk import Talk
from attnviz.viewer.bundle import bundle, module
from attnviz.viewer.shell import THEME
from attnviz.viewer.site.article import article_pages
from attnviz.viewer.site.lessons import lesson_pages, talk_pages
from attnviz.viewer.site.page import SCRIPT, STYLES, Page, single_file
from attnviz.viewer.site.passes import model_pages, name_pages
from attnviz.viewer.site.written import index_page, own_page
from attnviz.viewer.styles import STYLES as ROOMS
from attnviz.viewer.styles import joined

_OF_ARTICLES = ("formula", "article")
_OF_THE_APP = {"article", "numbers", "settings", "views"}
_SITE = Path(__file__).with_name("site.css")


def files(talks: Sequence[Talk] = ()) -> Iterator[Page]:
    """All files, the talks and then the pages that are quickest made first.

    Raises
    ------
    TalkError
        If a moment of a talk doesn't fit its pass.
    """
    for each in talks:
        yield from talk_pages(each)
    yield Page(SCRIPT, _script())
    yield Page(STYLES[""], _styles())
    yield Page(STYLES["article"], joined(_OF_ARTICLES))
    yield Page(STYLES["pass"], _styles_of_pass())
    yield from (index_page(talks), own_page())
    for pages in (model_pages, name_pages, article_pages, lesson_pages):
        yield from pages()


def talk_file(talk: Talk) -> str:
    """A talk as one HTML file, with all its moments, questions and answers, and each of their passes a single time.

    Raises
    ------
    TalkError
        If a moment doesn't fit its pass.
    """
    return single_file(next(talk_pages(talk)), _script(), _styles() + _styles_of_pass())


def _script() -> str:
    return f'"use strict";\n{bundle(module("site"))}'


def _styles() -> str:
    return THEME.read_text("utf-8") + _SITE.read_text("utf-8")


def _styles_of_pass() -> str:
    return joined(each for each in ROOMS if each not in _OF_THE_APP)


def write(folder: Path, talks: Sequence[Talk] = ()) -> Iterator[tuple[str, int]]:
    """Write all files into a folder, which is made if it isn't there; yields each name, and how many bytes it has.

    Raises
    ------
    OSError
        If the folder can't be made, or something in it can't be written.
    TalkError
        If a moment of a talk doesn't fit its pass.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(talks):
        yield name, (folder / name).write_bytes(text.encode())
