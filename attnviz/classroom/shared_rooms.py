"""Rooms shared by all processes through Redis, where each room is a stream of its commands.

A process that is asked for a room replays its commands, then follows the stream. A new command is appended to it and
acknowledged once this process has read it back: so all processes agree on the order, and losing a process loses
nothing that was acknowledged. While Redis is unreachable, a process goes on alone and shows that it does; afterwards it
appends what it did meanwhile, or the whole room if Redis has lost it.
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
from attnviz.classroom.commands import AnyCommand, End, Make, Move, OfferDevice, read, to_json
from attnviz.classroom.room import OFFER_SECONDS, SECONDS, Room, RoomError
from attnviz.classroom.rooms import FOR_ALL, LiveRoom, Presence, Rooms, hold_room_for_another

AWAY = (RedisError, OSError, TimeoutError)
AWAY_SECONDS = 2.0
"""Timeout after which Redis counts as unreachable."""

READ_MS = 1_000
"""How long one read blocks for new commands."""

AGAIN_SECONDS = 5
"""How long one process holds the lock for restoring a lost room."""

ENDED_SECONDS = 60
_ROOMS = "attnviz:rooms"
_NETWORKS = "attnviz:networks"

Entry = tuple[str, bytes]
"""A stream id, and a command as JSON."""


class RoomLog:
    """The streams of all rooms in Redis, and presence counts per process. Any method may raise one of `AWAY`.

    Parameters
    ----------
    url : str
        Where Redis is, as in redis://127.0.0.1:6379.
    """

    def __init__(self, url: str) -> None:
        waits = {"socket_timeout": READ_MS / 1000 + AWAY_SECONDS, "socket_connect_timeout": AWAY_SECONDS}
        self._redis = Redis.from_url(url, **waits)

    async def networks(self) -> dict[str, str]:
        """The network that opened each room, by code."""
        await self._redis.zremrangebyscore(_ROOMS, "-inf", time.time() - SECONDS)
        codes = {_text(code) for code in await self._redis.zrange(_ROOMS, 0, -1)}
        kept = {_text(code): _text(network) for code, network in (await self._redis.hgetall(_NETWORKS)).items()}
        if over := kept.keys() - codes:
            await self._redis.hdel(_NETWORKS, *over)
        return {code: kept.get(code, "") for code in codes}

    async def take_code(self, network: str) -> str:
        """Reserve an unused code for a network."""
        code = new_code()
        while not await self._redis.zadd(_ROOMS, {code: time.time()}, nx=True):
            code = new_code()
        await self._redis.hset(_NETWORKS, code, network)
        return code

    async def add(self, code: str, command: AnyCommand, text: bytes) -> str:
        """Append a command; returns its id."""
        async with asyncio.timeout(AWAY_SECONDS):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.xadd(_stream(code), {"c": text})
                match command:
                    case Move():
                        pipe.expire(_stream(code), int(SECONDS))
                        pipe.zadd(_ROOMS, {code: command.time})
                    case OfferDevice():
                        pipe.set(_offer_key(command.code), code, ex=int(OFFER_SECONDS))
                    case End():
                        pipe.expire(_stream(code), ENDED_SECONDS)
                        pipe.zrem(_ROOMS, code)
                return _text((await pipe.execute())[0])

    async def add_all(self, code: str, texts: list[bytes]) -> list[str]:
        """Append commands of a running room; returns their ids."""
        async with self._redis.pipeline(transaction=True) as pipe:
            for text in texts:
                pipe.xadd(_stream(code), {"c": text})
            pipe.expire(_stream(code), int(SECONDS))
            pipe.zadd(_ROOMS, {code: time.time()})
            return [_text(name) for name in (await pipe.execute())[: len(texts)]]

    async def entries(self, code: str) -> list[Entry]:
        """All entries of a room."""
        return _parsed(await self._redis.xrange(_stream(code)))

    async def after(self, code: str, position: str) -> list[Entry]:
        """The entries after an id; blocks for up to `READ_MS` if there are none."""
        streams = await self._redis.xread({_stream(code): position}, count=500, block=READ_MS)
        return [each for _, entries in streams for each in _parsed(entries)]

    async def last(self, code: str) -> str | None:
        """The id of a room's last entry."""
        entries = await self._redis.xrevrange(_stream(code), count=1)
        return _text(entries[0][0]) if entries else None

    async def has(self, code: str) -> bool:
        """Whether Redis has this room."""
        return bool(await self._redis.exists(_stream(code)))

    async def lets_restore(self, code: str, name: str) -> bool:
        """Whether this process gets the lock for restoring a lost room."""
        return bool(await self._redis.set(f"{_stream(code)}:again", name, nx=True, ex=AGAIN_SECONDS))

    async def offering(self, code: str) -> str | None:
        """The room that offers this code to another of the speaker's devices."""
        room = await self._redis.get(_offer_key(code))
        return _text(room) if room else None

    async def meet(self, code: str, name: str, presence: tuple) -> list[tuple]:
        """Publish this process's presence counts; returns the latest of all others."""
        key = f"{_stream(code)}:here"
        async with self._redis.pipeline() as pipe:
            pipe.hset(key, name, msgspec.json.encode(presence))
            pipe.expire(key, ENDED_SECONDS)
            pipe.hgetall(key)
            *_, all_here = await pipe.execute()
        return [tuple(msgspec.json.decode(text)) for other, text in all_here.items() if _text(other) != name]

    async def close(self) -> None:
        """Close all connections."""
        await self._redis.aclose()


