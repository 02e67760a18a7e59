"""Places: what a speaker says of where the class is, read as strictly as an address; and what followers see there."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import structs

from attnviz.classroom.asking import ask_of, question_of
from attnviz.classroom.commands import Place, Takes
from attnviz.classroom.room import RoomError
from attnviz.contract.classroom import CellQuestion
from attnviz.contract.lesson import Choose, Fill, Pick, Question
from attnviz.lessons.lesson import LESSONS, MomentSource, moment_data
from attnviz.lessons.lesson import moment as lesson_moment
from attnviz.lessons.reference import Passes
from attnviz.lessons.slots import fill_slots
from attnviz.lessons.talk import TalkError, TalkMoment, talk_moment
from attnviz.scene.address import parse, query
from attnviz.scene.document.encoding import to_json
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.scene import Scene, is_uploaded

MAX_PARAMETERS = 100
MAX_BYTES = 3_000_000
"""Of what a follower is sent; a class of 120 that is sent 5 MB each would wait."""

KEPT = 64
"""Moments that a process keeps for its rooms, some 100 kB each."""

_NUMBER = re.compile("[1-9][0-9]{0,2}")


class _Asking(msgspec.Struct):
    """Of a moment the question alone."""

    question: Pick | Choose | Fill | None


def place_in(at: str, question: CellQuestion | None = None, moment: TalkMoment | None = None) -> Place:
    """The place that a speaker's address says, or a moment of a talk of theirs, without what is theirs alone.

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
    """The answers that a question takes."""
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
