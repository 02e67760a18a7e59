"""The routes of rooms: what is done in one, the stream of what happens there, and what followers see."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from attnviz.classroom import commands, requests
from attnviz.classroom.codes import code_in, hash_of, new_code, new_secret
from attnviz.classroom.guesses import Guesses, network_of
from attnviz.classroom.places import moment_at, place_in
from attnviz.classroom.room import Room, RoomError
from attnviz.classroom.table import table
from attnviz.scene.document.encoding import to_json
from attnviz.server.room_store import ROOMS
from attnviz.server.rooms import MAX_HERE, Held

PATH, EVENTS_PATH, MOMENT_PATH = "/room", "/room/events", "/room/moment"

LINKS_PER_SECOND = 50
"""People who come in by a QR code's link: a lecture hall is one address, so this is for all of a process."""

COMMENT_SECONDS = 15.0
SPEAKER_SECONDS = 0.2
"""Between two events of the speaker's stream, of which each answer is one."""

_LANE = ThreadPoolExecutor(1, "rooms")
"""Where what followers see is made, once for all of them."""

_KEY = "x-room-key"
_NO_STORE = {"Cache-Control": "no-store"}
_STREAMED = _NO_STORE | {"X-Accel-Buffering": "no"}
_NONE_HERE = "You have no seat in a room with this code. It may have ended, or it is of another server."
_WRONG_CODE = "There is no room with this code. Look at the screen again: six letters."
_FULL = f"This room is full: {MAX_HERE} are here."
_CROWD = "Many are coming in at once. You are let in in a moment."

_guesses = Guesses()
_links: deque[float] = deque(maxlen=LINKS_PER_SECOND)