def order_of(name: str) -> tuple[int, int]:
    """A stream id as a pair that sorts by time."""
    first, _, second = name.partition("-")
    return int(first), int(second)


def _parsed(entries: list) -> list[Entry]:
    return [(_text(name), parts[b"c"]) for name, parts in entries]


def _stream(code: str) -> str:
    return f"attnviz:room:{code}"


def _offer_key(code: str) -> str:
    return f"attnviz:hand:{code}"


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


BEAT_SECONDS = 1.0
"""Between two presence updates of this process."""

STALE_SECONDS = 5.0
RETRY_SECONDS = 0.5
RESULTS = 1_000
"""Results of commands that a process remembers for their senders."""

_log = logging.getLogger(__name__)


@dataclass
class SharedLiveRoom(LiveRoom):
    """A live room, and how far its stream has been read.

    Attributes
    ----------
    commands : list of bytes
        All commands, to restore a Redis that lost them.
    apart : list of bytes
        Commands applied while Redis was unreachable.
    position : str
        The id of the last entry read.
    results : dict of str to RoomError or None
        The refusal, or None, of recent commands, by id.
    was_read : asyncio.Condition
    """

    commands: list[bytes] = field(default_factory=list)
    apart: list[bytes] = field(default_factory=list)
    position: str = "0-0"
    results: OrderedDict[str, RoomError | None] = field(default_factory=OrderedDict)
    was_read: asyncio.Condition = field(default_factory=asyncio.Condition)
    reading: asyncio.Task | None = None


