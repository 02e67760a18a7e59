"""Rooms: those that this process knows, with who is here; whoever changes one tells all that listen."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from attnviz.classroom.codes import hash_of, new_code, new_secret
from attnviz.classroom.commands import Again, AnyCommand, End, Make, Move, Open
from attnviz.classroom.room import Room, RoomError
from attnviz.contract.classroom import Audience, ClassNow, Pointed, Round, Seat
from attnviz.scene.document.encoding import to_json

MAX_ROOMS = 50
MAX_ROOMS_OF_A_NETWORK = 20
MAX_HERE = 500
"""People in a room at once."""

ASLEEP_SECONDS = 25.0
"""Without a sign of life of the speaker's machine, which gives one every 8 s."""

SWEEP_SECONDS = 5.0

FOR_ALL = (Move, Open, Again, End)
"""The commands of which everybody is told; of the others the speaker is."""


@dataclass
class Presence:
    """Who is here by way of one process: how many, how many look around, and when the speaker's machine was heard."""

    here: int = 0
    around: int = 0
    speaker: float = 0.0


@dataclass
class Held:
    """A room as this process has it.

    Attributes
    ----------
    room : Room
    streams : Counter of str
        How many streams each seat has open here.
    around : set of str
        The seats that look around.
    speaker : float
        When the speaker's machine was heard here last.
    others : Presence
        Of all other processes.
    is_apart : bool
        Whether what is done here reaches no other process.
    network : str
        That of whoever opened it; empty in all processes but the one where that was.
    """

    room: Room
    streams: Counter = field(default_factory=Counter)
    around: set[str] = field(default_factory=set)
    speaker: float = field(default_factory=time.time)
    others: Presence = field(default_factory=Presence)
    is_apart: bool = False
    network: str = ""
    _made: dict[bool, tuple[str, bytes]] = field(default_factory=dict)
    _changed: dict[bool, asyncio.Event] = field(default_factory=lambda: {True: asyncio.Event(), False: asyncio.Event()})

    @property
    def presence(self) -> Presence:
        """Who is here by way of this process; the speaker's own devices don't count."""
        here = self.streams.keys() - self.room.speakers
        return Presence(len(here), len(here & self.around), self.speaker)

    @property
    def n_here(self) -> int:
        """How many are here by way of any process."""
        return self.presence.here + self.others.here

    @property
    def is_full(self) -> bool:
        """Whether as many are here as may be."""
        return self.n_here >= MAX_HERE

    def waits(self, now: float) -> bool:
        """Whether nothing was heard of the speaker's machine for long."""
        return now - max(self.speaker, self.others.speaker) > ASLEEP_SECONDS

    def tell(self, *, speaker_alone: bool = False) -> None:
        """Tell everybody who listens that something has changed, or the speaker alone."""
        for is_speaker in (True,) if speaker_alone else (True, False):
            self._made.pop(is_speaker, None)
            self._changed[is_speaker].set()
            self._changed[is_speaker] = asyncio.Event()

    async def change(self, is_speaker: bool, seconds: float) -> bool:
        """Wait until something has changed for the speaker, or for the others; False if nothing has for so long."""
        try:
            await asyncio.wait_for(self._changed[is_speaker].wait(), seconds)
        except TimeoutError:
            return False
        return True

    def event(self, is_speaker: bool) -> tuple[str, bytes]:
        """The class as it is now, and what stands for it: the same as long as it is the same."""
        if is_speaker not in self._made:
            text = to_json(self._now(is_speaker))
            self._made[is_speaker] = hash_of(text.decode())[:12], text
        return self._made[is_speaker]

    def _now(self, is_speaker: bool) -> ClassNow:
        room, now = self.room, time.time()
        question = room.question
        state = ClassNow(
            number=room.number,
            at=room.place.at if room.place else "",
            shows=room.shows,
            kind=room.place.kind if room.place else "pass",
            question=room.place.question if room.place else None,
            is_own=bool(room.place and room.place.is_own),
            is_shown=room.is_shown,
            round=Round(number=len(question.rounds), is_open=question.is_open) if question else None,
            has_ended=room.is_over(now),
            waits=self.waits(now),
            is_apart=self.is_apart,
        )
        if is_speaker:
            state.audience = self._audience()
        return state

    def _audience(self) -> Audience:
        presence, question = self.presence, self.room.question
        pointed = [Pointed(at=each.at, cell=cell, count=n) for each, cell, n in self.room.counts_of_points()]
        return Audience(
            here=presence.here + self.others.here,
            around=presence.around + self.others.around,
            answered=len(question.rounds[-1]) if question else 0,
            counts=question.counts if question else [],
            pointed=pointed,
            pressed=self.room.pressed,
        )


