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
from attnviz.contract.lesson import Choose, Fill, Gaps, LessonRuns, Pick, Question, WorkedSolution, Write
from attnviz.core.selection import Axis
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.steps import entry, full_title, layer_name
from attnviz.explain.texts import key_noun
from attnviz.lessons.cell_reference import LessonError, Passes, Reference, quoted_name
from attnviz.lessons.lesson import LESSONS, MomentSource, moment_data
from attnviz.lessons.lesson import moment as lesson_moment
from attnviz.lessons.questions.numbers import Number, Percentage, half_a_digit, lead
from attnviz.lessons.questions.picks import PickWord
from attnviz.lessons.questions.spec import QuestionSpec
from attnviz.lessons.slide import data_url
from attnviz.lessons.slots import fill_slots, format_number
from attnviz.lessons.talk import TalkError, TalkMoment, talk_moment
from attnviz.lessons.worked_solution import form_within, rounding, worked_solution
from attnviz.scene.address import parse, query
from attnviz.scene.document.encoding import to_json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import Scene, is_uploaded

_WEIGHTS = ("attention", "probabilities")  # stages whose rows add up to 1
_ROWS = ("scores", "scaled", "masked", "attention")  # stages whose rows have a number for each word
_SMALL = 0.05  # relative error of a number computed from few digits, above which more digits are shown
MAX_PARAMETERS = 100
MAX_MOMENT_CHARACTERS = 64_000  # size limit of a talk's moment without its image: a room keeps each that was asked
MAX_BYTES = 3_000_000  # size limit of a moment; a class of 120 would wait for 5 MB each
CACHED_MOMENTS = 64  # moments that a process caches for its rooms, about 100 kB each
_NUMBER = re.compile("[1-9][0-9]{0,2}")


def cell_question(question: CellQuestion, trace: Trace) -> tuple[QuestionSpec, LessonRuns, WorkedSolution | None]:
    """A question about a cell, its prompt, and how its number is computed (None for a word). Raises RoomError if the
    pass has no such cell, or the question doesn't fit the cell.
    """
    cells, _ = parse_trail(trace, question.cell)
    if not cells:
        raise RoomError("The class is asked for a cell of the pass on the screen; this is none of it.")
    stage, index = trace[cells[0].stage], cells[0].index
    base = split_layer(stage.name)[0]
    if question.kind == "word" and base not in _ROWS:
        raise RoomError("“Which word” is asked of a row of scores or shares. Select a cell of one.")
    if question.kind == "share" and base not in _WEIGHTS:
        raise RoomError("A share is asked of attention or of probabilities. Select a cell of one.")
    of = f"{stage.name}[{', '.join(_names(trace.axes(stage.name), index, question.kind == 'word'))}]"
    prompt: LessonRuns = [("", _prompt(question.kind, trace, stage, index))]
    if question.kind == "word":
        return PickWord(prompt="", of=of, pick="largest"), prompt, None
    cell = Reference("B", trace, stage, index)
    _check_computed(cell, question.kind == "share")
    half = half_a_digit(format_number(cell.cell.value))
    form = form_within(cell, max(half, _SMALL * abs(cell.cell.value)))
    if question.kind == "share":
        return Percentage(prompt="", of=of), prompt, worked_solution(cell, form)
    tolerance = math.ceil(100 * (half + rounding(cell, form))) / 100  # the error of computing with the digits shown
    return Number(prompt="", of=of, tolerance=tolerance), prompt, worked_solution(cell, form)


def _check_computed(cell: Reference, is_weight: bool) -> None:
    """Raise RoomError unless a number is computed and finite, and a weight's row sees at least two keys."""
    if cell.stage.is_given or cell.stage.is_overridden(cell.index):
        raise RoomError("This number is given, so there is nothing to work it out from. Select one that is computed.")
    if not np.isfinite(cell.cell.value):
        raise RoomError("The mask hides this pair, so its score is −∞. Select a visible one.")
    if not is_weight:
        return
    try:
        lead(cell)
    except LessonError:
        raise RoomError("The mask hides this pair, or all others. Select a share of a row that sees several.") from None


def _names(axes: tuple[Axis, ...], index: tuple[int, ...], is_row: bool) -> list[str]:
    """The cell's index on each axis, by label where that can be quoted; for a row the last is `*`."""
    labels = [axis.label(position) for axis, position in zip(axes, index, strict=True)]
    names = [f'"{label}"' if '"' not in label else str(at + 1) for label, at in zip(labels, index, strict=True)]
    return [*names[:-1], "*"] if is_row else names


def _prompt(kind: str, trace: Trace, stage: Stage, index: tuple[int, ...]) -> str:
    axes = trace.axes(stage.name)
    labels = {axis.name: axis.label(position) for axis, position in zip(axes, index, strict=True)}
    base, layer = split_layer(stage.name)
    head = [labels["head"]] if len(axes[0].labels) > 1 and axes[0].name == "head" else []
    inside = "".join(f", in {each}" for each in (*head, *([layer_name(trace, layer)] if layer else [])))
    if kind == "share" and "key" in labels:
        return f"What share of its attention does “{labels['query']}” give to “{labels['key']}”{inside}?"
    if kind == "word":
        one = entry(stage.name).one or entry(stage.name).title.lower()
        most = "look at most" if base == "attention" else f"have the largest {one} with"
        return f"Which {key_noun(trace.layers[layer - 1].trace)} does “{labels['query']}” {most}{inside}?"
    cell = Reference("B", trace, stage, index)
    names = [quoted_name(cell, axis, position) for axis, position in enumerate(index) if stage.shape[axis] > 1]
    where = f" at {', '.join(names)}" if names else ""
    what = "What probability stands" if kind == "share" else "Which number stands"
    return f"{what} in {full_title(stage.name, trace)}{where}?"