class RefusedError(Exception):
    """A refusal with its status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


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
        return await _make()
    if isinstance(message, requests.Join):
        return await _join(request, room_code, message)
    if isinstance(message, requests.Speakers):
        if not is_speaker:
            raise RefusedError(403, "Only the speaker does that. Their room may have ended.")
        return await _led(held, message)
    held = await _held(room_code, message.seat)
    return await _followed(held, message)


async def _read(request: Request, most: int) -> bytes:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise RefusedError(413, f"A message to a room has at most {most:,} bytes; this one has more.")
    return body


async def _held(code: str, seat: str) -> Held:
    """The room in which somebody has a seat. A wrong code and a wrong seat get the same answer."""
    held = await ROOMS.find(code)
    if held is not None and seat not in held.room.seats:
        await ROOMS.current(held)  # another process may have given it a moment ago
    if held is None or seat not in held.room.seats:
        raise RefusedError(403, _NONE_HERE)
    return held


async def _make() -> Response:
    _, secrets = await ROOMS.make()
    return _json(secrets)


async def _join(request: Request, code: str, message: requests.Join) -> Response:
    if message.seat:
        held = await _held(code, message.seat)
    else:
        held = await ROOMS.find(code) if message.link else await _by_code(request, code)
    if message.link and (held is None or not held.room.has_link(message.link)):
        raise RefusedError(404, "This link is of a room that has ended, or of another server.")
    if message.link:
        _count_link(time.monotonic())
    if message.seat:
        return _json({"code": held.room.code, "seat": message.seat})
    if held.room.code != code:  # the code of another device of the speaker's
        return await _take(held, code)
    if held.n_here >= MAX_HERE:
        raise RefusedError(503, _FULL)
    seat = new_secret()
    await ROOMS.do(held, commands.Join(time=time.time(), seat=seat))
    return _json({"code": code, "seat": seat})


async def _by_code(request: Request, code: str) -> Held:
    """The room of a code that somebody typed; one that tries many is not read for a while."""
    network, now = network_of(request.client.host if request.client else ""), time.monotonic()
    if wait := _guesses.wait(network, now):
        raise RefusedError(
            429,
            f"Too many wrong codes came from your network. Wait {wait:.0f} s, or scan the QR code: it lets you in.",
        )
    held = await ROOMS.find(code) or await ROOMS.offering(code)
    if held is None:
        _guesses.wrong(network, now)
        raise RefusedError(404, _WRONG_CODE)
    return held


def _count_link(now: float) -> None:
    if len(_links) == LINKS_PER_SECOND and now - _links[0] < 1:
        raise RefusedError(429, _CROWD)
    _links.append(now)


async def _take(held: Held, code: str) -> Response:
    secrets = {"key": new_secret(), "seat": new_secret()}
    taken = commands.Take(time=time.time(), code=code, key=hash_of(secrets["key"]), seat=secrets["seat"])
    await ROOMS.do(held, taken)
    return _json({"code": held.room.code} | secrets)


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
    return _json({})


async def _led(held: Held, message: requests.Speakers) -> Response:
    now = time.time()
    held.speaker = now
    match message:
        case requests.Move(at=at, question=question, moment=moment, is_shown=is_shown):
            place = await _in_lane(place_in, at, question, moment)
            await ROOMS.do(held, commands.Move(time=now, place=place, is_shown=is_shown))
            return _json({"number": held.room.number, "isOwn": place.is_own})
        case requests.Open(is_open=is_open):
            await ROOMS.do(held, commands.Open(time=now, is_open=is_open))
        case requests.Again():
            await ROOMS.do(held, commands.Again(time=now))
        case requests.Hand():
            code = new_code()
            await ROOMS.do(held, commands.Hand(time=now, code=code))
            return _json({"code": code})
        case requests.Counts():
            text = await _in_lane(table, held.room)
            return Response(text, media_type="text/csv", headers=_NO_STORE)
        case requests.End():
            await ROOMS.do(held, commands.End(time=now))
    return _json({})


async def _moment(request: Request) -> Response:
    """The moment that followers see, written once for all of them; none for a place that the class has left."""
    held = await _held(*_seat_of(request))
    place, number = held.room.place, request.query_params.get("shows", "")
    if place is None or number != str(held.room.shows):
        raise RefusedError(409, "The class has gone on meanwhile.")
    made = await _in_lane(_compressed, held.room, number)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(made, media_type="application/json", headers=_NO_STORE | {"Content-Encoding": "gzip"})
    return Response(gzip.decompress(made), media_type="application/json", headers=_NO_STORE)


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
    held = await _held(code, seat)
    if held.n_here >= MAX_HERE and seat not in held.streams and seat not in held.room.speakers:
        raise RefusedError(503, _FULL)
    if request.query_params.get("around") == "1":
        held.around.add(seat)
    known = request.headers.get("last-event-id", "")
    stream = _stream(held, seat, known)
    return StreamingResponse(stream, media_type="text/event-stream", headers=_STREAMED)


async def _stream(held: Held, seat: str, known: str) -> AsyncIterator[bytes]:
    """The class as it is now, and again whenever it is otherwise; and what this seat said, for who comes back."""
    is_speaker = seat in held.room.speakers
    held.streams[seat] += 1
    held.tell(speaker_alone=True)
    try:
        yield b"retry: 500\nevent: own\ndata: " + to_json({"answer": _own_answer(held.room, seat)}) + b"\n\n"
        while True:
            name, text = held.event(is_speaker)
            if name != known:
                yield b"id: " + name.encode() + b"\ndata: " + text + b"\n\n"
                known = name
            if held.room.has_ended:
                return
            if is_speaker:
                await asyncio.sleep(SPEAKER_SECONDS)
                if held.event(is_speaker)[0] != known:
                    continue
            if not await held.change(is_speaker, COMMENT_SECONDS):
                yield b": here\n\n"
    finally:
        held.streams[seat] -= 1
        if held.streams[seat] <= 0:
            del held.streams[seat]
            held.around.discard(seat)
        held.tell(speaker_alone=True)


def _own_answer(room: Room, seat: str) -> dict | None:
    question = room.question
    value = question.rounds[-1].get(seat) if question else None
    return None if value is None else {"number": room.number, "round": len(question.rounds), "value": value}


def _seat_of(request: Request) -> tuple[str, str]:
    return code_in(request.query_params.get("room", "")) or "", request.query_params.get("seat", "")


async def _in_lane(act, *arguments):
    return await asyncio.get_running_loop().run_in_executor(_LANE, act, *arguments)


def _json(data: dict) -> Response:
    return Response(to_json(data), media_type="application/json", headers=_NO_STORE)
