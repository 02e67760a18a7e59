"""Pieces of an article, made of texts in markup (`attnviz.explain.markup`)."""

from collections.abc import Sequence

from attnviz.contract.article import Alternative, Columns, DoorButton, Frame, Paragraph, Piece
from attnviz.explain.markup import Runs, runs


def text(marked: str | Runs) -> Paragraph:
    """A paragraph."""
    return Paragraph(_runs(marked))


def door(name: str, label: str, marked: str | Runs = "") -> DoorButton:
    """A button that leads to another page, by the name of a door, and what is said of it."""
    return DoorButton(name, label, _runs(marked))


def box(*pieces: Piece) -> Frame:
    """Pieces in a frame."""
    return Frame(pieces)


def beside(*columns: Sequence[Piece]) -> Columns:
    """Pieces in columns, as many beside each other as have room."""
    return Columns(columns)


def option(value: str, marked: str, pieces: Sequence[Piece]) -> Alternative:
    """One of several options, and the pieces that are shown where it is chosen."""
    return Alternative(value, _runs(marked), pieces)


def _runs(marked: str | Runs) -> Runs:
    return runs(marked) if isinstance(marked, str) else marked