class _Asking(msgspec.Struct):
    """The question of a moment; the rest is ignored."""

    question: Question | None


def question_at(place: Place) -> Pick | Choose | Fill | Write | None:
    """The question that a class is asked at a place's moment, with its candidates and answers; none with gaps."""
    question = msgspec.json.decode(moment_at(place), type=_Asking).question
    return None if isinstance(question, Gaps) else question


def place_in(address: str, question: CellQuestion | None = None, moment: TalkMoment | None = None) -> Place:
    """The place named by a speaker's address or by a moment of their talk, without private uploads and notes. Raises
    RoomError if there is no such place, or the question doesn't fit it.
    """
    query_string = (address if moment is None else moment.at).removeprefix("?")
    try:
        texts = dict(parse_qsl(query_string, keep_blank_values=True, max_num_fields=MAX_PARAMETERS))
    except ValueError:
        raise RoomError(f"An address has at most {MAX_PARAMETERS} parameters.") from None
    if moment is None and "lesson" in texts:
        return _with_takes(Place(_lesson_address(texts)))
    scene = parse(texts).scene
    if (moment is not None and moment.uploads) or any(map(is_uploaded, filter(None, (scene, scene.other)))):
        return Place("", is_own=True)
    at = urlencode(query(replace(scene, present=False)))
    if moment is not None:
        text = msgspec.json.encode(structs.replace(moment, notes="", minutes=0)).decode()
        if len(text) > MAX_MOMENT_CHARACTERS:
            rule = f"A moment of a talk has at most {MAX_MOMENT_CHARACTERS:,} characters in a class"
            raise RoomError(f"{rule}; this one has {len(text):,}.")
        return _with_takes(Place(at, moment=text))
    return _with_takes(Place(at, question)) if question else Place(at)


def _lesson_address(texts: dict[str, str]) -> str:
    lesson, number = texts["lesson"], texts.get("moment", "1")
    n_moments = len(LESSONS[lesson].moment) if lesson in LESSONS else 0
    if not _NUMBER.fullmatch(number) or int(number) > n_moments:
        raise RoomError("There is no such moment in the lessons.")
    return urlencode({"lesson": lesson, "moment": number})


def _with_takes(place: Place) -> Place:
    question = question_at(place)
    if question is None:
        return place
    if isinstance(question, Write):
        return structs.replace(place, takes=Takes(is_text=True))
    if isinstance(question, Fill):
        return structs.replace(place, takes=Takes(is_share=question.is_share))
    return structs.replace(place, takes=Takes(n_choices=len(question.candidates)))


def moment_at(place: Place) -> bytes:
    """The moment that followers see at a place, as `contract.lesson` declares it, without the image of its slide.
    Raises RoomError if it is too large, or has no pass.
    """
    return _moment(place.shown)


def with_image(moment: bytes, image: str) -> bytes:
    """A moment with the image of its slide, given as base64; no cache of moments keeps images."""
    if not image:
        return moment
    parts = msgspec.json.decode(moment)
    parts["picture"]["image"] = data_url(image)
    return msgspec.json.encode(parts)


def image_name(place: Place | None) -> str:
    """The name of the image on a place's slide; empty if there is none."""
    moment = msgspec.json.decode(place.moment, type=TalkMoment) if place and place.moment else None
    return moment.slide.image if moment and moment.slide else ""


def check_image(image: str) -> None:
    """Raise RoomError unless this is an image that a slide may have."""
    try:
        data_url(image)
    except TalkError as error:
        raise RoomError(str(error)) from None


@lru_cache(CACHED_MOMENTS)
def _moment(place: Place) -> bytes:
    texts = dict(parse_qsl(place.at, keep_blank_values=True))
    if "lesson" in texts:
        return lesson_moment(texts["lesson"], int(texts["moment"]))
    made = _talk_moment(place.moment) if place.moment else _scene_moment(parse(texts).scene, place.question)
    if len(made) > MAX_BYTES:
        raise RoomError(f"This pass has {len(made) / 1e6:.0f} MB: too much to send it to a class.")
    return made


def _talk_moment(text: str) -> bytes:
    try:
        return to_json(talk_moment(msgspec.json.decode(text, type=TalkMoment)))
    except TalkError as error:
        raise RoomError(str(error)) from None


def _scene_moment(scene: Scene, question: CellQuestion | None) -> bytes:
    resolved = PASS_CACHE.resolved(scene)
    if resolved.trace is None:
        raise RoomError("There is no pass of these words.")
    passes = Passes(resolved)
    moment = moment_data(MomentSource(at="", text=""), passes, fill_slots)
    if question is not None:
        spec, prompt, moment.worked_solution = cell_question(question, resolved.trace)
        try:
            made = spec.question(passes)
        except LessonError as error:
            raise RoomError(f"This can’t be asked: {error}") from None
        moment.question = structs.replace(made, prompt=[*prompt, *made.prompt])
        moment.covers = sorted(spec.covers(passes))
        moment.asked_cell, moment.answer_cell = spec.asked_cell(passes), spec.answer_cell(passes)
    return to_json(moment)
