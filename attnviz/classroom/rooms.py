"""The rooms of one process, with presence counts. Each change wakes the listening event streams."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import structs

from attnviz.classroom.codes import hash_of, host_name, is_one_of, new_code, new_secret
from attnviz.classroom.commands import (
    Again,
    AllowQuestions,
    AnyCommand,
    End,
    Make,
    Move,
    Open,
    RoomLog,
    ShowTexts,
    Wait,
)
from attnviz.classroom.room import SECONDS, Question, Room, RoomError
from attnviz.contract.classroom import Audience, ClassNow, Pointed, Round, Seat, Wondered, Written
from attnviz.scene.document.encoding import to_json

MAX_ROOMS = 50
MAX_ROOMS_OF_A_NETWORK = 20
MAX_HERE = 500  # people in a room at one time
ASLEEP_SECONDS = 25.0  # after this long without a heartbeat the speaker counts as asleep; heartbeats come every 8 s
SWEEP_SECONDS = 5.0
POLLED_SECONDS = 8.0  # after this long a follower without a stream counts as gone; they ask every 2 s
BUSY = "The room is being opened. Trying again in a moment."
# Commands that wake everybody's stream; the others wake the speaker's only. New votes are sent to all with the sweep.
WAKES_EVERYONE = (Move, Open, Again, End, Wait, AllowQuestions, ShowTexts)
MAX_TEXTS = 300  # texts of a kind that the speaker is sent, the newest or those with most votes
MAX_SHOWN = 30  # questions that followers are sent
MAX_IMAGES = 2  # how many slides' images a room keeps, so that one step back needs no upload
ENDED_TALK_SECONDS = 15 * 60  # how long the talk of a class can be taken home after its end
MAX_ENDED_TALKS = 50  # how many such talks are kept


class EndedTalk(NamedTuple):
    """The talk of a class that has ended, for those who have a seat there."""

    key: str  # the hash that signs the seats
    moments: tuple[str, ...]  # the talk's moments as JSON
    images: dict[str, str]
    time: float  # when the class ended


@dataclass
class Presence:
    """Presence counts: people, those exploring alone, and the speaker's last heartbeat."""

    here: int = 0
    around: int = 0
    speaker: float = 0.0


