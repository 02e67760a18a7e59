"""Room log: the commands of each room as a stream in Redis, and who is here by way of which process.

Whatever is asked of it may raise one of `AWAY`: then Redis doesn't answer.
"""

from __future__ import annotations

import asyncio
import time

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from attnviz.classroom.codes import new_code
from attnviz.classroom.commands import AnyCommand, End, Hand, Move
from attnviz.classroom.room import HAND_SECONDS, SECONDS

AWAY = (RedisError, OSError, TimeoutError)
AWAY_SECONDS = 2.0
"""Until Redis counts as away."""

READ_MS = 1_000
"""How long one request waits for what others add."""

AGAIN_SECONDS = 5
"""How long one process has for telling a Redis that has forgotten a room of it."""

ENDED_SECONDS = 60
_ROOMS = "attnviz:rooms"
_NETWORKS = "attnviz:networks"

Entry = tuple[str, bytes]
"""A command as JSON, with its id in the stream."""


class RoomLog:
    """The commands of all rooms.

    Parameters
    ----------
    url : str
        Where Redis is, as in redis://127.0.0.1:6379.
    """

    def __init__(self, url: str) -> None:
        waits = {"socket_timeout": READ_MS / 1000 + AWAY_SECONDS, "socket_connect_timeout": AWAY_SECONDS}
        self._redis = Redis.from_url(url, **waits)

    async def networks(self) -> dict[str, str]:
        """The codes of all rooms, each with the network that it was opened from."""
        await self._redis.zremrangebyscore(_ROOMS, "-inf", time.time() - SECONDS)
        codes = {_text(code) for code in await self._redis.zrange(_ROOMS, 0, -1)}
        kept = {_text(code): _text(network) for code, network in (await self._redis.hgetall(_NETWORKS)).items()}
        if over := kept.keys() - codes:
            await self._redis.hdel(_NETWORKS, *over)
        return {code: kept.get(code, "") for code in codes}

    async def take_code(self, network: str) -> str:
        """A code that no room has, for one of a network."""
        code = new_code()
        while not await self._redis.zadd(_ROOMS, {code: time.time()}, nx=True):
            code = new_code()
        await self._redis.hset(_NETWORKS, code, network)
        return code

    async def add(self, code: str, command: AnyCommand, text: bytes) -> str:
        """Add a command; returns its id."""
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
                        pipe.expire(_stream(code), ENDED_SECONDS)
                        pipe.zrem(_ROOMS, code)
                return _text((await pipe.execute())[0])

    async def add_all(self, code: str, texts: list[bytes]) -> list[str]:
        """Add commands of a room that lasts; returns their ids."""
        async with self._redis.pipeline(transaction=True) as pipe:
            for text in texts:
                pipe.xadd(_stream(code), {"c": text})
            pipe.expire(_stream(code), int(SECONDS))
            pipe.zadd(_ROOMS, {code: time.time()})
            return [_text(name) for name in (await pipe.execute())[: len(texts)]]

    async def entries(self, code: str) -> list[Entry]:
        """All commands of a room."""
        return _entries(await self._redis.xrange(_stream(code)))

    async def after(self, code: str, position: str) -> list[Entry]:
        """Those after an id; waits for some if there are none."""
        streams = await self._redis.xread({_stream(code): position}, count=500, block=READ_MS)
        return [each for _, entries in streams for each in _entries(entries)]

    async def last(self, code: str) -> str | None:
        """The id of the last command of a room."""
        entries = await self._redis.xrevrange(_stream(code), count=1)
        return _text(entries[0][0]) if entries else None

    async def has(self, code: str) -> bool:
        """Whether it has a room."""
        return bool(await self._redis.exists(_stream(code)))

    async def lets_restore(self, code: str, name: str) -> bool:
        """Whether the process of that name is the one that tells it of a room that it has forgotten."""
        return bool(await self._redis.set(f"{_stream(code)}:again", name, nx=True, ex=AGAIN_SECONDS))

    async def offering(self, code: str) -> str | None:
        """The room that offers a code for another device of the speaker's."""
        room = await self._redis.get(_hand(code))
        return _text(room) if room else None

    async def meet(self, code: str, name: str, presence: tuple) -> list[tuple]:
        """Who is here by way of all other processes, as they said last, for what the one of that name says."""
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
    """An id as numbers that say which is later."""
    first, _, second = name.partition("-")
    return int(first), int(second)


def _entries(entries: list) -> list[Entry]:
    return [(_text(name), parts[b"c"]) for name, parts in entries]


def _stream(code: str) -> str:
    return f"attnviz:room:{code}"


def _hand(code: str) -> str:
    return f"attnviz:hand:{code}"


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name
