"""The routes of rooms: requests to a room, its event stream, the moment that followers see, and the counts as CSV."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial

from msgspec import structs
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from attnviz.classroom import commands, requests
from attnviz.classroom.answer_tables import counts_table, seats_table
from attnviz.classroom.codes import code_in, hash_of, host_name, new_code
from attnviz.classroom.commands import Place
from attnviz.classroom.fair_queue import FairQueue, Result
from attnviz.classroom.http import NO_STORE, TooLargeError, compressed_response, json_response, read_body
from attnviz.classroom.light import light_moment_at
from attnviz.classroom.questions import check_image, image_name, moment_at, place_in, with_image
from attnviz.classroom.reopening import reopened
from attnviz.classroom.room import Room, RoomError, one_line
from attnviz.classroom.room_entry import FULL, ROOMS, count_message, count_room, join, network, room_of_seat, seated
from attnviz.classroom.rooms import LiveRoom
from attnviz.contract.classroom import Led, Offer, OwnAnswer, OwnNow, Seat
from attnviz.scene.document.encoding import Json, to_json

COMMENT_SECONDS = 15.0
SPEAKER_SECONDS = 0.2  # least time between two events of the speaker's stream: each answer makes one


async def stream(live: LiveRoom, seat: str, known: str, known_log: str = "") -> AsyncIterator[bytes]:
    """Server-sent events: this seat's own answer, then the class's state now and after every change. The browser that
    opened the room also gets the rest of the room's log, before the state that it leads to.
    """
    is_speaker = seat in live.room.speakers
    log = live.log if known_log and seat == live.log.seat else None
    n_logged = log.start(known_log) if log else 0
    live.streams[seat] += 1
    live.notify(speaker_alone=True)
    try:
        yield b"retry: 500\nevent: own\ndata: " + to_json(_now_for_seat(live.room, seat)) + b"\n\n"
        while seat not in live.room.forgotten:
            if log:
                if log is not live.log:  # rebuilt by all processes together
                    log, n_logged = live.log, 0
                if n_logged < len(log.texts):
                    part, n_logged = log.part(n_logged), len(log.texts)
                    yield b"event: log\ndata: " + to_json(part) + b"\n\n"
            name, text = live.event(is_speaker)
            if name != known:
                yield b"id: " + name.encode() + b"\ndata: " + text + b"\n\n"
                known = name
            if live.room.has_ended:
                return
            if is_speaker:
                await asyncio.sleep(SPEAKER_SECONDS)
            # it changed while that was being sent, so nothing will wake this stream
            if live.event(is_speaker)[0] != known or (log and (log, n_logged) != (live.log, len(log.texts))):
                continue
            if not await live.wait_for_change(is_speaker, COMMENT_SECONDS):
                yield b": here\n\n"
    finally:
        live.streams[seat] -= 1
        if live.streams[seat] <= 0:
            del live.streams[seat]
            live.around.discard(seat)
        live.notify(speaker_alone=True)


def _now_for_seat(room: Room, seat: str) -> OwnNow:
    wondered = room.wondered.get(seat)
    votes = [each.id for each in room.shown_questions if seat in each.votes]
    return OwnNow(answers=[*_answers_of_seat(room, seat)], wondered=wondered.text if wondered else "", votes=votes)


def _answers_of_seat(room: Room, seat: str) -> Iterator[OwnAnswer]:
    for each in room.questions.values():
        if seat in each.rounds[-1]:
            value, sure = each.rounds[-1][seat], each.sure[-1].get(seat, 0)
            yield OwnAnswer(question=each.number, round=len(each.rounds), value=value, sure=sure)


Respond = Callable[[Request], Awaitable[Response]]
PATH, EVENTS_PATH, NOW_PATH, MOMENT_PATH = "/room", "/room/events", "/room/now", "/room/moment"
REOPEN_PATH = "/room/reopen"
_QUEUE = FairQueue("rooms")  # computes moments, once per room; the room that used it least is next
_KEY = "x-room-key"
_LARGE_LOG = (
    f"A class is reopened from at most {requests.MAX_LOG_BYTES // 1_000_000} MB; this one has more. Open a new class."
)


def routes() -> list[BaseRoute]:
    """The routes of rooms, under any mount path."""
    return [
        Route(f"/{{base:path}}{EVENTS_PATH[1:]}", _with_refusals(_events), methods=["GET"]),
        Route(f"/{{base:path}}{NOW_PATH[1:]}", _with_refusals(_now), methods=["GET"]),
        Route(f"/{{base:path}}{MOMENT_PATH[1:]}", _with_refusals(_moment), methods=["GET"]),
        Route(f"/{{base:path}}{REOPEN_PATH[1:]}", _with_refusals(_reopen), methods=["POST"]),
        Route(f"/{{base:path}}{PATH[1:]}", _with_refusals(_message), methods=["POST"]),
    ]


def _with_refusals(respond: Respond) -> Respond:
    async def answer(request: Request) -> Response:
        try:
            return await respond(request)
        except RoomError as error:
            return PlainTextResponse(str(error), error.status)
        except ClientDisconnect:
            return PlainTextResponse("", 400)

    return answer


async def _message(request: Request) -> Response:
    room_code = code_in(request.query_params.get("room", "")) or ""
    live = await ROOMS.find(room_code) if _KEY in request.headers else None
    is_speaker = live is not None and live.room.has_key(request.headers[_KEY])
    most = requests.MAX_SPEAKER_BYTES if is_speaker else requests.MAX_BYTES
    try:
        message = requests.read(await read_body(request, most))
    except TooLargeError:
        raise RoomError(f"A message to a room has at most {most:,} bytes; this one has more.", 413) from None
    if isinstance(message, requests.Make):
        count_room(request)
        _, seat = await ROOMS.make(network(request))
        return json_response(to_json(seat))
    if isinstance(message, requests.Join):
        return json_response(to_json(await join(request, room_code, message)))
    if isinstance(message, requests.Speakers):
        if not is_speaker:
            raise RoomError("Only the speaker does that. Their room may have ended.", 403)
        return await _lead(live, message)
    live = await seated(request, room_code, message.seat)
    if isinstance(message, requests.Around):
        (live.around.add if message.is_around else live.around.discard)(message.seat)
        live.notify(speaker_alone=True)
    else:
        count_message(request, room_code)
        await ROOMS.do(live, structs.replace(_cleaned(message), time=time.time()))
    return json_response(b"{}")


async def _reopen(request: Request) -> Response:
    """Reopen a room from the log that its speaker's browser has kept."""
    code, key = code_in(request.query_params.get("room", "")) or "", request.headers.get(_KEY, "")
    count_room(request)
    try:
        message = requests.read(await read_body(request, requests.MAX_LOG_BYTES), requests.Reopen)
    except TooLargeError:
        raise RoomError(_LARGE_LOG, 413) from None
    live = await reopened(ROOMS, code, key, message, network(request), partial(_QUEUE.run, (code, "")))
    return json_response(to_json(Seat(code=live.room.code, seat=message.seat, host=host_name(hash_of(key)))))


