"""Edition: all files of the site, and the folder that they are written into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attnviz.site.article import article_pages
from attnviz.site.lessons import lesson_pages
from attnviz.site.page import SCRIPT, STYLES, Page
from attnviz.site.passes import model_pages, name_pages
from attnviz.site.written import index_page, own_page
from attnviz.viewer.bundle import bundle, module
from attnviz.viewer.shell import THEME
from attnviz.viewer.styles import STYLES as ROOMS
from attnviz.viewer.styles import joined

_OF_ARTICLES = ("formula", "article")
_OF_THE_APP = {"article", "numbers", "settings", "views"}
_SITE = Path(__file__).with_name("site.css")


def files() -> Iterator[Page]:
    """All files, with the pages that are quickest made first."""
    yield Page(SCRIPT, f'"use strict";\n{bundle(module("site"))}')
    yield Page(STYLES[""], THEME.read_text("utf-8") + _SITE.read_text("utf-8"))
    yield Page(STYLES["article"], joined(_OF_ARTICLES))
    yield Page(STYLES["pass"], joined(each for each in ROOMS if each not in _OF_THE_APP))
    yield from (index_page(), own_page())
    for pages in (model_pages, name_pages, article_pages, lesson_pages):
        yield from pages()


def write(folder: Path) -> Iterator[tuple[str, int]]:
    """Write all files into a folder, which is made if it isn't there; yields each name, and how many bytes it has.

    Raises
    ------
    OSError
        If the folder can't be made, or something in it can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files():
        yield name, (folder / name).write_bytes(text.encode())
