"""Messages from a browser, which may hold anything, and the result of an action."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from attnviz.analysis.provenance import parse_trail
from attnviz.core.changes import MUTABLE, Change
from attnviz.core.errors import ChangeError
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import Scene
from attnviz.scene.with_pass import SceneWithPass

Resolve = Callable[[Scene], SceneWithPass]  # a function that makes the pass of a scene, such as `resolve`


class ActionResult(NamedTuple):
    """The result of an action: the new scene, and notes for the reply."""

    scene: Scene
    notes: ReplyNotes = ReplyNotes()


def refused(scene: Scene, *notices: str) -> ActionResult:
    """The unchanged scene, with the reasons why an action is impossible."""
    return ActionResult(scene, ReplyNotes(notices=notices))


Option = TypeVar("Option")


def change_in(trace: Trace, message: object) -> Change | None:
    """The change requested by {"cell": address, "value": number}; None if the message has another form. The value null
    stands for -inf, which JSON has no number for.
    """
    if not isinstance(message, dict):
        return None
    cell, value = cell_in(trace, message.get("cell")), message.get("value", "")
    if cell is None or isinstance(value, bool) or not isinstance(value, int | float | None):
        return None
    try:
        number = -math.inf if value is None else float(value)
    except OverflowError:
        n = len(str(value))
        raise ChangeError(f"A number set by hand is within float64 (1.8e308); got one of {n} digits.") from None
    stage, index = cell
    change = Change(stage, index, number)
    trace.check(change)
    return change


def cell_in(trace: Trace, message: object) -> tuple[str, tuple[int, ...]] | None:
    """The stage and index of the cell that the message addresses; None if the trace has no such cell."""
    cells = parse_trail(trace, message)[0] if isinstance(message, str) else ()
    return (cells[0].stage, cells[0].index) if cells else None


def writer_in(trace: Trace, message: object) -> tuple[int, str] | None:
    """The head or neuron named by {"stage": name, "place": place}, and its stage; None if the trace lacks it."""
    stage = message.get("stage") if isinstance(message, dict) else None
    axis = MUTABLE.get(split_layer(stage)[0]) if isinstance(stage, str) and stage in trace else None
    if axis is None:
        return None
    index = index_in(message.get("place"), trace[stage].shape[axis])
    return None if index is None else (index, stage)


class Stroke(NamedTuple):
    """A brush stroke: mask cells to hide or show, in one head or in all."""

    head: int | None
    cells: tuple[tuple[int, int], ...]
    hides: bool


def stroke_in(trace: Trace, message: object) -> Stroke | None:
    """The stroke in {"head": place or null, "cells": [[query, key], ...], "hides": bool}; None if invalid."""
    if not isinstance(message, dict) or message.keys() != {"head", "cells", "hides"}:
        return None
    n_heads, n_queries, n_keys = (trace.lengths[axis] for axis in ("head", "query", "key"))
    head, cells, hides = index_in(message["head"], n_heads), message["cells"], message["hides"]
    if (head is None and message["head"] is not None) or not isinstance(hides, bool) or not isinstance(cells, list):
        return None
    if not 0 < len(cells) <= n_queries * n_keys or any(not isinstance(each, list) or len(each) != 2 for each in cells):
        return None
    indices = tuple((index_in(query, n_queries), index_in(key, n_keys)) for query, key in cells)
    return None if any(None in each for each in indices) else Stroke(head, indices, hides)


def indices_in(message: object, length: int) -> tuple[int, int] | None:
    """Two indices below `length`, if the message is a list of two; else None."""
    if not isinstance(message, list) or len(message) != 2:
        return None
    one, other = (index_in(each, length) for each in message)
    return None if one is None or other is None or one == other else (one, other)


def option_in(message: object, options: Iterable[Option]) -> Option | None:
    """The option equal to the message and of its type: neither 1 nor 2.0 matches (True, 2)."""
    return next((option for option in options if type(option) is type(message) and option == message), None)


def index_in(message: object, length: int) -> int | None:
    """The message as an index below `length`; None if it is none."""
    is_number = isinstance(message, int | float) and not isinstance(message, bool)
    return next((index for index in range(length) if is_number and index == message), None)
