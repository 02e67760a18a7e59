"""Asking: a question that the speaker asks of a cell on the screen, as a lesson would ask it."""

from __future__ import annotations

import math

import numpy as np
from msgspec import structs

from attnviz.analysis.provenance import parse_trail
from attnviz.classroom.room import RoomError
from attnviz.contract.classroom import CellQuestion
from attnviz.contract.lesson import LessonRuns, Question, Working
from attnviz.core.selection import Axis
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.steps import entry, full_title
from attnviz.lessons.questions.numbers import Number, Share, half_a_digit, lead
from attnviz.lessons.questions.picks import Word
from attnviz.lessons.questions.spec import QuestionSpec
from attnviz.lessons.reference import LessonError, Passes, Reference, quoted_name
from attnviz.lessons.slots import format_number
from attnviz.lessons.worked_solution import Form, form_within, rounding, worked_solution

_SHARES = ("attention", "probabilities")
_ROWS = ("scores", "scaled", "masked", "attention")
"""Stages whose rows have a number for each word."""


_SMALL = 0.05
"""How far off a number may be that is computed from few digits, as a part of it, before more are written."""


def ask_of(question: CellQuestion, trace: Trace) -> tuple[QuestionSpec, LessonRuns, Working | None]:
    """A question of a cell, how it is put, and what its number is computed from; a word is asked for without.

    Raises
    ------
    RoomError
        If the pass has no such cell, or the question doesn't fit it.
    """
    cells, _ = parse_trail(trace, question.cell)
    if not cells:
        raise RoomError("The class is asked for a cell of the pass on the screen; this is none of it.")
    stage, index = trace[cells[0].stage], cells[0].index
    kind = split_layer(stage.name)[0]
    if question.kind == "word" and kind not in _ROWS:
        raise RoomError("“Which word” is asked of a row of scores or shares. Select a cell of one.")
    if question.kind == "share" and kind not in _SHARES:
        raise RoomError("A share is asked of attention or of probabilities. Select a cell of one.")
    of = f"{stage.name}[{', '.join(_names(trace.axes(stage.name), index, question.kind == 'word'))}]"
    prompt = _prompt(question.kind, trace, stage, index)
    if question.kind == "word":
        return Word(prompt="", of=of, pick="largest"), prompt, None
    cell = Reference("B", trace, stage, index)
    _hold_computed(cell)
    if question.kind == "share":
        _hold_shared(cell)
    form = form_within(cell, max(half_a_digit(_text(cell)), _SMALL * abs(cell.cell.value)))
    ask = (
        Share(prompt="", of=of) if question.kind == "share" else Number(prompt="", of=of, tolerance=_leeway(cell, form))
    )
    return ask, prompt, worked_solution(cell, form)


def _hold_computed(cell: Reference) -> None:
    """Hold that a number is computed from others, and one that people write.

    Raises
    ------
    RoomError
    """
    if cell.stage.is_given or cell.stage.is_overridden(cell.index):
        raise RoomError("This number is given, so there is nothing to work it out from. Select one that is computed.")
    if not np.isfinite(cell.cell.value):
        raise RoomError("The mask hides this pair, so its score is −∞. Select a visible one.")


def _hold_shared(cell: Reference) -> None:
    """Hold that a share depends on scores.

    Raises
    ------
    RoomError
    """
    try:
        lead(cell)
    except LessonError:
        raise RoomError("The mask hides this pair, or all others. Select a share of a row that sees several.") from None


def _text(cell: Reference) -> str:
    return format_number(cell.cell.value)


def _leeway(cell: Reference, form: Form) -> float:
    """How far off a number may be: as far as who computes it from the digits that are written, and rounds that."""
    off = half_a_digit(_text(cell)) + rounding(cell, form)
    return math.ceil(100 * off) / 100


def question_of(ask: QuestionSpec, prompt: LessonRuns, passes: Passes) -> Question:
    """The question with all its answers.

    Raises
    ------
    RoomError
        If it has no answer to find.
    """
    try:
        made = ask.question(passes)
    except LessonError as error:
        raise RoomError(f"This can’t be asked: {error}") from None
    return structs.replace(made, prompt=[*prompt, *made.prompt])


def _names(axes: tuple[Axis, ...], index: tuple[int, ...], is_row: bool) -> list[str]:
    """A cell's place on each axis, by its name where that can be quoted; of a row the last is open."""
    names = [
        f'"{axis.label(place)}"' if '"' not in axis.label(place) else str(place + 1)
        for axis, place in zip(axes, index, strict=True)
    ]
    return [*names[:-1], "*"] if is_row else names


def _prompt(kind: str, trace: Trace, stage: Stage, index: tuple[int, ...]) -> LessonRuns:
    axes = trace.axes(stage.name)
    labels = {axis.name: axis.label(place) for axis, place in zip(axes, index, strict=True)}
    one = entry(stage.name).one or entry(stage.name).title.lower()
    base, layer = split_layer(stage.name)
    head = [labels["head"]] if len(axes[0].labels) > 1 and axes[0].name == "head" else []
    inside = "".join(f", in {each}" for each in (*head, *([f"layer {layer}"] if layer else [])))
    if kind == "share" and "key" in labels:
        return _run(f"What share of its attention does “{labels['query']}” give to “{labels['key']}”{inside}?")
    if kind == "word":
        most = "look at most" if base == "attention" else f"have the largest {one} with"
        return _run(f"Which {trace.origin.unit} does “{labels['query']}” {most}{inside}?")
    of = Reference("B", trace, stage, index)
    where = ", ".join(quoted_name(of, axis, place) for axis, place in enumerate(index) if stage.shape[axis] > 1)
    what = "What probability stands" if kind == "share" else "Which number stands"
    return _run(f"{what} in {full_title(stage.name)}{f' at {where}' if where else ''}?")


def _run(text: str) -> LessonRuns:
    return [("", text)]