class SharedRooms(Rooms):
    """The rooms shared by all processes.

    Parameters
    ----------
    url : str
        Where Redis is, as in redis://127.0.0.1:6379.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._commands = RoomLog(url)
        self._name = new_secret()
        self._finding = asyncio.Lock()

    async def free_code(self, network: str) -> str:
        self.sweep()
        try:
            networks = await self._commands.networks()
            hold_room_for_another(networks.keys(), networks.values(), network)
            return await self._commands.take_code(network)
        except AWAY:
            return await super().free_code(network)

    def holding(self, made: Make) -> LiveRoom:
        return SharedLiveRoom(Room.made(made))

    async def begun(self, live: SharedLiveRoom, made: Make) -> None:
        text = to_json(made)
        live.commands.append(text)
        try:
            (live.position,) = await self._commands.add_all(made.code, [text])
        except AWAY:
            live.is_apart = True
            live.apart.append(text)
        self._read(live)

    async def find(self, code: str) -> LiveRoom | None:
        async with self._finding:
            if code not in self.live and code:
                with suppress(*AWAY):
                    await self._load(code)
        return await super().find(code)

    async def offering(self, code: str) -> LiveRoom | None:
        try:
            room = await self._commands.offering(code)
        except AWAY:
            return await super().offering(code)
        return await self.find(room) if room else None

    async def current(self, live: SharedLiveRoom) -> None:
        """Wait until every entry that Redis has now is applied."""
        try:
            last = await self._commands.last(live.room.code)
            if last:
                await self._wait_until(live, lambda: order_of(live.position) >= order_of(last))
        except AWAY:
            pass

    async def do(self, live: SharedLiveRoom, command: AnyCommand) -> None:
        if refusal := live.room.refusal(command):
            raise RoomError(refusal)
        text = to_json(command)
        if not live.is_apart:
            try:
                name = await self._commands.add(live.room.code, command, text)
                await self._wait_until(live, lambda: name in live.results)
            except AWAY:
                self._go_apart(live)
            else:
                if refused := live.results.get(name):
                    raise refused
                return
        live.apart.append(text)
        live.commands.append(text)
        await super().do(live, command)

    async def run(self) -> None:
        """Sweep, and publish presence counts, until cancelled."""
        beat = asyncio.create_task(self._beat())
        try:
            await super().run()
        finally:
            beat.cancel()

    async def close(self) -> None:
        reading = [live.reading for live in self.live.values()]
        await super().close()  # first: a cancelled reader may take that for an unreachable Redis
        for task in reading:
            task.cancel()
        if reading:
            await asyncio.wait(reading, timeout=AWAY_SECONDS)
        await self._commands.close()

    async def _wait_until(self, live: SharedLiveRoom, is_so) -> None:
        """Wait until a condition holds, checked whenever entries were read."""
        async with asyncio.timeout(AWAY_SECONDS), live.was_read:
            await live.was_read.wait_for(is_so)

    async def _load(self, code: str) -> None:
        entries = await self._commands.entries(code)
        if entries:
            made = read(entries[0][1])
            live = self.live[code] = SharedLiveRoom(Room.made(made))
            live.speaker = 0.0
            self._replay(live, entries)
            self._read(live)

    def _replay(self, live: SharedLiveRoom, entries: list[Entry]) -> None:
        """Rebuild a room from its entries."""
        live.room = Room.made(read(entries[0][1]))
        live.commands = [text for _, text in entries]
        live.position = entries[-1][0]
        for text in live.commands[1:]:
            with suppress(RoomError):
                live.room.apply(read(text))

    def _read(self, live: SharedLiveRoom) -> None:
        live.reading = asyncio.create_task(self._follow(live))

    async def _follow(self, live: SharedLiveRoom) -> None:
        """Follow a room's stream for as long as this process holds the room."""
        code = live.room.code
        while self.live.get(code) is live:
            try:
                if live.is_apart:
                    await self._rejoin(live)
                    continue
                commands = await self._commands.after(code, live.position)
            except AWAY:
                self._go_apart(live)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if commands:
                await self._apply_entries(live, commands)

    async def _apply_entries(self, live: SharedLiveRoom, entries: list[Entry]) -> None:
        for_all = False
        async with live.was_read:
            for name, text in entries:
                command, refused = read(text), None
                try:
                    live.room.apply(command)
                except RoomError as error:
                    refused = error
                live.commands.append(text)
                live.position = name
                live.results[live.position] = refused
                for_all = for_all or isinstance(command, FOR_ALL)
            while len(live.results) > RESULTS:
                live.results.popitem(last=False)
            live.was_read.notify_all()
        live.notify(speaker_alone=not for_all)

    def _go_apart(self, live: SharedLiveRoom) -> None:
        if not live.is_apart:
            _log.warning("Redis does not answer: rooms go on in each process by itself.")
            live.is_apart = True
            live.notify()

    async def _rejoin(self, live: SharedLiveRoom) -> None:
        """Append what was applied while Redis was unreachable, and rebuild the room."""
        code, missing = live.room.code, [*live.apart]
        if not await self._commands.has(code):
            if not await self._commands.lets_restore(code, self._name):
                await asyncio.sleep(RETRY_SECONDS)  # another process is restoring it
                return
            missing = [*live.commands]
        while True:  # until nothing new is applied while appending: whatever was acknowledged is kept
            n_added = len(live.apart)
            await self._commands.add_all(code, missing)
            entries = await self._commands.entries(code)
            missing = live.apart[n_added:]
            if not missing:
                break
        self._replay(live, entries)
        live.apart.clear()
        live.is_apart = False
        live.notify()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            for live in [*self.live.values()]:
                with suppress(*AWAY):
                    await self._exchange_presence(live)

    async def _exchange_presence(self, live: LiveRoom) -> None:
        """Exchange presence counts with the other processes."""
        now, presence = time.time(), live.presence
        others = await self._commands.meet(
            live.room.code, self._name, (presence.here, presence.around, presence.speaker, now)
        )
        fresh = [each for each in others if now - each[3] < STALE_SECONDS]
        others = Presence(
            sum(each[0] for each in fresh),
            sum(each[1] for each in fresh),
            max((each[2] for each in others), default=0.0),
        )
        if others != live.others:
            is_of_counts = (others.here, others.around) != (live.others.here, live.others.around)
            live.others = others
            if is_of_counts:
                live.notify(speaker_alone=True)