def _cleaned(message: requests.Followers) -> requests.Followers:
    match message:
        case commands.Answer(value=str(text)):
            return structs.replace(message, value=one_line(text))
        case commands.Wonder(text=text):
            return structs.replace(message, text=one_line(text))
    return message


def _led(live: LiveRoom, *, lacks_image: bool = False) -> Led:
    room = live.room
    is_own = bool(room.place and room.place.is_own)
    return Led(number=room.number, leads=room.leads, is_own=is_own, lacks_image=lacks_image)


async def _lead(live: LiveRoom, message: requests.Speakers) -> Response:
    now = time.time()
    live.speaker = now
    match message:
        case requests.Move(at=at, question=question, moment=moment, image=image):
            place = await _in_queue(live, place_in, at, question, moment)
            name = image_name(place)
            if name and image:
                check_image(image)
                await ROOMS.keep_image(live, name, image)
            elif name and image is None and not await ROOMS.image(live, name):
                return json_response(to_json(_led(live, lacks_image=True)))
            shown = {"is_shown": message.is_shown, "shows_class": message.shows_class}
            await ROOMS.do(live, commands.Move(time=now, place=place, **shown))
            return json_response(to_json(_led(live)))
        case requests.OfferDevice():
            code = new_code()
            await ROOMS.do(live, commands.OfferDevice(time=now, code=code))
            return json_response(to_json(Offer(code=code)))
        case requests.Counts(by=by):
            text = await _in_queue(live, seats_table if by == "seat" else counts_table, live.room)
            return Response(text, media_type="text/csv", headers=NO_STORE)
        case commands.Command():
            await ROOMS.do(live, structs.replace(message, time=now))
    return json_response(b"{}")


