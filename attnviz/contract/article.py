"""Articles: parts of a page, each by its kind."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from attnviz.contract.sent import Colour, NonEmpty, Place, Sent, Style

ArticleRuns = list[tuple[Style | Literal["right", "wrong", "badge"], str]]
"""A text; beside what other texts have in it, marks of what is right or wrong, and badges."""


class Heading(Sent, tag_field="kind", tag="heading"):
    """A heading, of plain text."""

    level: Annotated[int, Meta(ge=1, le=6)]
    text: NonEmpty


class Paragraph(Sent, tag_field="kind", tag="text"):
    """A paragraph."""

    runs: ArticleRuns


class DoorButton(Sent, tag_field="kind", tag="door"):
    """A button that leads to another page, by the name of a door, and what is said of it."""

    door: NonEmpty
    label: NonEmpty
    runs: ArticleRuns


class Frame(Sent, tag_field="kind", tag="box"):
    """Pieces in a frame."""

    pieces: list[Piece]


class Columns(Sent, tag_field="kind", tag="beside"):
    """Pieces in columns, as many beside each other as have room."""

    columns: list[list[Piece]]


class Alternative(Sent):
    """One of several options, and the pieces that are shown where it is chosen."""

    value: str
    runs: ArticleRuns
    pieces: list[Piece]


class Alternatives(Sent, tag_field="kind", tag="choice"):
    """One of several options, with the pieces of the chosen one below."""

    event: NonEmpty
    label: NonEmpty
    look: Literal["lines", "pills"]
    value: str
    options: Annotated[list[Alternative], Meta(min_length=1)]


class Table(Sent, tag_field="kind", tag="table"):
    """Words and numbers in rows."""

    head: list[str]
    rows: list[list[str]]


class Block(Sent):
    """Rows or columns that belong together."""

    name: str
    start: Place
    stop: Place


class TableSide(Sent):
    """The rows or the columns of a table of numbers.

    Attributes
    ----------
    title
        What they count.
    labels
        What each is called.
    """

    title: str
    labels: list[str]
    blocks: list[Block]


class NumberTable(Sent, tag_field="kind", tag="matrix"):
    """A matrix, in the colours of the walkthrough.

    Attributes
    ----------
    caption
        What it is, for those who hear it.
    values, texts
        Its numbers, with 0 for those that are none, and how each is written.
    limit
        The number that has its colour in full.
    marked
        The row and the column of the cell that is pointed at.
    colours
        Of what is below 0 and above.
    """

    caption: str
    rows: TableSide
    columns: TableSide
    values: list[list[float]]
    texts: list[list[str]]
    limit: Annotated[float, Meta(gt=0)]
    marked: tuple[Place, Place] | None
    colours: tuple[Colour, Colour]


Piece = Heading | Paragraph | DoorButton | Frame | Columns | Alternatives | Table | NumberTable


class Article(Sent):
    """An article, or the reply to a file of somebody's own.

    Attributes
    ----------
    file
        A file of an example, in base64, which the browser keeps to send it again.
    """

    pieces: list[Piece]
    file: str | UnsetType = UNSET
