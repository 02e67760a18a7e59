"""The door of a room: who comes in, by a code, a link or the seat that they have, and who is refused."""

from __future__ import annotations

import asyncio
import math
import time

from starlette.requests import Request

from attnviz.classroom import commands, requests
from attnviz.classroom.codes import hash_of, new_seat, new_secret, seat_age
from attnviz.classroom.networks import TokenBuckets, network_of
from attnviz.classroom.room import SEAT_SECONDS, RoomError
from attnviz.classroom.room_store import ROOMS
from attnviz.classroom.rooms import MAX_HERE, Held
from attnviz.contract.classroom import Seat

_NONE_HERE = "You have no seat in a room with this code. It may have ended, or it is of another server."
_WRONG_CODE = "There is no room with this code. Look at the screen again: six letters."
FULL = f"This room is full: {MAX_HERE} are here."
_MANY_CODES = (
    "Many wrong codes come from your network, so codes are read in turn. Scan the QR code, or try again in a moment."
)
_CROWD = "Many are coming in at once. You are let in in a moment."

CODES = TokenBuckets(burst=30, per_second=9, longest_wait=10)
"""Typed codes of a network: past 30 wrong ones each code, right or wrong, waits its turn."""

SEATS = TokenBuckets(burst=600, per_second=200 / 60)
"""New seats of a network that were got by a typed code."""

NEW_ROOMS = TokenBuckets(burst=5, per_second=5 / 60)
"""Rooms that a network opens."""

MESSAGES = TokenBuckets(burst=3_000, per_second=10)
"""All that a room keeps of a network's followers: 75,000 in two hours, so no network uses up its 100,000 alone."""

LINKS = TokenBuckets(burst=50, per_second=50)
"""People of a network who come into a room by its QR code's link: a lecture hall comes from one address."""


class RefusedError(Exception):
    """A refusal with its status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def held_of(code: str, seat: str) -> Held:
    """The room in which somebody has a seat. A wrong code and a wrong seat get the same answer."""
    held = await ROOMS.find(code)
    if held is None:
        raise RefusedError(403, _NONE_HERE)
    is_new = seat_age(seat, held.room.keys[0], time.time()) <= SEAT_SECONDS
    if not is_new and seat not in held.streams and seat not in held.room.seats:
        await ROOMS.current(held)  # it may have been used in another process a moment ago
        if seat not in held.room.seats:
            raise RefusedError(403, _NONE_HERE)
    return held


async def seated(request: Request, code: str, seat: str) -> Held:
    """The room in which somebody uses a seat, which it remembers from then on."""
    held = await held_of(code, seat)
    if seat not in held.room.seats:  # new, or forgotten while its stream is open
        count_message(request, code)
        await ROOMS.do(held, commands.Join(time=time.time(), seat=seat))
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
    if message.link and LINKS.take(f"{network(request)} {code}", time.monotonic()) is None:
        raise RefusedError(429, _CROWD)
    if message.seat:
        return Seat(code=held.room.code, seat=message.seat)
    if held.room.code != code:  # the code of another device of the speaker's
        return await _take(held, code)
    if held.is_full:
        raise RefusedError(503, FULL)
    if not message.link:
        _count(SEATS, network(request), "New seats are given to your network one after the other")
    seat = new_seat(held.room.keys[0], time.time())
    if refusal := held.room.refusal(commands.Join(time=time.time(), seat=seat)):
        raise RoomError(refusal)
    return Seat(code=code, seat=seat)


async def _by_code(request: Request, code: str) -> Held:
    """The room of a code that somebody typed."""
    wait = CODES.take(network(request), time.monotonic())
    if wait is None:
        raise RefusedError(429, _MANY_CODES)
    if wait:
        await asyncio.sleep(wait)
    held = await ROOMS.find(code) or await ROOMS.offering(code)
    if held is None:
        raise RefusedError(404, _WRONG_CODE)
    if not wait:  # right codes use up nothing until wrong ones have
        CODES.give_back(network(request))
    return held


def network(request: Request) -> str:
    """The network that a request comes from."""
    return network_of(request.client.host if request.client else "")


def count_message(request: Request, code: str) -> None:
    """Count what a room is to keep of a follower.

    Raises
    ------
    RefusedError
    """
    _count(MESSAGES, f"{network(request)} {code}", "Too many messages come from your network at once")


def count_room(request: Request) -> None:
    """Count a room that is to be opened.

    Raises
    ------
    RefusedError
    """
    _count(NEW_ROOMS, network(request), "Your network has opened several rooms within a minute")


def _count(buckets: TokenBuckets, key: str, reason: str) -> None:
    if buckets.take(key, now := time.monotonic()) is None:
        raise RefusedError(429, f"{reason}. Wait {math.ceil(buckets.wait(key, now))} s.")


async def _take(held: Held, code: str) -> Seat:
    taken = Seat(code=held.room.code, seat=new_secret(), key=new_secret())
    await ROOMS.do(held, commands.Take(time=time.time(), code=code, key=hash_of(taken.key), seat=taken.seat))
    return taken
