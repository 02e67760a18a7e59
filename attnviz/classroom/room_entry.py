"""The room store of this process, and admission to a room by a code, a link or a seat."""

from __future__ import annotations

import asyncio
import math
import os
import time

from starlette.requests import Request

from attnviz.classroom import commands, requests
from attnviz.classroom.codes import hash_of, host_name, new_seat, new_secret, seat_age
from attnviz.classroom.http import TokenBuckets, network_of
from attnviz.classroom.room import SEAT_SECONDS, SECONDS, RoomError
from attnviz.classroom.rooms import MAX_HERE, LiveRoom, Rooms
from attnviz.contract.classroom import Seat


def rooms_at(url: str) -> Rooms:
    """The store at an address such as redis://127.0.0.1:6379; without an address, this process's memory."""
    if not url:
        return Rooms()
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise SystemExit(f"ATTNVIZ_ROOMS takes the address of a Redis, as in redis://127.0.0.1:6379; it is {url!r}.")
    try:
        from attnviz.classroom.redis_rooms import SharedRooms
    except ModuleNotFoundError:
        raise SystemExit("ATTNVIZ_ROOMS needs the package redis: pip install 'attnviz[rooms]'.") from None
    return SharedRooms(url)


ROOMS = rooms_at(os.environ.get("ATTNVIZ_ROOMS", ""))  # the room store of this process
_NONE_HERE = "You have no seat in a room with this code. It may have ended, or it is of another server."
ENDED = "The class has ended."
_FORGOTTEN = "The speaker has forgotten this device: it leads no longer. Type the code of the class to follow it."
_WRONG_CODE = "There is no room with this code. Look at the screen again: six letters."
FULL = f"This room is full: {MAX_HERE} are here."
_MANY_CODES = (
    "Many wrong codes come from your network, so codes are read in turn. Scan the QR code, or try again in a moment."
)
_CROWD = "Many are coming in at once. You are let in in a moment."
CODES = TokenBuckets(burst=30, per_second=9, longest_wait=10)  # typed codes per network; then each one waits
SEATS = TokenBuckets(burst=600, per_second=200 / 60)  # new seats per network by a typed code
NEW_ROOMS = TokenBuckets(burst=5, per_second=5 / 60)  # new rooms per network
MESSAGES = TokenBuckets(burst=3_000, per_second=10)  # messages per network and room, 75,000 in two hours
LINKS = TokenBuckets(burst=50, per_second=50)  # per network and room by a QR code: a hall shares one address


async def room_of_seat(code: str, seat: str) -> LiveRoom:
    """The room of a seat. A wrong code and a wrong seat get the same error."""
    live = await ROOMS.find(code)
    if live is None:
        if await ROOMS.has_ended(code):
            raise RoomError(ENDED, 410)
        raise RoomError(_NONE_HERE, 403)
    if seat in live.room.forgotten:
        raise RoomError(_FORGOTTEN, 410)
    most = SECONDS if live.room.is_again else SEAT_SECONDS
    is_new = seat_age(seat, live.room.keys[0], time.time()) <= most
    if not is_new and seat not in live.streams and seat not in live.room.seats:
        await ROOMS.catch_up(live)  # another process may have just seen it
        if seat not in live.room.seats:
            raise RoomError(_NONE_HERE, 403)
    return live


async def seated(request: Request, code: str, seat: str) -> LiveRoom:
    """The room of a seat that is now in use, and therefore stored."""
    live = await room_of_seat(code, seat)
    if seat not in live.room.seats:  # new, or forgotten while its stream is open
        count_message(request, code)
        await ROOMS.do(live, commands.Join(time=time.time(), seat=seat))
    return live


async def join(request: Request, code: str, message: requests.Join) -> Seat:
    """Give out a seat; another of the speaker's devices also gets a key."""
    if message.seat:
        live = await room_of_seat(code, message.seat)
    else:
        live = await ROOMS.find(code) if message.link else await _by_code(request, code)
    if message.link and (live is None or not live.room.has_link(message.link)):
        raise RoomError("This link is of a room that has ended, or of another server.", 404)
    if message.link and LINKS.take(f"{network(request)} {code}", time.monotonic()) is None:
        raise RoomError(_CROWD, 429)
    host = host_name(live.room.keys[0])
    if message.seat:
        return Seat(code=live.room.code, seat=message.seat, host=host)
    if live.room.code != code:  # the code offered to another of the speaker's devices
        device = Seat(code=live.room.code, seat=new_secret(), host=host, key=new_secret())
        pair = commands.PairDevice(time=time.time(), code=code, key=hash_of(device.key), seat=device.seat)
        await ROOMS.do(live, pair)
        return device
    if live.is_full:
        raise RoomError(FULL, 503)
    if not message.link:
        _count(SEATS, network(request), "New seats are given to your network one after the other")
    seat = new_seat(live.room.keys[0], time.time())
    if refusal := live.room.refusal(commands.Join(time=time.time(), seat=seat)):
        raise RoomError(refusal)
    return Seat(code=code, seat=seat, host=host)


async def _by_code(request: Request, code: str) -> LiveRoom:
    wait = CODES.take(network(request), time.monotonic())
    if wait is None:
        raise RoomError(_MANY_CODES, 429)
    if wait:
        await asyncio.sleep(wait)
    live = await ROOMS.find(code) or await ROOMS.find_by_offer(code)
    if live is None:
        raise RoomError(_WRONG_CODE, 404)
    if not wait:  # right codes are free, until wrong ones have used up the burst
        CODES.give_back(network(request))
    return live


def network(request: Request) -> str:
    """The network of a request."""
    return network_of(request.client.host if request.client else "")


def count_message(request: Request, code: str) -> None:
    """Count a follower's message that a room will keep, or refuse it."""
    _count(MESSAGES, f"{network(request)} {code}", "Too many messages come from your network at once")


def count_room(request: Request) -> None:
    """Count a new room, or refuse it."""
    _count(NEW_ROOMS, network(request), "Your network has opened several rooms within a minute")


def _count(buckets: TokenBuckets, key: str, reason: str) -> None:
    if buckets.take(key, now := time.monotonic()) is None:
        raise RoomError(f"{reason}. Wait {math.ceil(buckets.wait(key, now))} s.", 429)
