"""The routes of rooms: requests to a room, its event stream, the moment that followers see, and the counts as CSV."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import time
from collections.abc import AsyncIterator

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from attnviz.classroom import commands, requests
from attnviz.classroom.admission import (
    FULL,
    ROOMS,
    RefusedError,
    count_message,
    count_room,
    join,
    network,
    room_of_seat,
    seated,
)
from attnviz.classroom.codes import code_in, new_code
from attnviz.classroom.commands import Place, Value
from attnviz.classroom.fair_queue import FairQueue
from attnviz.classroom.http import NO_STORE, TooLargeError, compressed_response, json_response, read_body
from attnviz.classroom.questions import moment_at, place_in
from attnviz.classroom.room import Question, Room, RoomError
from attnviz.classroom.rooms import LiveRoom
from attnviz.contract.classroom import Led, Offer, OwnAnswer, OwnNow
from attnviz.contract.lesson import Choose, Fill, LessonRuns, NumberLink, Pick
from attnviz.scene.document.encoding import to_json

_COLUMNS = ("question", "round", "answer", "count", "right")
_ACTIVE = ("=", "+", "-", "@", "\t", "\r")


class _Asked(msgspec.Struct):
    question: Pick | Choose | Fill | None


def table(room: Room) -> str:
    """The counts of a room as CSV, a line per answer. Texts that spreadsheets run as formulas get an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for each in room.questions.values():
        writer.writerows(_lines(each))
    return text.getvalue()


def _lines(asked: Question) -> list[tuple]:
    question = _question(asked.place)
    prompt = _inert(_plain(question.prompt))
    return [
        (prompt, nth, _label(question, value), count, "yes" if is_right(question, value) else "no")
        for nth, counts in enumerate(asked.counts, start=1)
        for value, count in counts
    ]


def is_right(question: Pick | Choose | Fill, value: Value) -> bool:
    """Whether an answer counts as right."""
    if isinstance(question, Fill):
        return abs(value - question.right) <= question.tolerance
    return value in question.right


def _question(place: Place) -> Pick | Choose | Fill:
    return msgspec.json.decode(moment_at(place), type=_Asked).question


def _label(question: Pick | Choose | Fill, value: Value) -> str | Value:
    return value if isinstance(question, Fill) else _inert(question.candidates[value].label)


def _plain(prompt: LessonRuns) -> str:
    return "".join(text.text if isinstance(text, NumberLink) else text for _, text in prompt)


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_ACTIVE) else text


COMMENT_SECONDS = 15.0
SPEAKER_SECONDS = 0.2
"""Least time between two events of the speaker's stream: each answer makes one."""


async def stream(live: LiveRoom, seat: str, known: str) -> AsyncIterator[bytes]:
    """Server-sent events: this seat's own answer, then the class's state now and after every change."""
    is_speaker = seat in live.room.speakers
    live.streams[seat] += 1
    live.notify(speaker_alone=True)
    try:
        yield b"retry: 500\nevent: own\ndata: " + to_json(OwnNow(answer=_own_answer(live.room, seat))) + b"\n\n"
        while True:
            name, text = live.event(is_speaker)
            if name != known:
                yield b"id: " + name.encode() + b"\ndata: " + text + b"\n\n"
                known = name
            if live.room.has_ended:
                return
            if is_speaker:
                await asyncio.sleep(SPEAKER_SECONDS)
            # it changed while that was being sent, so nothing will wake this stream
            if live.event(is_speaker)[0] != known:
                continue
            if not await live.wait_for_change(is_speaker, COMMENT_SECONDS):
                yield b": here\n\n"
    finally:
        live.streams[seat] -= 1
        if live.streams[seat] <= 0:
            del live.streams[seat]
            live.around.discard(seat)
        live.notify(speaker_alone=True)


def _own_answer(room: Room, seat: str) -> OwnAnswer | None:
    question = room.question
    value = question.rounds[-1].get(seat) if question else None
    return None if value is None else OwnAnswer(number=room.number, round=len(question.rounds), value=value)


PATH, EVENTS_PATH, MOMENT_PATH = "/room", "/room/events", "/room/moment"

_LANE = FairQueue("rooms")
"""The queue in which moments are computed, once per room; the room that used it least is next."""

_KEY = "x-room-key"
_STREAMED = NO_STORE | {"X-Accel-Buffering": "no"}


def routes() -> list[BaseRoute]:
    """The routes of rooms, under any mount path."""
    return [
        Route(f"/{{base:path}}{EVENTS_PATH[1:]}", _answered(_events), methods=["GET"]),
        Route(f"/{{base:path}}{MOMENT_PATH[1:]}", _answered(_moment), methods=["GET"]),
        Route(f"/{{base:path}}{PATH[1:]}", _answered(_done), methods=["POST"]),
    ]


