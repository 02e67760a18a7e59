"""Pieces of an article as plain data, each by its kind. Texts are markup (`attnviz.text.markup`)."""

from collections.abc import Sequence

from attnviz.text.markup import Runs, runs

Piece = dict[str, object]


def heading(level: int, text: str) -> Piece:
    """A heading, of plain text."""
    return {"kind": "heading", "level": level, "text": text}


def text(marked: str | Runs) -> Piece:
    """A paragraph."""
    return {"kind": "text", "runs": _runs(marked)}


def door(name: str, label: str, marked: str | Runs = "") -> Piece:
    """A button that leads to another page, by the name of a door, and what is said of it."""
    return {"kind": "door", "door": name, "label": label, "runs": _runs(marked)}


def box(*pieces: Piece) -> Piece:
    """Pieces in a frame."""
    return {"kind": "box", "pieces": pieces}


def beside(*columns: Sequence[Piece]) -> Piece:
    """Pieces in columns, as many beside each other as have room."""
    return {"kind": "beside", "columns": columns}


def option(value: str, marked: str, pieces: Sequence[Piece]) -> Piece:
    """One option of a choice, and the pieces that are shown where it is chosen."""
    return {"value": value, "runs": _runs(marked), "pieces": pieces}


def choice(event: str, label: str, look: str, value: str, options: Sequence[Piece]) -> Piece:
    """One of several options, drawn as "lines" or "pills", with the pieces of the chosen one below."""
    return {"kind": "choice", "event": event, "label": label, "look": look, "value": value, "options": options}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Piece:
    """Words and numbers in rows."""
    return {"kind": "table", "head": head, "rows": rows}


def _runs(marked: str | Runs) -> Runs:
    return runs(marked) if isinstance(marked, str) else marked
