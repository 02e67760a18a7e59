"""Articles: pages of headings, texts, tables and choices."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from attnviz.contract.base import NonEmpty, Place, Sent, Style

ArticleRuns = list[tuple[Style | Literal["right", "wrong", "badge"], str]]  # may mark right and wrong


class Heading(Sent, tag_field="kind", tag="heading"):
    """A plain-text heading."""

    level: Annotated[int, Meta(ge=1, le=6)]
    text: NonEmpty


class Paragraph(Sent, tag_field="kind", tag="text"):
    """A paragraph."""

    runs: ArticleRuns


class DoorButton(Sent, tag_field="kind", tag="door"):
    """A button that opens another page, with a text."""

    door: NonEmpty
    label: NonEmpty
    runs: ArticleRuns


class Frame(Sent, tag_field="kind", tag="box"):
    """Framed pieces."""

    pieces: list[Piece]


class Columns(Sent, tag_field="kind", tag="beside"):
    """Pieces in columns, as many side by side as fit."""

    columns: list[list[Piece]]


class Alternative(Sent):
    """An option, and the pieces that are shown if it is chosen."""

    value: str
    runs: ArticleRuns
    pieces: list[Piece]


class Alternatives(Sent, tag_field="kind", tag="choice"):
    """A choice, with the pieces of the chosen option below."""

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
    """The rows or the columns of a table of numbers."""

    title: str  # what is counted along it
    labels: list[str]
    blocks: list[Block]


class NumberTable(Sent, tag_field="kind", tag="matrix"):
    """A matrix, in the colours of the walkthrough."""

    caption: str
    rows: TableSide
    columns: TableSide
    values: list[list[float]]  # 0 where there is none
    texts: list[list[str]]
    limit: Annotated[float, Meta(gt=0)]
    marked: tuple[Place, Place] | None  # the row and column of the marked cell
    scale: Literal["signed", "share"]


Piece = Heading | Paragraph | DoorButton | Frame | Columns | Alternatives | Table | NumberTable


class Article(Sent):
    """An article, or the report on an uploaded file."""

    pieces: list[Piece]
    file: str | UnsetType = UNSET  # an example's file as base64, which the browser keeps to upload it
