"""Article: what attention doesn't say, as one page, and the passes that its doors lead to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attnviz.articles import pieces
from attnviz.articles.evidence import INTRODUCTION, TITLE, Table, measurements
from attnviz.articles.pieces import matrix
from attnviz.contract.article import Heading, Piece
from attnviz.contract.article import Table as PieceTable
from attnviz.scene.scene import Scene
from attnviz.viewer.site.page import Page, Way, drawn_page
from attnviz.viewer.site.passes import pass_page

NAME = "what-attention-doesnt-say.html"


def article_pages() -> Iterator[Page]:
    """The article, and a page for each of its doors."""
    doors = {
        f"measured-{number}-{place}.html": (label, door)
        for number, each in enumerate(measurements(), 1)
        for place, (label, door) in enumerate(each.doors.items(), 1)
    }
    names = {label: name for name, (label, _) in doors.items()}
    given = {"pieces": [pieces.text(INTRODUCTION), *_measured(names)], "doors": {name: name for name in doors}}
    yield drawn_page(NAME, "article", TITLE, given)
    for name, (label, door) in doors.items():
        yield pass_page(name, label, replace(Scene(), **door), (Way(NAME, TITLE),))


def _measured(names: dict[str, str]) -> Iterator[Piece]:
    """All measurements, each with its rows of attention and its doors."""
    for number, each in enumerate(measurements(), 1):
        yield Heading(2, f"{number}. {each.title}")
        yield pieces.text(each.text)
        yield matrix(f"Attention, {each.title}", each.rows.values, each.rows.passes, each.rows.keys, is_share=True)
        for below in each.below:
            yield PieceTable(below.head, below.rows) if isinstance(below, Table) else pieces.text(below)
        yield from (pieces.door(names[label], label) for label in each.doors)
