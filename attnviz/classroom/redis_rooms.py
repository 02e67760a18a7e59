"""Rooms that all processes share through Redis, where each room is a stream of its commands.

A process that is asked for a room replays its stream, then follows it. A new command is appended to the stream and
acknowledged once this process has read it back: so all processes agree on the order, and a process that is lost loses
nothing that was acknowledged. While Redis is unreachable, a process goes on alone and shows that it does; afterwards it
appends what it applied meanwhile, or the whole room if Redis has lost it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from attnviz.classroom.codes import new_code, new_secret
from attnviz.classroom.commands import AnyCommand, End, Move, OfferDevice, RoomLog, read, to_json
from attnviz.classroom.room import OFFER_SECONDS, SECONDS, Room, RoomError
from attnviz.classroom.rooms import BUSY, MAX_IMAGES, WAKES_EVERYONE, LiveRoom, Presence, Rooms, check_room_limits

AWAY = (RedisError, OSError, TimeoutError)
AWAY_SECONDS = 2.0  # timeout after which Redis counts as unreachable
READ_MS = 1_000  # how long one read blocks for new commands
RESTORE_SECONDS = 5  # how long one process holds the lock for restoring a lost room
ENDED_SECONDS = 60  # how long Redis keeps a room that has ended, and presence counts
PRESENCE_SECONDS = 1.0  # between two exchanges of presence counts
STALE_SECONDS = 5.0
RETRY_SECONDS = 0.5
MAX_REFUSALS = 1_000  # refusals that a process remembers for those who sent the commands
_ROOMS = "attnviz:rooms"  # a hash of codes and the networks that opened these rooms
_log = logging.getLogger(__name__)
Entry = tuple[str, dict[str, str]]  # a stream id, and the command as JSON


@dataclass
class SharedLiveRoom(LiveRoom):
    """A live room, and how far its stream has been read."""

    commands: list[str] = field(default_factory=list)  # all, to restore a Redis that lost them
    unsent: list[str] = field(default_factory=list)  # the commands that were applied while Redis was unreachable
    position: str = "0-0"  # the id of the last entry read
    refusals: dict[str, str] = field(default_factory=dict)  # the refusals of recent entries, by id
    was_read: asyncio.Condition = field(default_factory=asyncio.Condition)
    reader: asyncio.Task | None = None


class SharedRooms(Rooms):
    """The rooms shared by all processes through the Redis at an address such as redis://127.0.0.1:6379."""

    kind = SharedLiveRoom

    def __init__(self, url: str) -> None:
        super().__init__()
        waits = {"socket_timeout": READ_MS / 1000 + AWAY_SECONDS, "socket_connect_timeout": AWAY_SECONDS}
        self._redis = Redis.from_url(url, decode_responses=True, **waits)
        self._name, self._finding = new_secret(), asyncio.Lock()  # this process's name among all

    async def check_limits(self, network: str) -> None:
        self.sweep()
        try:
            networks = await self._redis.hgetall(_ROOMS)
            for code in [*networks]:
                if not await self._redis.exists(_stream(code)):  # it has expired
                    del networks[code]
                    await self._redis.hdel(_ROOMS, code)
        except AWAY:
            return await super().check_limits(network)
        check_room_limits([*networks.values()], network)

    async def free_code(self, network: str) -> str:
        await self.check_limits(network)
        try:
            while not await self._redis.hsetnx(_ROOMS, code := new_code(), network):
                pass
            return code
        except AWAY:
            return await super().free_code(network)

    async def publish(self, live: SharedLiveRoom, commands: Sequence[AnyCommand]) -> LiveRoom:
        await super().publish(live, commands)
        live.commands = [to_json(command).decode() for command in commands]
        try:
            if not await self._redis.set(f"{_stream(live.room.code)}:again", self._name, nx=True, ex=RESTORE_SECONDS):
                del self.live[live.room.code]  # another process is opening it
                raise RoomError(BUSY, 503)
            *_, live.position = await self._append(live, live.commands)
        except AWAY:
            live.is_apart = True
            live.unsent = [*live.commands]
        live.reader = asyncio.create_task(self._follow(live))
        return live

    async def find(self, code: str) -> LiveRoom | None:
        async with self._finding:
            if code and code not in self.live:
                with suppress(*AWAY):
                    if entries := await self._redis.xrange(_stream(code)):
                        live = self.live[code] = SharedLiveRoom(Room.from_command(_command(entries[0])), speaker=0.0)
                        self._replay(live, entries)
                        live.reader = asyncio.create_task(self._follow(live))
        return await super().find(code)

    async def has_ended(self, code: str) -> bool:
        with suppress(*AWAY):
            if await self._redis.exists(_ended(code)):
                return True
        return await super().has_ended(code)

    async def find_by_offer(self, code: str) -> LiveRoom | None:
        try:
            room = await self._redis.get(_offer(code))
        except AWAY:
            return await super().find_by_offer(code)
        return await self.find(room) if room else None

    async def keep_image(self, live: LiveRoom, name: str, image: str) -> None:
        await super().keep_image(live, name, image)
        with suppress(*AWAY):
            async with self._redis.pipeline() as pipe:
                pipe.lpush(_images(live.room.code), msgspec.json.encode((name, image)))
                pipe.ltrim(_images(live.room.code), 0, MAX_IMAGES - 1)
                pipe.expire(_images(live.room.code), int(SECONDS))
                await pipe.execute()

    async def image(self, live: LiveRoom, name: str) -> str:
        if name and name not in live.images:
            with suppress(*AWAY):
                for kept in await self._redis.lrange(_images(live.room.code), 0, -1):
                    other, image = msgspec.json.decode(kept)
                    if other == name:
                        await super().keep_image(live, name, image)
        return await super().image(live, name)

    async def catch_up(self, live: SharedLiveRoom) -> None:
        with suppress(*AWAY):
            if last := await self._redis.xrevrange(_stream(live.room.code), count=1):
                await self._wait_until_read(live, last[0][0])

    async def do(self, live: SharedLiveRoom, command: AnyCommand) -> None:
        if refusal := live.room.refusal(command):
            raise RoomError(refusal)
        text = to_json(command).decode()
        if not live.is_apart:
            try:
                async with asyncio.timeout(AWAY_SECONDS):
                    (name,) = await self._append(live, [text], command)
                await self._wait_until_read(live, name)
            except AWAY:
                self._disconnect(live)
            else:
                if refusal := live.refusals.get(name):
                    raise RoomError(refusal)
                return
        live.unsent.append(text)
        live.commands.append(text)
        await super().do(live, command)

    async def run(self) -> None:
        await asyncio.gather(super().run(), self._exchange_presence())

    async def close(self) -> None:
        readers = [live.reader for live in self.live.values()]
        await super().close()  # first: a cancelled reader may take that for an unreachable Redis
        for task in readers:
            task.cancel()
        if readers:
            await asyncio.wait(readers, timeout=AWAY_SECONDS)
        await self._redis.aclose()

    async def _append(self, live: LiveRoom, texts: list[str], command: AnyCommand | None = None) -> list[str]:
        """Append commands to a room's stream; returns their ids. Without `command` the room is new or restored."""
        code = live.room.code
        async with self._redis.pipeline() as pipe:
            for text in texts:
                pipe.xadd(_stream(code), {"c": text})
            match command:
                case None | Move():
                    pipe.expire(_stream(code), int(SECONDS))
                    pipe.hsetnx(_ROOMS, code, live.network)
                case OfferDevice():
                    pipe.set(_offer(command.code), code, ex=int(OFFER_SECONDS))
                case End():
                    pipe.expire(_stream(code), ENDED_SECONDS)
                    pipe.delete(_images(code))
                    pipe.hdel(_ROOMS, code)
                    pipe.set(_ended(code), "1", ex=int(SECONDS))
            return (await pipe.execute())[: len(texts)]

    async def _wait_until_read(self, live: SharedLiveRoom, name: str) -> None:
        async with asyncio.timeout(AWAY_SECONDS), live.was_read:
            await live.was_read.wait_for(lambda: _order(live.position) >= _order(name))

    def _replay(self, live: SharedLiveRoom, entries: list[Entry]) -> None:
        live.room = Room.from_command(_command(entries[0]))
        live.log = RoomLog(live.room.speakers[0])
        live.commands = [parts["c"] for _, parts in entries]
        live.position = entries[-1][0]
        for entry in entries[1:]:
            with suppress(RoomError):
                live.apply(_command(entry))

    async def _follow(self, live: SharedLiveRoom) -> None:
        code = live.room.code
        while self.live.get(code) is live:
            try:
                if live.is_apart:
                    await self._rejoin(live)
                    continue
                streams = await self._redis.xread({_stream(code): live.position}, count=500, block=READ_MS)
            except AWAY:
                self._disconnect(live)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            for _, entries in streams:
                await self._apply_entries(live, entries)

    async def _apply_entries(self, live: SharedLiveRoom, entries: list[Entry]) -> None:
        async with live.was_read:
            for entry in entries:
                live.position = entry[0]
                live.commands.append(entry[1]["c"])
                try:
                    live.apply(_command(entry))
                except RoomError as error:
                    live.refusals[live.position] = str(error)
            while len(live.refusals) > MAX_REFUSALS:
                del live.refusals[next(iter(live.refusals))]
            live.was_read.notify_all()
        live.notify(speaker_alone=not any(isinstance(_command(entry), WAKES_EVERYONE) for entry in entries))

    def _disconnect(self, live: SharedLiveRoom) -> None:
        if not live.is_apart:
            _log.warning("Redis does not answer: rooms go on in each process by itself.")
            live.is_apart = True
            live.notify()

    async def _rejoin(self, live: SharedLiveRoom) -> None:
        """Append what was applied while Redis was unreachable, and rebuild the room."""
        stream = _stream(live.room.code)
        is_there = await self._redis.exists(stream)
        if not is_there and not await self._redis.set(f"{stream}:again", self._name, nx=True, ex=RESTORE_SECONDS):
            await asyncio.sleep(RETRY_SECONDS)  # another process is restoring it
            return
        # copied now, as commands were acknowledged while this waited
        missing = [*(live.unsent if is_there else live.commands)]
        while True:  # more may be acknowledged while this appends
            n_added = len(live.unsent)
            await self._append(live, missing)
            entries = await self._redis.xrange(stream)
            if not (missing := live.unsent[n_added:]):
                break
        self._replay(live, entries)
        live.unsent.clear()
        live.is_apart = False
        live.notify()

    async def _exchange_presence(self) -> None:
        while True:
            await asyncio.sleep(PRESENCE_SECONDS)
            for live in [*self.live.values()]:
                with suppress(*AWAY):
                    await self._exchange_presence_of(live)

    async def _exchange_presence_of(self, live: LiveRoom) -> None:
        """Publish this process's presence counts, and add up the latest ones of all others."""
        key, now, here = f"{_stream(live.room.code)}:here", time.time(), live.presence
        async with self._redis.pipeline() as pipe:
            pipe.hset(key, self._name, msgspec.json.encode((here.here, here.around, here.speaker, now)))
            pipe.expire(key, ENDED_SECONDS)
            pipe.hgetall(key)
            *_, published = await pipe.execute()
        counts = [msgspec.json.decode(text) for name, text in published.items() if name != self._name]
        fresh = [(here, around) for here, around, _, when in counts if now - when < STALE_SECONDS]
        speaker = max((speaker for _, _, speaker, _ in counts), default=0.0)
        before = live.others
        live.others = Presence(sum(here for here, _ in fresh), sum(around for _, around in fresh), speaker)
        if (live.others.here, live.others.around) != (before.here, before.around):
            live.notify(speaker_alone=True)


def _stream(code: str) -> str:
    return f"attnviz:room:{code}"


def _ended(code: str) -> str:
    return f"{_stream(code)}:ended"


def _images(code: str) -> str:
    return f"attnviz:room:{code}:images"


def _offer(code: str) -> str:
    return f"attnviz:hand:{code}"


def _command(entry: Entry) -> AnyCommand:
    return read(entry[1]["c"])


def _order(name: str) -> tuple[int, ...]:
    """A stream id as numbers that sort by time."""
    return tuple(map(int, name.split("-")))