class Rooms:
    """The rooms of one process, in its memory."""

    def __init__(self) -> None:
        self.held: dict[str, Held] = {}

    async def make(self, network: str = "") -> tuple[Held, Seat]:
        """Open a room for someone of a network; returns their seat too, with all secrets.

        Raises
        ------
        RoomError
            If there are `MAX_ROOMS`, or `MAX_ROOMS_OF_A_NETWORK` of this one.
        """
        seat = Seat(code=await self.free_code(network), seat=new_secret(), key=new_secret(), link=new_secret())
        made = Make(time=time.time(), code=seat.code, key=hash_of(seat.key), link=hash_of(seat.link), seat=seat.seat)
        held = self.held[made.code] = self.holding(made)
        held.network = network
        await self.begun(held, made)
        return held, seat

    async def find(self, code: str) -> Held | None:
        """The room of a code, if it is not over."""
        held = self.held.get(code)
        return held if held and not held.room.is_over(time.time()) else None

    async def offering(self, code: str) -> Held | None:
        """The room that offers a code for another device of the speaker's."""
        now = time.time()
        return next((held for held in self.held.values() if held.room.has_offered(code, now)), None)

    async def do(self, held: Held, command: AnyCommand) -> None:
        """Do what a command says, and tell everybody.

        Raises
        ------
        RoomError
            If it can't be done.
        """
        held.room.apply(command)
        held.tell(speaker_alone=not isinstance(command, FOR_ALL))

    async def free_code(self, network: str) -> str:
        """A code that no room has, if one more may be opened from a network."""
        self.sweep()
        hold_room_for_another(self.held.keys(), (held.network for held in self.held.values()), network)
        while (code := new_code()) in self.held:
            pass
        return code

    def holding(self, made: Make) -> Held:
        """A room that was opened, as this process has it."""
        return Held(Room.made(made))

    async def current(self, held: Held) -> None:
        """Wait until this process knows all that has happened in a room."""

    async def begun(self, held: Held, made: Make) -> None:
        """Note a room that was opened."""

    async def close(self) -> None:
        """Let go of all rooms."""
        self.held.clear()

    def sweep(self) -> None:
        """Forget rooms that are over, and tell those whose speaker sleeps, or is awake again."""
        now = time.time()
        for code, held in [*self.held.items()]:
            held.tell()
            if held.room.is_over(now):
                del self.held[code]

    async def run(self) -> None:
        """Sweep for as long as the process lasts."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.sweep()


def hold_room_for_another(codes: Collection[str], networks: Iterable[str], network: str) -> None:
    """Hold that one more room may be opened from a network, beside those of these networks.

    Raises
    ------
    RoomError
    """
    if len(codes) >= MAX_ROOMS:
        raise RoomError(f"There are {MAX_ROOMS} rooms already, as many as there may be. Try again later.")
    if sum(each == network for each in networks) >= MAX_ROOMS_OF_A_NETWORK:
        raise RoomError(f"Your network has {MAX_ROOMS_OF_A_NETWORK} rooms already, as many as it may have. End one.")
