"""Shared rooms: all processes that serve have the same ones, by way of Redis. A room is a stream of its commands there.

A process replays the commands of a room that somebody asks it for, and reads those that others add from then on. What
somebody does is added to the stream, and acknowledged once this process has read it back: so all processes agree on the
order, and what was acknowledged is lost with none of them. Where Redis is away, a process goes on by itself with what
it knows, and says so; when it is back, it adds what was done meanwhile, or all of the room if Redis has forgotten it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from attnviz.classroom.codes import new_code, new_secret
from attnviz.classroom.commands import AnyCommand, End, Hand, Make, Move, read, written
from attnviz.classroom.room import HAND_SECONDS, SECONDS, Room, RoomError
from attnviz.server.rooms import FOR_ALL, MAX_ROOMS, Held, Presence, Rooms, too_many

AWAY_SECONDS = 2.0
"""Until Redis counts as away."""

READ_MS = 1_000
"""How long one request waits for what others add."""

BEAT_SECONDS = 1.0
"""Between two messages of who is here by way of this process."""

STALE_SECONDS = 5.0
RETRY_SECONDS = 0.5
RESULTS = 1_000
"""Commands of which a process remembers what came of them, until who sent them asks."""

_ROOMS = "attnviz:rooms"
_AWAY = (RedisError, OSError, TimeoutError)
_log = logging.getLogger(__name__)


@dataclass
class HeldShared(Held):
    """A room as this process has it, and how far it has read its commands.

    Attributes
    ----------
    commands : list of bytes
        All of them, to tell a Redis that has forgotten them.
    apart : list of bytes
        Those that were done while Redis was away.
    position : str
        The id of the command that was read last.
    results : dict of str to RoomError or None
        What came of the commands that were read last, by their ids.
    was_read : asyncio.Condition
    """

    commands: list[bytes] = field(default_factory=list)
    apart: list[bytes] = field(default_factory=list)
    position: str = "0-0"
    results: OrderedDict[str, RoomError | None] = field(default_factory=OrderedDict)
    was_read: asyncio.Condition = field(default_factory=asyncio.Condition)
    reading: asyncio.Task | None = None


class SharedRooms(Rooms):
    """The rooms that all processes share.

    Parameters
    ----------
    url : str
        Where Redis is, as in redis://127.0.0.1:6379.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        waits = {"socket_timeout": READ_MS / 1000 + AWAY_SECONDS, "socket_connect_timeout": AWAY_SECONDS}
        self._redis = Redis.from_url(url, **waits)
        self._name = new_secret()
        self._finding = asyncio.Lock()

    async def free_code(self) -> str:
        self.sweep()
        now = time.time()
        try:
            await self._redis.zremrangebyscore(_ROOMS, "-inf", now - SECONDS)
            if await self._redis.zcard(_ROOMS) >= MAX_ROOMS:
                raise too_many()
            code = new_code()
            while not await self._redis.zadd(_ROOMS, {code: now}, nx=True):
                code = new_code()
        except _AWAY:
            return await super().free_code()
        return code

    def holding(self, made: Make) -> Held:
        return HeldShared(Room.made(made))

    async def begun(self, held: HeldShared, made: Make) -> None:
        text = written(made)
        held.commands.append(text)
        try:
            held.position = _text(await self._redis.xadd(_stream(made.code), {"c": text}))
            await self._redis.expire(_stream(made.code), int(SECONDS))
        except _AWAY:
            held.is_apart = True
            held.apart.append(text)
        self._read(held)

    async def find(self, code: str) -> Held | None:
        async with self._finding:
            if code not in self.held and code:
                with suppress(*_AWAY):
                    await self._load(code)
        return await super().find(code)

    async def offering(self, code: str) -> Held | None:
        try:
            room = await self._redis.get(_hand(code))
        except _AWAY:
            return await super().offering(code)
        return await self.find(_text(room)) if room else None

    async def current(self, held: HeldShared) -> None:
        """Wait until all is read that was added before."""
        try:
            last = await self._redis.xrevrange(_stream(held.room.code), count=1)
            if last:
                await self._until(held, lambda: _order(held.position) >= _order(_text(last[0][0])))
        except _AWAY:
            pass

    async def do(self, held: HeldShared, command: AnyCommand) -> None:
        if refusal := held.room.refusal(command):
            raise RoomError(refusal)
        text = written(command)
        if not held.is_apart:
            try:
                name = await self._added(held, command, text)
                await self._until(held, lambda: name in held.results)
            except _AWAY:
                self._part(held)
            else:
                if refused := held.results.get(name):
                    raise refused
                return
        held.apart.append(text)
        held.commands.append(text)
        await super().do(held, command)

    async def run(self) -> None:
        """Sweep, and tell the other processes who is here, for as long as the process lasts."""
        beat = asyncio.create_task(self._beat())
        try:
            await super().run()
        finally:
            beat.cancel()

    async def close(self) -> None:
        reading = [held.reading for held in self.held.values()]
        await super().close()  # first: one that is cancelled may take it for a Redis that is away
        for task in reading:
            task.cancel()
        if reading:
            await asyncio.wait(reading, timeout=AWAY_SECONDS)
        await self._redis.aclose()

    async def _added(self, held: HeldShared, command: AnyCommand, text: bytes) -> str:
        code = held.room.code
        async with asyncio.timeout(AWAY_SECONDS):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.xadd(_stream(code), {"c": text})
                match command:
                    case Move():
                        pipe.expire(_stream(code), int(SECONDS))
                        pipe.zadd(_ROOMS, {code: command.time})
                    case Hand():
                        pipe.set(_hand(command.code), code, ex=int(HAND_SECONDS))
                    case End():
                        pipe.expire(_stream(code), 60)
                        pipe.zrem(_ROOMS, code)
                return _text((await pipe.execute())[0])

    async def _until(self, held: HeldShared, is_so) -> None:
        """Wait until something is so, which may be whenever something was read."""
        async with asyncio.timeout(AWAY_SECONDS), held.was_read:
            await held.was_read.wait_for(is_so)

    async def _load(self, code: str) -> None:
        entries = await self._redis.xrange(_stream(code))
        if entries:
            made = read(entries[0][1][b"c"])
            held = self.held[code] = HeldShared(Room.made(made))
            held.speaker = 0.0
            self._replay(held, entries)
            self._read(held)

    def _replay(self, held: HeldShared, entries: list) -> None:
        """Have a room be what its commands make of it."""
        held.room = Room.made(read(entries[0][1][b"c"]))
        held.commands = [parts[b"c"] for _, parts in entries]
        held.position = _text(entries[-1][0])
        for text in held.commands[1:]:
            with suppress(RoomError):
                held.room.apply(read(text))

    def _read(self, held: HeldShared) -> None:
        held.reading = asyncio.create_task(self._follow(held))

    async def _follow(self, held: HeldShared) -> None:
        """Do what is added to a room, as long as this process has it."""
        code = held.room.code
        while self.held.get(code) is held:
            try:
                if held.is_apart:
                    await self._rejoin(held)
                found = await self._redis.xread({_stream(code): held.position}, count=500, block=READ_MS)
            except _AWAY:
                self._part(held)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            for _, entries in found:
                await self._take(held, entries)

    async def _take(self, held: HeldShared, entries: list) -> None:
        for_all = False
        async with held.was_read:
            for name, parts in entries:
                command, refused = read(parts[b"c"]), None
                try:
                    held.room.apply(command)
                except RoomError as error:
                    refused = error
                held.commands.append(parts[b"c"])
                held.position = _text(name)
                held.results[held.position] = refused
                for_all = for_all or isinstance(command, FOR_ALL)
            while len(held.results) > RESULTS:
                held.results.popitem(last=False)
            held.was_read.notify_all()
        held.tell(speaker_alone=not for_all)

    def _part(self, held: HeldShared) -> None:
        if not held.is_apart:
            _log.warning("Redis does not answer: rooms go on in each process by itself.")
            held.is_apart = True
            held.tell()

    async def _rejoin(self, held: HeldShared) -> None:
        """Add what was done while Redis was away, and read the room anew."""
        code, stream = held.room.code, _stream(held.room.code)
        if not await self._redis.exists(stream):
            if await self._redis.set(f"{stream}:again", self._name, nx=True, ex=5):
                await self._tell(code, held.commands)
            else:
                await asyncio.sleep(RETRY_SECONDS)  # another process tells it
                await self._tell(code, held.apart)
        else:
            await self._tell(code, held.apart)
        self._replay(held, await self._redis.xrange(stream))
        held.apart.clear()
        held.is_apart = False
        held.tell()

    async def _tell(self, code: str, commands: list[bytes]) -> None:
        async with self._redis.pipeline(transaction=True) as pipe:
            for text in commands:
                pipe.xadd(_stream(code), {"c": text})
            pipe.expire(_stream(code), int(SECONDS))
            pipe.zadd(_ROOMS, {code: time.time()})
            await pipe.execute()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            for held in [*self.held.values()]:
                with suppress(*_AWAY):
                    await self._meet(held)

    async def _meet(self, held: Held) -> None:
        """Tell the others who is here by way of this process, and hear it of them."""
        key, now, own = f"{_stream(held.room.code)}:here", time.time(), held.presence
        async with self._redis.pipeline() as pipe:
            pipe.hset(key, self._name, msgspec.json.encode((own.here, own.around, own.speaker, now)))
            pipe.expire(key, 60)
            pipe.hgetall(key)
            *_, all_here = await pipe.execute()
        told = [msgspec.json.decode(text) for name, text in all_here.items() if _text(name) != self._name]
        fresh = [each for each in told if now - each[3] < STALE_SECONDS]
        others = Presence(
            sum(each[0] for each in fresh), sum(each[1] for each in fresh), max((each[2] for each in told), default=0.0)
        )
        if others != held.others:
            is_of_counts = (others.here, others.around) != (held.others.here, held.others.around)
            held.others = others
            if is_of_counts:
                held.tell(speaker_alone=True)


def _stream(code: str) -> str:
    return f"attnviz:room:{code}"


def _hand(code: str) -> str:
    return f"attnviz:hand:{code}"


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _order(name: str) -> tuple[int, int]:
    first, _, second = name.partition("-")
    return int(first), int(second)