def _answered(act):
    """Wrap a route so that refusals become text responses."""

    async def answer(request: Request) -> Response:
        try:
            return await act(request)
        except RefusedError as refused:
            return PlainTextResponse(str(refused), refused.status)
        except RoomError as error:
            return PlainTextResponse(str(error), 400)
        except ClientDisconnect:
            return PlainTextResponse("", 400)

    return answer


async def _done(request: Request) -> Response:
    room_code = code_in(request.query_params.get("room", "")) or ""
    live = await ROOMS.find(room_code) if _KEY in request.headers else None
    is_speaker = live is not None and live.room.has_key(request.headers[_KEY])
    body = await _read(request, requests.MAX_SPEAKER_BYTES if is_speaker else requests.MAX_BYTES)
    message = requests.read(body)
    if isinstance(message, requests.Make):
        count_room(request)
        _, seat = await ROOMS.make(network(request))
        return json_response(to_json(seat))
    if isinstance(message, requests.Join):
        return json_response(to_json(await join(request, room_code, message)))
    if isinstance(message, requests.Speakers):
        if not is_speaker:
            raise RefusedError(403, "Only the speaker does that. Their room may have ended.")
        return await _led(live, message)
    live = await seated(request, room_code, message.seat)
    if not isinstance(message, requests.Around):
        count_message(request, room_code)
    return await _followed(live, message)


async def _read(request: Request, most: int) -> bytes:
    try:
        return await read_body(request, most)
    except TooLargeError:
        raise RefusedError(413, f"A message to a room has at most {most:,} bytes; this one has more.") from None


async def _followed(live: LiveRoom, message: requests.Answer | requests.Point | requests.Around) -> Response:
    now = time.time()
    match message:
        case requests.Answer(seat=seat, number=number, round=nth, value=value):
            await ROOMS.do(live, commands.Answer(time=now, seat=seat, number=number, round=nth, value=value))
        case requests.Point(seat=seat, cell=cell):
            await ROOMS.do(live, commands.Point(time=now, seat=seat, cell=cell))
        case requests.Around(seat=seat, is_around=is_around):
            (live.around.add if is_around else live.around.discard)(seat)
            live.notify(speaker_alone=True)
    return json_response(b"{}")


async def _led(live: LiveRoom, message: requests.Speakers) -> Response:
    now = time.time()
    live.speaker = now
    match message:
        case requests.Move(at=at, question=question, moment=moment, is_shown=is_shown):
            place = await _in_lane(live, place_in, at, question, moment)
            await ROOMS.do(live, commands.Move(time=now, place=place, is_shown=is_shown))
            return json_response(to_json(Led(number=live.room.number, is_own=place.is_own)))
        case requests.Press(by=by):
            await ROOMS.do(live, commands.Press(time=now, by=by))
        case requests.Open(is_open=is_open):
            await ROOMS.do(live, commands.Open(time=now, is_open=is_open))
        case requests.Again():
            await ROOMS.do(live, commands.Again(time=now))
        case requests.OfferDevice():
            code = new_code()
            await ROOMS.do(live, commands.OfferDevice(time=now, code=code))
            return json_response(to_json(Offer(code=code)))
        case requests.Counts():
            text = await _in_lane(live, table, live.room)
            return Response(text, media_type="text/csv", headers=NO_STORE)
        case requests.End():
            await ROOMS.do(live, commands.End(time=now))
    return json_response(b"{}")


async def _moment(request: Request) -> Response:
    """The moment that followers see, computed once for all; an error for a place that the class has left."""
    live = await room_of_seat(*_seat_of(request))
    place, number = live.room.place, request.query_params.get("shows", "")
    if place is None or number != str(live.room.shows):
        raise RefusedError(409, "The class has gone on meanwhile.")
    made = await _in_lane(live, _compressed, live.room, number)
    return compressed_response(request, made, NO_STORE)


_kept: dict[str, tuple[str, bytes]] = {}
"""Each room's latest moment: its number, and its gzipped JSON."""


def _compressed(room: Room, number: str) -> bytes:
    if _kept.get(room.code, ("",))[0] != number:
        for code in _kept.keys() - ROOMS.live.keys():
            _kept.pop(code, None)
        _kept[room.code] = number, gzip.compress(moment_at(room.place), 6)
    return _kept[room.code][1]


async def _events(request: Request) -> Response:
    code, seat = _seat_of(request)
    live = await room_of_seat(code, seat)
    if live.is_full and seat not in live.streams and seat not in live.room.speakers:
        raise RefusedError(503, FULL)
    await seated(request, code, seat)
    if request.query_params.get("around") == "1":
        live.around.add(seat)
    known = request.headers.get("last-event-id", "")
    events = stream(live, seat, known)
    return StreamingResponse(events, media_type="text/event-stream", headers=_STREAMED)


def _seat_of(request: Request) -> tuple[str, str]:
    return code_in(request.query_params.get("room", "")) or "", request.query_params.get("seat", "")


async def _in_lane(live, act, *arguments):
    return await _LANE.in_one_piece((live.room.code, ""), act, *arguments)