async def _moment(request: Request) -> Response:
    """The moment that followers see, computed once for all; an error for a place that the class has left. It is the
    light one (`light`), unless a follower opens its picture: `whole=1`.
    """
    live = await room_of_seat(*_seat_of(request))
    place, number = live.room.place, request.query_params.get("shows", "")
    if place is None or number != str(live.room.shows):
        raise RoomError("The class has gone on meanwhile.", 409)
    is_whole = request.query_params.get("whole") == "1"
    image = await ROOMS.image(live, image_name(place))
    made = await _in_queue(live, _compressed_moment, live.room.code, place, is_whole, image)
    return compressed_response(request, made, NO_STORE)


# the latest moment of each room, whole or light: its place, whether with an image, and its gzipped JSON
_latest_moments: dict[tuple[str, bool], tuple[tuple[Place, bool], bytes]] = {}


def _compressed_moment(code: str, place: Place, is_whole: bool, image: str) -> bytes:
    shown = place.shown if is_whole else place, bool(image)  # a process that has just found the room may lack it
    latest = _latest_moments.get((code, is_whole))
    if latest is None or latest[0] != shown:
        for key in [key for key in _latest_moments if key[0] not in ROOMS.live]:
            _latest_moments.pop(key, None)
        made = with_image(moment_at(place) if is_whole else light_moment_at(place), image)
        latest = _latest_moments[code, is_whole] = shown, gzip.compress(made, 6)
    return latest[1]


async def _now(request: Request) -> Response:
    """What the event stream says, for a follower whose network holds it back."""
    live, seat = await _present(request)
    live.polled[seat] = time.time()
    (live.around.add if request.query_params.get("around") == "1" else live.around.discard)(seat)
    state = Json(live.event(seat in live.room.speakers)[1])
    said = {"own": _now_for_seat(live.room, seat), "now": state}
    known_log = request.query_params.get("log", "")
    if known_log and seat == live.log.seat:
        said["log"] = live.log.part(live.log.start(known_log))
    return json_response(to_json(said))


async def _events(request: Request) -> Response:
    live, seat = await _present(request)
    if request.query_params.get("around") == "1":
        live.around.add(seat)
    known_log = request.query_params.get("log", "")
    events = stream(live, seat, request.headers.get("last-event-id", ""), known_log)
    return StreamingResponse(events, media_type="text/event-stream", headers=NO_STORE | {"X-Accel-Buffering": "no"})


async def _present(request: Request) -> tuple[LiveRoom, str]:
    """The room and seat of somebody who is there from now on, unless the room is full."""
    code, seat = _seat_of(request)
    live = await room_of_seat(code, seat)
    if live.is_full and not live.has(seat):
        raise RoomError(FULL, 503)
    return await seated(request, code, seat), seat


def _seat_of(request: Request) -> tuple[str, str]:
    return code_in(request.query_params.get("room", "")) or "", request.query_params.get("seat", "")


async def _in_queue(live: LiveRoom, work: Callable[..., Result], *arguments: object) -> Result:
    return await _QUEUE.run((live.room.code, ""), work, *arguments)
