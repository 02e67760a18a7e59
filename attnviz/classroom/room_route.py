"""The routes of rooms: what is done in one, the stream of what happens there, and what followers see."""

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
from attnviz.classroom.codes import code_in, new_code
from attnviz.classroom.commands import Place, Value
from attnviz.classroom.fair_queue import FairQueue
from attnviz.classroom.places import moment_at, place_in
from attnviz.classroom.question import Question
from attnviz.classroom.responses import NO_STORE, TooLargeError, body_of, compressed_response, json_response
from attnviz.classroom.room import Room, RoomError
from attnviz.classroom.room_door import FULL, RefusedError, count_message, count_room, held_of, join, network, seated
from attnviz.classroom.room_store import ROOMS
from attnviz.classroom.rooms import Held
from attnviz.contract.classroom import Led, Offer, OwnAnswer, OwnNow
from attnviz.contract.lesson import Choose, Fill, LessonRuns, NumberLink, Pick
from attnviz.scene.document.encoding import to_json

_COLUMNS = ("question", "round", "answer", "count", "right")
_ACTIVE = ("=", "+", "-", "@", "\t", "\r")


class _Asked(msgspec.Struct):
    question: Pick | Choose | Fill | None


def table(room: Room) -> str:
    """All counts of a room, a line for each answer.

    The right ones are those of the pass. Texts that a spreadsheet would read as a formula begin with an apostrophe
    there.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for each in room.questions.values():
        writer.writerows(_lines(each))
    return text.getvalue()


def _lines(held: Question) -> list[tuple]:
    question = _question(held.place)
    prompt = _inert(_plain(question.prompt))
    return [
        (prompt, nth, _label(question, value), count, "yes" if is_right(question, value) else "no")
        for nth, counts in enumerate(held.counts, start=1)
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
"""Between two events of the speaker's stream, of which each answer is one."""


async def stream(held: Held, seat: str, known: str) -> AsyncIterator[bytes]:
    """The class as it is now, and again whenever it is otherwise; and what this seat said, for who comes back."""
    is_speaker = seat in held.room.speakers
    held.streams[seat] += 1
    held.tell(speaker_alone=True)
    try:
        yield b"retry: 500\nevent: own\ndata: " + to_json(OwnNow(answer=_own_answer(held.room, seat))) + b"\n\n"
        while True:
            name, text = held.event(is_speaker)
            if name != known:
                yield b"id: " + name.encode() + b"\ndata: " + text + b"\n\n"
                known = name
            if held.room.has_ended:
                return
            if is_speaker:
                await asyncio.sleep(SPEAKER_SECONDS)
            if held.event(is_speaker)[0] != known:  # it changed while that was sent: nothing wakes this stream later
                continue
            if not await held.change(is_speaker, COMMENT_SECONDS):
                yield b": here\n\n"
    finally:
        held.streams[seat] -= 1
        if held.streams[seat] <= 0:
            del held.streams[seat]
            held.around.discard(seat)
        held.tell(speaker_alone=True)


def _own_answer(room: Room, seat: str) -> OwnAnswer | None:
    question = room.question
    value = question.rounds[-1].get(seat) if question else None
    return None if value is None else OwnAnswer(number=room.number, round=len(question.rounds), value=value)


PATH, EVENTS_PATH, MOMENT_PATH = "/room", "/room/events", "/room/moment"

_LANE = FairQueue("rooms")
"""Where what followers see is made, once for all of them; next is the room that used it least."""

_KEY = "x-room-key"
_STREAMED = NO_STORE | {"X-Accel-Buffering": "no"}


def routes() -> list[BaseRoute]:
    """The routes that a class uses, wherever the app is mounted."""
    return [
        Route(f"/{{base:path}}{EVENTS_PATH[1:]}", _answered(_events), methods=["GET"]),
        Route(f"/{{base:path}}{MOMENT_PATH[1:]}", _answered(_moment), methods=["GET"]),
        Route(f"/{{base:path}}{PATH[1:]}", _answered(_done), methods=["POST"]),
    ]