@dataclass
class LiveRoom:
    """A room as one process holds it: its state, its event streams and its presence counts."""

    room: Room
    streams: Counter = field(default_factory=Counter)  # the open streams of each seat in this process
    polled: dict[str, float] = field(default_factory=dict)  # when seats without a stream asked last
    around: set[str] = field(default_factory=set)  # the seats that are exploring alone
    speaker: float = field(default_factory=time.time)  # the speaker's last heartbeat in this process
    others: Presence = field(default_factory=Presence)  # in all other processes
    is_apart: bool = False  # whether this process is cut off from the others
    network: str = ""  # the network that opened it, known only to the process where that happened
    log: RoomLog = field(init=False)
    images: dict[str, str] = field(default_factory=dict)  # the latest of the talk's slides, by name, as base64
    _events: dict[bool, tuple[str, bytes]] = field(default_factory=dict)  # for the speaker, and for followers
    _changed: dict[bool, asyncio.Event] = field(default_factory=lambda: {True: asyncio.Event(), False: asyncio.Event()})

    def __post_init__(self) -> None:
        self.log = RoomLog(self.room.speakers[0])

    def apply(self, command: AnyCommand) -> None:
        """Apply a command and log it; if it is refused, raise RoomError and change nothing."""
        self.room.apply(command)
        self.log.add(command)

    @property
    def presence(self) -> Presence:
        """Presence in this process; the speaker's own devices don't count."""
        since = time.time() - POLLED_SECONDS
        polled = {seat for seat, at in self.polled.items() if at > since}
        here = (self.streams.keys() | polled).difference(self.room.speakers)
        return Presence(len(here), len(here & self.around), self.speaker)

    @property
    def is_full(self) -> bool:
        """Whether `MAX_HERE` people are here, over all processes."""
        return self.presence.here + self.others.here >= MAX_HERE

    def has(self, seat: str) -> bool:
        """Whether somebody needs no further place: the speaker, or who is here."""
        return seat in self.room.speakers or seat in self.streams or seat in self.polled

    def notify(self, *, speaker_alone: bool = False) -> None:
        """Wake the streams of everybody, or of the speaker alone."""
        for is_speaker in (True,) if speaker_alone else (True, False):
            self._events.pop(is_speaker, None)
            self._changed[is_speaker].set()
            self._changed[is_speaker] = asyncio.Event()

    async def wait_for_change(self, is_speaker: bool, seconds: float) -> bool:
        """Wait for a change for the speaker, or for followers; False on timeout."""
        try:
            await asyncio.wait_for(self._changed[is_speaker].wait(), seconds)
        except TimeoutError:
            return False
        return True

    def event(self, is_speaker: bool) -> tuple[str, bytes]:
        """The id and JSON of the class's state; equal states have equal ids, whatever is left of a time to talk."""
        if is_speaker not in self._events:
            state, until = self._now(is_speaker), self.room.talks_until
            text = to_json(state)
            identity = to_json(structs.replace(state, talk_seconds=round(1000 * until) if state.talk_seconds else 0))
            self._events[is_speaker] = hash_of(identity.decode())[:12], text
        return self._events[is_speaker]

    def _now(self, is_speaker: bool) -> ClassNow:
        room, now = self.room, time.time()
        place, question = room.place, room.question
        counted = question is not None and not question.place.takes.is_text
        state = ClassNow(
            number=room.number,
            at=place.at if place else "",
            shows=room.shows,
            kind=place.kind if place else "pass",
            question=place.question if place else None,
            is_own=bool(place and place.is_own),
            is_shown=room.is_shown,
            round=_round_of(question) if question else None,
            talk_seconds=max(0, math.ceil(room.talks_until - now)),
            wonders=self._wonders() if room.takes_questions else None,
            has_ended=room.is_over(now),
            waits=now - max(self.speaker, self.others.speaker) > ASLEEP_SECONDS,
            is_apart=self.is_apart,
        )
        if is_speaker:
            state.audience = Audience(
                here=self.presence.here + self.others.here,
                around=self.presence.around + self.others.around,
                answered=len(question.rounds[-1]) if question else 0,
                counts=question.counts if counted else [],
                sure=question.sure_counts if counted else [],
                moves=question.moves if counted else [],
                texts=self._texts() if question and question.place.takes.is_text else [],
                wondered=[
                    Written(id=each.id, text=each.text, is_shown=each.id in room.shown_texts, votes=len(each.votes))
                    for each in room.listeners_questions[:MAX_TEXTS]
                ],
                pointed=[Pointed(at=each.at, cell=cell, count=n) for each, cell, n in room.counts_of_points()],
                pressed=room.pressed,
                presses=[*room.presses],
                shows_class=room.shows_class,
                offer=room.offer[0] if room.has_offered(room.offer[0], now) else "",
                leads=room.leads,
            )
        return state

    def _wonders(self) -> list[Wondered]:
        shown = self.room.shown_questions[:MAX_SHOWN]
        return [Wondered(id=each.id, text=each.text, votes=len(each.votes)) for each in shown]

    def _texts(self) -> list[Written]:
        question, shown = self.room.question, self.room.shown_texts
        newest = sorted((id_, seat) for seat, id_ in question.ids.items())[-MAX_TEXTS:]
        answers = question.rounds[-1]
        return [Written(id=id_, text=answers[seat], is_shown=id_ in shown, votes=0) for id_, seat in newest]


def _round_of(question: Question) -> Round:
    return Round(question=question.number, number=len(question.rounds), is_open=question.is_open)


