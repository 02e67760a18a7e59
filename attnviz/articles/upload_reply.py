"""Uploads: the reply to an uploaded file, a function of the file and the shown pass."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace

import numpy as np
from msgspec import UNSET

from attnviz.articles import pieces
from attnviz.articles.pieces import Side, format_number, matrix
from attnviz.checks.passes.comparison import Agreement
from attnviz.checks.read.labels import shortened, title
from attnviz.checks.report.words import HEAD, capital
from attnviz.checks.uploads import Upload, UploadComparison, UploadRequest, compared, example_file
from attnviz.contract.article import Article, Columns, Piece, Table
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.core.trace import Trace
from attnviz.explain.wording import counted
from attnviz.models import statefile
from attnviz.models.model import Built

OPEN, OPEN_MODEL, OPEN_PAIR = "walkthrough", "model", "pair"  # names of links to the walkthrough
_MODELS = ".json"
_MOST_ROWS, _MOST_COLUMNS = 16, 12


@dataclass(frozen=True, eq=False)
class Reply:
    """The reply to a file."""

    pieces: list[Piece]  # the comparison, or why there is none
    # what the walkthrough can open: the arrays that a pass begins with, the stages that mistakes change, or a model
    uploads: tuple[Upload, ...] = ()
    is_beside_shown: bool = False  # whether it was compared with the walkthrough's pass
    example: bytes = b""  # the file of a requested example; the browser keeps it for later requests

    @property
    def data(self) -> Article:
        """The part of the reply that the browser receives."""
        return Article(self.pieces, base64.b64encode(self.example).decode() if self.example else UNSET)


def reply(request: UploadRequest, content: bytes, shown: Trace | None) -> Reply:
    """The reply to a file, a pure function of its arguments."""
    if request.example and not content:
        content = example_file(request.example, shown)
        return replace(reply(request, content, shown), example=content)
    try:
        if request.filename.lower().endswith(_MODELS):
            return _of_model(Built(statefile.read(content)))
        comparison = compared(request, content, shown)
    except OwnArraysError as error:
        return Reply([_plain(str(error))])
    files = (comparison.parameters, comparison.code)
    return Reply(_pieces(comparison), tuple(filter(None, files)), bool(comparison.shown))


def _of_model(choice: Built) -> Reply:
    """The reply to an uploaded microgpt, which is offered if its first text makes a pass."""
    model = choice.model
    n_numbers = sum(each.size for each in model.arrays.values())
    description = f"{n_numbers:,} numbers: {model.description}; {counted(len(choice.task.letters), 'letter')}, and BOS."
    try:
        model.trace(choice.examples[0][1])
    except ArrayError as error:
        strong = pieces.text([["strong", "This microgpt makes no pass."]])
        return Reply([strong, _plain(str(error)), _plain(description)])
    opens = "It opens as a model: type what it is to continue. It stays in this tab."
    strong = pieces.text([["strong", "A microgpt of your own"]])
    door = pieces.door(OPEN_MODEL, "Open in the walkthrough", opens)
    return Reply([strong, _plain(description), _plain(choice.task.checked), door], (choice,))


def _pieces(result: UploadComparison) -> list[Piece]:
    comparison = result.comparison
    first = comparison.first
    sentences = comparison.verdict if first else comparison.verdict[1:]
    compared_with = [f"Compared with {result.shown}."] if result.shown else []
    return [
        pieces.text([["strong", comparison.headline]]),
        *([_plain(" ".join(sentences))] if sentences else []),
        *(_matrices(first, _words(result, first.stage)) if first else []),
        *map(_plain, comparison.code),
        *([pieces.door(OPEN_PAIR, "Open both passes beside each other", _PAIR)] if result.code else []),
        *([Table(HEAD, [row.cells for row in comparison.rows])] if comparison.rows else []),
        *(_plain(each) for each in (*compared_with, *comparison.notes)),
        *([pieces.door(OPEN, "Open in the walkthrough", _OPENS)] if result.parameters else []),
        *([_plain(result.refused)] if result.refused else []),
    ]


_PAIR = "A is the pass as your code computes it, B as attnviz does. They open at the number that is furthest off."
_OPENS = "attnviz's pass from your inputs and weights, step by step, as your own parameters. It stays in this tab."


def _words(result: UploadComparison, stage: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    trace = result.comparison.trace if result.parameters else None
    if trace is None or stage not in trace:
        return (), ()
    rows, columns = (trace.labels.get(axis, ()) for axis in trace[stage].axes[-2:])
    return rows, columns


def _matrices(first: Agreement, words: tuple[tuple[str, ...], tuple[str, ...]]) -> list[Piece]:
    """The cells around the largest error in the first differing stage, the user's next to attnviz's."""
    if first.value is None or first.expected is None or first.value.ndim < 2:
        return []
    theirs, ours = first.value.astype(float), np.broadcast_to(first.expected, first.value.shape).astype(float)
    with np.errstate(invalid="ignore"):
        off = np.abs(theirs - ours)
    off[theirs == ours] = 0
    *head, row, column = np.unravel_index(np.argmax(np.nan_to_num(off, nan=np.inf)), off.shape)
    rows, columns = _around(row, off.shape[-2], _MOST_ROWS), _around(column, off.shape[-1], _MOST_COLUMNS)
    of_head = f", head {head[0] + 1}" if head else ""
    what = f"{capital(title(first.stage))}{of_head}"
    shown = [each[(*head, rows, columns)] for each in (theirs, ours)]
    limit = max(float(np.abs(each[np.isfinite(each)]).max(initial=0)) for each in shown)
    sides = [Side("", _named(places, called)) for places, called in zip((rows, columns), words, strict=True)]
    marked = int(row - rows.start), int(column - columns.start)
    drawn = [
        [
            pieces.text([["strong", f"{whose} {what[:1].lower() + what[1:] if what[1:2].islower() else what}"]]),
            matrix(f"{whose} {what}", each, *sides, limit=limit, marked=marked),
        ]
        for whose, each in zip(("Your", "attnviz's"), shown, strict=True)
    ]
    cell = ", ".join(map(_place, ("row", "column"), (row, column), words))
    at = f"{capital(cell)} is the furthest off{of_head and f' (in head {head[0] + 1})'}: "
    yours, expected = (float(each[(*head, row, column)]) for each in (theirs, ours))
    return [Columns(drawn), _plain(f"{at}{_exact(yours)} in your array, {_exact(expected)} in attnviz's.")]


def _around(place: int, n: int, most: int) -> slice:
    start = max(min(int(place) - most // 2, n - most), 0)
    return slice(start, min(start + most, n))


def _named(places: slice, words: tuple[str, ...]) -> tuple[str, ...]:
    numbers = range(places.start, places.stop)
    return tuple(shortened(words[place]) if words else str(place + 1) for place in numbers)


def _place(axis: str, place: int, words: tuple[str, ...]) -> str:
    """A row or column by number, with its word if it has one."""
    word = words[place] if words else str(place + 1)
    return f"{axis} {place + 1}" + (f" (“{shortened(word)}”)" if word != str(place + 1) else "")


def _exact(value: float) -> str:
    return f"{value:.6g}".replace("-", "−") if np.isfinite(value) else format_number(value)


def _plain(text: str) -> Piece:
    """A paragraph without markup, for names from a file."""
    return pieces.text([["", text]])