def _answered(act):
    """A route that says refusals in words."""

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
    held = await ROOMS.find(room_code) if _KEY in request.headers else None
    is_speaker = held is not None and held.room.has_key(request.headers[_KEY])
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
        return await _led(held, message)
    held = await seated(request, room_code, message.seat)
    if not isinstance(message, requests.Around):
        count_message(request, room_code)
    return await _followed(held, message)


async def _read(request: Request, most: int) -> bytes:
    try:
        return await body_of(request, most)
    except TooLargeError:
        raise RefusedError(413, f"A message to a room has at most {most:,} bytes; this one has more.") from None


async def _followed(held: Held, message: requests.Answer | requests.Point | requests.Around) -> Response:
    now = time.time()
    match message:
        case requests.Answer(seat=seat, number=number, round=nth, value=value):
            await ROOMS.do(held, commands.Answer(time=now, seat=seat, number=number, round=nth, value=value))
        case requests.Point(seat=seat, cell=cell):
            await ROOMS.do(held, commands.Point(time=now, seat=seat, cell=cell))
        case requests.Around(seat=seat, is_around=is_around):
            (held.around.add if is_around else held.around.discard)(seat)
            held.tell(speaker_alone=True)
    return json_response(b"{}")


async def _led(held: Held, message: requests.Speakers) -> Response:
    now = time.time()
    held.speaker = now
    match message:
        case requests.Move(at=at, question=question, moment=moment, is_shown=is_shown):
            place = await _in_lane(held, place_in, at, question, moment)
            await ROOMS.do(held, commands.Move(time=now, place=place, is_shown=is_shown))
            return json_response(to_json(Led(number=held.room.number, is_own=place.is_own)))
        case requests.Press(by=by):
            await ROOMS.do(held, commands.Press(time=now, by=by))
        case requests.Open(is_open=is_open):
            await ROOMS.do(held, commands.Open(time=now, is_open=is_open))
        case requests.Again():
            await ROOMS.do(held, commands.Again(time=now))
        case requests.Hand():
            code = new_code()
            await ROOMS.do(held, commands.Hand(time=now, code=code))
            return json_response(to_json(Offer(code=code)))
        case requests.Counts():
            text = await _in_lane(held, table, held.room)
            return Response(text, media_type="text/csv", headers=NO_STORE)
        case requests.End():
            await ROOMS.do(held, commands.End(time=now))
    return json_response(b"{}")


async def _moment(request: Request) -> Response:
    """The moment that followers see, written once for all of them; none for a place that the class has left."""
    held = await held_of(*_seat_of(request))
    place, number = held.room.place, request.query_params.get("shows", "")
    if place is None or number != str(held.room.shows):
        raise RefusedError(409, "The class has gone on meanwhile.")
    made = await _in_lane(held, _compressed, held.room, number)
    return compressed_response(request, made, NO_STORE)


_kept: dict[str, tuple[str, bytes]] = {}
"""Of each room the moment that was asked for last, compressed."""


def _compressed(room: Room, number: str) -> bytes:
    if _kept.get(room.code, ("",))[0] != number:
        for code in _kept.keys() - ROOMS.held.keys():
            _kept.pop(code, None)
        _kept[room.code] = number, gzip.compress(moment_at(room.place), 6)
    return _kept[room.code][1]


async def _events(request: Request) -> Response:
    code, seat = _seat_of(request)
    held = await held_of(code, seat)
    if held.is_full and seat not in held.streams and seat not in held.room.speakers:
        raise RefusedError(503, FULL)
    await seated(request, code, seat)
    if request.query_params.get("around") == "1":
        held.around.add(seat)
    known = request.headers.get("last-event-id", "")
    events = stream(held, seat, known)
    return StreamingResponse(events, media_type="text/event-stream", headers=_STREAMED)


def _seat_of(request: Request) -> tuple[str, str]:
    return code_in(request.query_params.get("room", "")) or "", request.query_params.get("seat", "")


async def _in_lane(held, act, *arguments):
    return await _LANE.in_one_piece((held.room.code, ""), act, *arguments)
