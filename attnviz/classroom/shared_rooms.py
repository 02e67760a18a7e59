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

from attnviz.classroom.codes import new_secret
from attnviz.classroom.commands import AnyCommand, Make, read, to_json
from attnviz.classroom.room import Room, RoomError
from attnviz.classroom.room_log import AWAY, AWAY_SECONDS, Entry, RoomLog, order_of
from attnviz.classroom.rooms import FOR_ALL, Held, Presence, Rooms, hold_room_for_another

BEAT_SECONDS = 1.0
"""Between two messages of who is here by way of this process."""

STALE_SECONDS = 5.0
RETRY_SECONDS = 0.5
RESULTS = 1_000
"""Commands of which a process remembers what came of them, until who sent them asks."""

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

    def holding(self, made: Make) -> Held:
        return HeldShared(Room.made(made))

    async def begun(self, held: HeldShared, made: Make) -> None:
        text = to_json(made)
        held.commands.append(text)
        try:
            (held.position,) = await self._commands.add_all(made.code, [text])
        except AWAY:
            held.is_apart = True
            held.apart.append(text)
        self._read(held)

    async def find(self, code: str) -> Held | None:
        async with self._finding:
            if code not in self.held and code:
                with suppress(*AWAY):
                    await self._load(code)
        return await super().find(code)

    async def offering(self, code: str) -> Held | None:
        try:
            room = await self._commands.offering(code)
        except AWAY:
            return await super().offering(code)
        return await self.find(room) if room else None

    async def current(self, held: HeldShared) -> None:
        """Wait until all is read that was added before."""
        try:
            last = await self._commands.last(held.room.code)
            if last:
                await self._until(held, lambda: order_of(held.position) >= order_of(last))
        except AWAY:
            pass

    async def do(self, held: HeldShared, command: AnyCommand) -> None:
        if refusal := held.room.refusal(command):
            raise RoomError(refusal)
        text = to_json(command)
        if not held.is_apart:
            try:
                name = await self._commands.add(held.room.code, command, text)
                await self._until(held, lambda: name in held.results)
            except AWAY:
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
        await self._commands.close()

    async def _until(self, held: HeldShared, is_so) -> None:
        """Wait until something is so, which may be whenever something was read."""
        async with asyncio.timeout(AWAY_SECONDS), held.was_read:
            await held.was_read.wait_for(is_so)

    async def _load(self, code: str) -> None:
        entries = await self._commands.entries(code)
        if entries:
            made = read(entries[0][1])
            held = self.held[code] = HeldShared(Room.made(made))
            held.speaker = 0.0
            self._replay(held, entries)
            self._read(held)

    def _replay(self, held: HeldShared, entries: list[Entry]) -> None:
        """Have a room be what its commands make of it."""
        held.room = Room.made(read(entries[0][1]))
        held.commands = [text for _, text in entries]
        held.position = entries[-1][0]
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
                    continue
                commands = await self._commands.after(code, held.position)
            except AWAY:
                self._part(held)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if commands:
                await self._take(held, commands)

    async def _take(self, held: HeldShared, entries: list[Entry]) -> None:
        for_all = False
        async with held.was_read:
            for name, text in entries:
                command, refused = read(text), None
                try:
                    held.room.apply(command)
                except RoomError as error:
                    refused = error
                held.commands.append(text)
                held.position = name
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
        code, missing = held.room.code, [*held.apart]
        if not await self._commands.has(code):
            if not await self._commands.lets_restore(code, self._name):
                await asyncio.sleep(RETRY_SECONDS)  # another process restores it
                return
            missing = [*held.commands]
        while True:  # until nothing is done while it is added: what was acknowledged is kept
            n_added = len(held.apart)
            await self._commands.add_all(code, missing)
            entries = await self._commands.entries(code)
            missing = held.apart[n_added:]
            if not missing:
                break
        self._replay(held, entries)
        held.apart.clear()
        held.is_apart = False
        held.tell()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            for held in [*self.held.values()]:
                with suppress(*AWAY):
                    await self._meet(held)

    async def _meet(self, held: Held) -> None:
        """Tell the others who is here by way of this process, and hear it of them."""
        now, presence = time.time(), held.presence
        others = await self._commands.meet(
            held.room.code, self._name, (presence.here, presence.around, presence.speaker, now)
        )
        fresh = [each for each in others if now - each[3] < STALE_SECONDS]
        others = Presence(
            sum(each[0] for each in fresh),
            sum(each[1] for each in fresh),
            max((each[2] for each in others), default=0.0),
        )
        if others != held.others:
            is_of_counts = (others.here, others.around) != (held.others.here, held.others.around)
            held.others = others
            if is_of_counts:
                held.tell(speaker_alone=True)
