"""What followers see: the place that a speaker's address names, its moment, and questions about its cells."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

import msgspec
import numpy as np
from msgspec import structs

from attnviz.analysis.provenance import parse_trail
from attnviz.classroom.commands import Place, Takes
from attnviz.classroom.room import RoomError
from attnviz.contract.classroom import CellQuestion
from attnviz.contract.lesson import Choose, Fill, LessonRuns, Pick, Question, Working
from attnviz.core.selection import Axis
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.steps import entry, full_title
from attnviz.lessons.lesson import LESSONS, MomentSource, moment_data
from attnviz.lessons.lesson import moment as lesson_moment
from attnviz.lessons.questions.numbers import Number, Percentage, half_a_digit, lead
from attnviz.lessons.questions.picks import PickWord
from attnviz.lessons.questions.spec import QuestionSpec
from attnviz.lessons.reference import LessonError, Passes, Reference, quoted_name
from attnviz.lessons.slots import fill_slots, format_number
from attnviz.lessons.talk import TalkError, TalkMoment, talk_moment
from attnviz.lessons.worked_solution import Form, form_within, rounding, worked_solution
from attnviz.scene.address import parse, query
from attnviz.scene.document.encoding import to_json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import Scene, is_uploaded

_SHARES = ("attention", "probabilities")
_ROWS = ("scores", "scaled", "masked", "attention")
"""Stages whose rows have a number for each word."""


_SMALL = 0.05
"""Relative error of a number computed from few digits, above which more digits are shown."""


def ask_of(question: CellQuestion, trace: Trace) -> tuple[QuestionSpec, LessonRuns, Working | None]:
    """A question about a cell, its prompt, and how its number is computed (None for a word).

    Raises
    ------
    RoomError
        If the pass has no such cell, or the question doesn't fit the cell.
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
        return PickWord(prompt="", of=of, pick="largest"), prompt, None
    cell = Reference("B", trace, stage, index)
    _hold_computed(cell)
    if question.kind == "share":
        _hold_shared(cell)
    form = form_within(cell, max(half_a_digit(_text(cell)), _SMALL * abs(cell.cell.value)))
    ask = (
        Percentage(prompt="", of=of)
        if question.kind == "share"
        else Number(prompt="", of=of, tolerance=_leeway(cell, form))
    )
    return ask, prompt, worked_solution(cell, form)


def _hold_computed(cell: Reference) -> None:
    """Check that a number is computed and finite.

    Raises
    ------
    RoomError
    """
    if cell.stage.is_given or cell.stage.is_overridden(cell.index):
        raise RoomError("This number is given, so there is nothing to work it out from. Select one that is computed.")
    if not np.isfinite(cell.cell.value):
        raise RoomError("The mask hides this pair, so its score is −∞. Select a visible one.")


def _hold_shared(cell: Reference) -> None:
    """Check that an attention weight depends on scores: its row sees at least two keys.

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
    """The tolerance: the error of computing with the digits shown and rounding the result, in hundredths."""
    off = half_a_digit(_text(cell)) + rounding(cell, form)
    return math.ceil(100 * off) / 100


def question_of(ask: QuestionSpec, prompt: LessonRuns, passes: Passes) -> Question:
    """The question with its candidates and answers.

    Raises
    ------
    RoomError
        If it has no answer.
    """
    try:
        made = ask.question(passes)
    except LessonError as error:
        raise RoomError(f"This can’t be asked: {error}") from None
    return structs.replace(made, prompt=[*prompt, *made.prompt])


def _names(axes: tuple[Axis, ...], index: tuple[int, ...], is_row: bool) -> list[str]:
    """The cell's index on each axis, by label where that can be quoted; for a row the last is `*`."""
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


MAX_PARAMETERS = 100
MAX_BYTES = 3_000_000
"""Size limit of a moment; a class of 120 would wait for 5 MB each."""

KEPT = 64
"""Moments that a process caches for its rooms, about 100 kB each."""

