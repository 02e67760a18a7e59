"""Reopening a room that the server has lost, from the log that the speaker's browser has kept.

The log is a request like any other: read strictly, its places computed again, its commands applied by the room's own
rules. Its sender can change their own room alone: seats are signed anew by the hash of their key.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress

import msgspec
from msgspec import structs

from attnviz.classroom.codes import hash_of, signed_seat
from attnviz.classroom.commands import AnyCommand, End, Make, Move, PairDevice, Place
from attnviz.classroom.questions import place_in
from attnviz.classroom.requests import Reopen
from attnviz.classroom.room import MAX_QUESTIONS, Room, RoomError
from attnviz.classroom.room_entry import ENDED
from attnviz.classroom.rooms import LiveRoom, Rooms
from attnviz.lessons.talk import TalkMoment

MAX_PLACES = 2 * MAX_QUESTIONS  # places of a log whose moment is computed again
_FOREIGN = "This is no log of a class that attnviz’s pages keep. Open a new class."


def read_log(texts: Sequence[str], key: str, now: float) -> list[AnyCommand]:
    """The commands of a log, for the hash of the speaker's key; raises RoomError unless `RoomLog` could have made it.
    Where its clock was ahead of ours, all its times are set back.
    """
    try:
        logged = [msgspec.json.decode(text, type=AnyCommand) for text in texts]
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise RoomError(_FOREIGN) from None
    ahead = max((each.time - now for each in logged), default=0.0)
    places, commands = [], []
    for each in logged:
        command = structs.replace(each, time=each.time - max(ahead, 0.0))
        match command:
            case Make():
                raise RoomError(_FOREIGN)
            case End():
                raise RoomError(ENDED, 410)
            case Move(place=Place(at=at)) if at.startswith("#"):
                command = structs.replace(command, place=_listed(at, places))
            case Move(place=place):
                places.append(place)
            case _ if hasattr(command, "seat") and not isinstance(command, PairDevice):
                seat = signed_seat(command.seat, key)
                if seat is None:
                    raise RoomError(_FOREIGN)
                command = structs.replace(command, seat=seat)
        commands.append(command)
    return commands


def _listed(at: str, places: Sequence[Place]) -> Place:
    """The place that a log names by its number."""
    nth = at[1:]
    if not (nth.isascii() and nth.isdigit() and len(nth) < 9 and int(nth) < len(places)):
        raise RoomError(_FOREIGN)
    return places[int(nth)]


def places_to_check(commands: Iterable[AnyCommand]) -> list[Place]:
    """The places of a log that followers are shown again or whose answers are counted; raises RoomError if too many."""
    places = [each.place for each in commands if isinstance(each, Move)]
    wanted = dict.fromkeys([*(each for each in places if each.kind != "pass" or each.takes), *places[-1:]])
    if len(wanted) > MAX_PLACES:
        raise RoomError(f"A class can be reopened with {MAX_PLACES} moments; this one has more. Open a new class.")
    return [*wanted]


def checked_place(place: Place) -> Place:
    """A place of a log as this server has it. Raises RoomError if there is none."""
    if place.is_own:
        return Place("", is_own=True)
    try:
        moment = msgspec.json.decode(place.moment, type=TalkMoment) if place.moment else None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise RoomError(_FOREIGN) from None
    return place_in(place.at, place.question, moment)


def replay(live: LiveRoom, commands: Sequence[AnyCommand], places: Mapping[Place, Place]) -> list[AnyCommand]:
    """Apply a log's commands, and return those that the room accepts."""
    accepted = []
    for command in commands:
        if isinstance(command, Move):
            command = structs.replace(command, place=places.get(command.place, command.place))
        with suppress(RoomError):
            live.apply(command)
            accepted.append(command)
    return accepted


InQueue = Callable[..., Awaitable]


async def reopened(rooms: Rooms, code: str, key: str, message: Reopen, network: str, in_queue: InQueue) -> LiveRoom:
    """The room of this speaker's key: the live one if there is one, else reopened from its log. It has a new code if
    somebody else has taken its own. `in_queue` runs CPU-heavy work.
    """
    if live := await rooms.find_by_key(code, key):
        return live
    if not (code and key and message.seat and message.link):
        raise RoomError(_FOREIGN)
    if await rooms.has_ended(code):
        raise RoomError(ENDED, 410)
    await rooms.check_limits(network)
    commands = await in_queue(read_log, message.commands, hash_of(key), now := time.time())
    places = {place: await in_queue(checked_place, place) for place in places_to_check(commands)}
    if await rooms.find(code):
        code = await rooms.free_code(network)
    begun = min((each.time for each in commands), default=now)
    made = Make(time=begun, code=code, key=hash_of(key), link=hash_of(message.link), seat=message.seat, is_again=True)
    live = rooms.kind(Room.from_command(made), network=network)
    accepted = await in_queue(replay, live, commands, places)
    if live.room.is_over(now):
        raise RoomError(ENDED, 410)
    return await rooms.publish(live, [made, *accepted])