class Rooms:
    """The rooms of one process, in its memory."""

    kind: type[LiveRoom] = LiveRoom

    def __init__(self) -> None:
        self.live: dict[str, LiveRoom] = {}
        self.ended: dict[str, float] = {}  # when rooms were ended, by their codes, for two hours
        self.ended_talks: dict[str, EndedTalk] = {}  # by code

    async def make(self, network: str = "") -> tuple[LiveRoom, Seat]:
        """Open a room, unless there are too many; returns it and the speaker's seat with all secrets."""
        code, seat, key, link = await self.free_code(network), new_secret(), new_secret(), new_secret()
        made = Make(time=time.time(), code=code, key=hash_of(key), link=hash_of(link), seat=seat)
        live = await self.publish(self.kind(Room.from_command(made), network=network), [made])
        return live, Seat(code=code, seat=seat, host=host_name(hash_of(key)), key=key, link=link)

    async def free_code(self, network: str) -> str:
        """An unused code, if this network may open another room; otherwise raise RoomError."""
        await self.check_limits(network)
        while (code := new_code()) in self.live:
            pass
        return code

    async def check_limits(self, network: str) -> None:
        """Raise RoomError unless this network may open another room."""
        self.sweep()
        check_room_limits([live.network for live in self.live.values()], network)

    async def publish(self, live: LiveRoom, commands: Sequence[AnyCommand]) -> LiveRoom:
        """Let people into a new or reopened room, to which these commands were applied. Raises RoomError if its code
        was taken meanwhile.
        """
        if live.room.code in self.live:
            raise RoomError(BUSY, 503)
        self.live[live.room.code] = live
        return live

    async def find(self, code: str) -> LiveRoom | None:
        """The room with this code, unless it is over."""
        live = self.live.get(code)
        return live if live and not live.room.is_over(time.time()) else None

    async def find_by_key(self, code: str, key: str) -> LiveRoom | None:
        """The room of a speaker's first key: with this code, or with a new one if that was taken."""
        if live := await self.find(code):
            await self.catch_up(live)
        lives = [live for live in self.live.values() if is_one_of(key, live.room.keys[:1])]
        return next((live for live in lives if not live.room.is_over(time.time())), None)

    async def has_ended(self, code: str) -> bool:
        """Whether the room with this code was ended."""
        return code in self.ended

    async def find_by_offer(self, code: str) -> LiveRoom | None:
        """The room that offers this code to another of the speaker's devices."""
        now = time.time()
        return next((live for live in self.live.values() if live.room.has_offered(code, now)), None)

    async def keep_image(self, live: LiveRoom, name: str, image: str) -> None:
        """Keep the image of a slide, and of earlier ones as many as `MAX_IMAGES` allows."""
        live.images.pop(name, None)
        live.images[name] = image
        while len(live.images) > MAX_IMAGES:
            del live.images[next(iter(live.images))]

    async def image(self, live: LiveRoom, name: str) -> str:
        """The image of a slide, as base64; empty if it has none or the room lacks it."""
        return live.images.get(name, "")

    async def catch_up(self, live: LiveRoom) -> None:
        """Wait until this process has applied every command of a room."""

    async def do(self, live: LiveRoom, command: AnyCommand) -> None:
        """Apply a command and wake the streams; raise RoomError if it is refused."""
        live.apply(command)
        if isinstance(command, End):
            self.ended[live.room.code] = command.time
        live.notify(speaker_alone=not isinstance(command, WAKES_EVERYONE))

    def sweep(self) -> None:
        """Drop rooms that are over, and wake streams in case the speaker fell asleep or woke."""
        now = time.time()
        self.ended = {code: when for code, when in self.ended.items() if now - when < SECONDS}
        for code, live in [*self.live.items()]:
            live.polled = {seat: at for seat, at in live.polled.items() if now - at < POLLED_SECONDS}
            live.notify()
            if live.room.is_over(now):
                if talk := self.ended_talk(code):
                    self.ended_talks[code] = talk
                del self.live[code]
        latest = [*self.ended_talks.items()][-MAX_ENDED_TALKS:]
        self.ended_talks = {code: talk for code, talk in latest if now - talk.time < ENDED_TALK_SECONDS}

    def ended_talk(self, code: str) -> EndedTalk | None:
        """The talk of a class that was ended lately."""
        live = self.live.get(code)
        if live is None or not live.room.has_ended or not live.room.talk:
            return self.ended_talks.get(code)
        return EndedTalk(live.room.keys[0], tuple(live.room.talk), dict(live.images), time.time())

    async def run(self) -> None:
        """Sweep until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.sweep()

    async def close(self) -> None:
        """Drop all rooms."""
        self.live.clear()


def check_room_limits(networks: Sequence[str], network: str) -> None:
    """Raise RoomError unless this network may open another room, given the networks of all rooms."""
    if len(networks) >= MAX_ROOMS:
        raise RoomError(f"There are {MAX_ROOMS} rooms already, as many as there may be. Try again later.")
    if networks.count(network) >= MAX_ROOMS_OF_A_NETWORK:
        raise RoomError(f"Your network has {MAX_ROOMS_OF_A_NETWORK} rooms already, as many as it may have. End one.")