_NUMBER = re.compile("[1-9][0-9]{0,2}")


class _Asking(msgspec.Struct):
    """The question of a moment; the rest is ignored."""

    question: Pick | Choose | Fill | None


def place_in(at: str, question: CellQuestion | None = None, moment: TalkMoment | None = None) -> Place:
    """The place named by a speaker's address or by a moment of their talk, without private uploads and notes.

    Raises
    ------
    RoomError
        If there is no such place, or the question doesn't fit it.
    """
    texts = _parameters_of(at if moment is None else moment.at)
    if moment is None and "lesson" in texts:
        return _with_takes(Place(_lesson_address(texts)))
    scene = parse(texts).scene
    if (moment is not None and moment.uploads) or any(map(is_uploaded, filter(None, (scene, scene.other)))):
        return Place("", is_own=True)
    address = urlencode(query(replace(scene, present=False)))
    if moment is not None:
        return _with_takes(Place(address, moment=_without_notes(moment)))
    place = Place(address, question)
    return _with_takes(place) if question else place


def _parameters_of(at: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(at.removeprefix("?"), keep_blank_values=True, max_num_fields=MAX_PARAMETERS))
    except ValueError:
        raise RoomError(f"An address has at most {MAX_PARAMETERS} parameters.") from None


def _without_notes(moment: TalkMoment) -> str:
    return msgspec.json.encode(structs.replace(moment, notes="", minutes=0)).decode()


def _lesson_address(texts: dict[str, str]) -> str:
    lesson, number = texts["lesson"], texts.get("moment", "1")
    n_moments = len(LESSONS[lesson].moment) if lesson in LESSONS else 0
    if not _NUMBER.fullmatch(number) or int(number) > n_moments:
        raise RoomError("There is no such moment in the lessons.")
    return urlencode({"lesson": lesson, "moment": number})


def _with_takes(place: Place) -> Place:
    question = msgspec.json.decode(moment_at(place), type=_Asking).question
    return place if question is None else structs.replace(place, takes=takes_of(question))


def takes_of(question: Question) -> Takes:
    """The answers that a question accepts."""
    if isinstance(question, Fill):
        return Takes(is_share=question.is_share)
    return Takes(n_choices=len(question.candidates))


def moment_at(place: Place) -> bytes:
    """The moment that followers see at a place, as `contract.lesson` declares it.

    Raises
    ------
    RoomError
        If it is too large, or has no pass.
    """
    return _moment(place.shown)


@lru_cache(KEPT)
def _moment(place: Place) -> bytes:
    texts = dict(parse_qsl(place.at, keep_blank_values=True))
    if "lesson" in texts:
        return lesson_moment(texts["lesson"], int(texts["moment"]))
    made = _of_talk(place.moment) if place.moment else _of_scene(parse(texts).scene, place.question)
    if len(made) > MAX_BYTES:
        raise RoomError(f"This pass has {len(made) / 1e6:.0f} MB: too much to send it to a class.")
    return made


def _of_talk(text: str) -> bytes:
    try:
        return to_json(talk_moment(msgspec.json.decode(text, type=TalkMoment)))
    except TalkError as error:
        raise RoomError(str(error)) from None


def _of_scene(scene: Scene, question: CellQuestion | None) -> bytes:
    resolved = PASS_CACHE.resolved(scene)
    if resolved.trace is None:
        raise RoomError("There is no pass of these words.")
    passes = Passes(resolved)
    sent = moment_data(MomentSource(at="", text=""), passes, fill_slots)
    if question is None:
        return to_json(sent)
    ask, prompt, sent.working = ask_of(question, resolved.trace)
    sent.question = question_of(ask, prompt, passes)
    sent.covers, sent.asked_cell, sent.answer_cell = (
        sorted(ask.covers(passes)),
        ask.asked_cell(passes),
        ask.answer_cell(passes),
    )
    return to_json(sent)
