"""The door of a room: who comes in, by a code, a link or the seat that they have, and who is refused."""

from __future__ import annotations

import time
from collections import deque

from starlette.requests import Request

from attnviz.classroom import commands, requests
from attnviz.classroom.codes import hash_of, new_secret
from attnviz.classroom.guesses import Guesses, network_of
from attnviz.contract.classroom import Seat
from attnviz.server.room_store import ROOMS
from attnviz.server.rooms import MAX_HERE, Held

LINKS_PER_SECOND = 50
"""People who come in by a QR code's link: a lecture hall is one address, so this is for all of a process."""

_NONE_HERE = "You have no seat in a room with this code. It may have ended, or it is of another server."
_WRONG_CODE = "There is no room with this code. Look at the screen again: six letters."
FULL = f"This room is full: {MAX_HERE} are here."
_CROWD = "Many are coming in at once. You are let in in a moment."

_guesses = Guesses()
_links: deque[float] = deque(maxlen=LINKS_PER_SECOND)


class RefusedError(Exception):
    """A refusal with its status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def held_of(code: str, seat: str) -> Held:
    """The room in which somebody has a seat. A wrong code and a wrong seat get the same answer."""
    held = await ROOMS.find(code)
    if held is not None and seat not in held.room.seats:
        await ROOMS.current(held)  # another process may have given it a moment ago
    if held is None or seat not in held.room.seats:
        raise RefusedError(403, _NONE_HERE)
    return held


async def join(request: Request, code: str, message: requests.Join) -> Seat:
    """Let somebody in; another device of the speaker's gets a key too.

    Raises
    ------
    RefusedError
    """
    if message.seat:
        held = await held_of(code, message.seat)
    else:
        held = await ROOMS.find(code) if message.link else await _by_code(request, code)
    if message.link and (held is None or not held.room.has_link(message.link)):
        raise RefusedError(404, "This link is of a room that has ended, or of another server.")
    if message.link:
        _count_link(time.monotonic())
    if message.seat:
        return Seat(code=held.room.code, seat=message.seat)
    if held.room.code != code:  # the code of another device of the speaker's
        return await _take(held, code)
    if held.is_full:
        raise RefusedError(503, FULL)
    seat = new_secret()
    await ROOMS.do(held, commands.Join(time=time.time(), seat=seat))
    return Seat(code=code, seat=seat)


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


async def _take(held: Held, code: str) -> Seat:
    taken = Seat(code=held.room.code, seat=new_secret(), key=new_secret())
    await ROOMS.do(held, commands.Take(time=time.time(), code=code, key=hash_of(taken.key), seat=taken.seat))
    return taken
