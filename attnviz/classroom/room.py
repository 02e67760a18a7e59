"""Room: a class that follows one speaker, as a state machine without a clock, a network or an interface."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import singledispatchmethod

from attnviz.classroom.codes import is_one_of
from attnviz.classroom.commands import (
    Again,
    Answer,
    AnyCommand,
    End,
    Join,
    Make,
    Move,
    OfferDevice,
    Open,
    PairDevice,
    Place,
    Point,
    Press,
    Value,
)

LARGEST = 1e12
"""The largest number that an answer may be."""


@dataclass
class Question:
    """A question asked in a room.

    Attributes
    ----------
    place : Place
        Where it was asked.
    rounds : list of dict of str to Value
        Each round's answers, by seat.
    is_open : bool
        Whether answers are accepted.
    """

    place: Place
    rounds: list[dict[str, Value]] = field(default_factory=lambda: [{}])
    is_open: bool = True

    def takes(self, value: Value) -> bool:
        """Whether an answer is valid for this question."""
        takes = self.place.takes
        if takes.n_choices:
            return type(value) is int and 0 <= value < takes.n_choices
        if not (type(value) in (int, float) and math.isfinite(value)):
            return False
        return 0 <= value <= 1 if takes.is_share else abs(value) <= LARGEST

    @property
    def counts(self) -> list[list[tuple[Value, int]]]:
        """Counts per answer, for each round, sorted by answer."""
        return [sorted(Counter(answers.values()).items()) for answers in self.rounds]


SECONDS = 2 * 60 * 60
"""How long a room lasts after the speaker's last move."""

OFFER_SECONDS = 5 * 60
"""How long the code for another of the speaker's devices is valid."""

ANSWER_SECONDS = 1.0
"""Between two answers of a seat."""

MAX_SEATS = 5_000
"""Seats that a room remembers; beyond that the oldest silent one is forgotten."""

SEAT_SECONDS = 60
"""How long an unused seat is valid: one that opens no stream and sends nothing."""

MAX_QUESTIONS = 200
MAX_COMMANDS = 100_000
"""Commands of followers that a room keeps; a class of 120 makes about 10,000."""
MAX_DEVICES = 5
"""Devices that one speaker may use."""


class RoomError(ValueError):
    """A refused command, with a sentence for the person who tried it."""


@dataclass
class Room:
    """A room.

    Attributes
    ----------
    code, link : str
        Its code, and the hash of the secret in its QR code.
    keys : tuple of str
        The hashes of the speaker's keys, one for each device.
    seats : dict of str to float
        The seats that were taken, each with the time of its last answer.
    speakers : set of str
        The seats of the speaker's devices.
    place : Place or None
        Where the class is.
    number : int
        How many times the class has moved.
    shows : int
        The number of the move since which followers see the same pass and question.
    is_shown : bool
        Whether the answer is shown there.
    questions : dict of Place to Question
        All questions, in order.
    points : dict of str to (Place, str)
        The cell that a seat doesn't understand, and the place it was in.
    offer : tuple of str and float
        The code for another of the speaker's devices, and when it was offered.
    pressed : int
        Steps forward less steps back that other devices of the speaker have made in a talk.
    moved, has_ended
        When the class last moved, and whether it has ended.
    n_commands : int
        How many commands were applied.
    """

    code: str
    link: str
    keys: tuple[str, ...]
    speakers: set[str]
    moved: float
    seats: dict[str, float] = field(default_factory=dict)
    place: Place | None = None
    number: int = 0
    shows: int = 0
    is_shown: bool = False
    questions: dict[Place, Question] = field(default_factory=dict)
    points: dict[str, tuple[Place, str]] = field(default_factory=dict)
    offer: tuple[str, float] = ("", 0.0)
    pressed: int = 0
    has_ended: bool = False
    n_commands: int = 0

    @classmethod
    def made(cls, command: Make) -> Room:
        """The room that a command opens."""
        seats = {command.seat: 0.0}
        return cls(command.code, command.link, (command.key,), {command.seat}, command.time, seats)

    @property
    def question(self) -> Question | None:
        """The current place's question."""
        return self.questions.get(self.place)

    def has_key(self, key: str) -> bool:
        """Whether a key belongs to the speaker."""
        return is_one_of(key, self.keys)

    def has_link(self, link: str) -> bool:
        """Whether a link is the QR code's."""
        return is_one_of(link, (self.link,))

    def has_offered(self, code: str, now: float) -> bool:
        """Whether a code currently pairs another of the speaker's devices."""
        offered, when = self.offer
        return bool(code) and code == offered and now - when <= OFFER_SECONDS

    def is_over(self, now: float) -> bool:
        """Whether it was ended or has expired."""
        return self.has_ended or now - self.moved > SECONDS

    def _silent_seat(self) -> str | None:
        """The oldest follower's seat that has never answered or pointed."""
        others = self.speakers | self.points.keys()
        return next((seat for seat, last in self.seats.items() if not last and seat not in others), None)

    def counts_of_points(self) -> list[tuple[Place, str, int]]:
        """The cells that people don't understand, with counts, most frequent first."""
        return [(*at, count) for at, count in Counter(self.points.values()).most_common()]

    def apply(self, command: AnyCommand) -> None:
        """Apply a command.

        Raises
        ------
        RoomError
            If it is refused; nothing changes then.
        """
        if refusal := self.refusal(command):
            raise RoomError(refusal)
        self._do(command)
        self.n_commands += 1

    def refusal(self, command: AnyCommand) -> str:
        """Why a command is refused now; empty if it isn't."""
        if self.is_over(command.time):
            return "This room has ended."
        if self.n_commands >= MAX_COMMANDS and isinstance(command, Join | Answer | Point):
            return "This room has had all the answers that it can keep."
        return self._refusal(command)

    @singledispatchmethod
    def _refusal(self, command: AnyCommand) -> str:
        return ""

    @_refusal.register
    def _(self, command: Join) -> str:
        is_full = len(self.seats) >= MAX_SEATS and command.seat not in self.seats and self._silent_seat() is None
        return f"All of the {MAX_SEATS:,} seats of this room have answered. Nobody else can come in." if is_full else ""

    @_refusal.register
    def _(self, command: Move) -> str:
        is_new = command.place.takes is not None and command.place not in self.questions
        is_full = is_new and len(self.questions) >= MAX_QUESTIONS
        return f"A room has at most {MAX_QUESTIONS} questions. Open another." if is_full else ""

    @_refusal.register
    def _(self, command: Press) -> str:
        is_in_talk = self.place is not None and (self.place.kind == "talk" or self.place.is_own)
        return "" if is_in_talk else "The class is in no talk of the speaker’s own."

    @_refusal.register
    def _(self, command: Open | Again) -> str:
        if self.question is None:
            return "Nothing is asked here."
        if self.is_shown and (isinstance(command, Again) or command.is_open):
            return "The answer is shown already."
        return "It was asked twice already." if isinstance(command, Again) and len(self.question.rounds) > 1 else ""

    @_refusal.register
    def _(self, command: Answer) -> str:
        question = self.question
        if command.seat not in self.seats:
            return "This seat is none of this room’s. Join again."
        if question is None or (command.number, command.round) != (self.number, len(question.rounds)):
            return "The class has gone on to something else."
        if not question.is_open:
            return "No more answers are taken."
        if not question.takes(command.value):
            return "That is no answer to this question."
        is_same = question.rounds[-1].get(command.seat) == command.value  # a request that was sent twice
        is_early = command.time - self.seats[command.seat] < ANSWER_SECONDS
        return "One answer a second." if is_early and not is_same else ""

    @_refusal.register
    def _(self, command: Point) -> str:
        return "" if command.seat in self.seats and self.place else "Join again."

    @_refusal.register
    def _(self, command: PairDevice) -> str:
        if len(self.keys) >= MAX_DEVICES:
            return f"A room has at most {MAX_DEVICES} devices of the speaker’s."
        return "" if self.has_offered(command.code, command.time) else "This code is used or too old. Ask for another."

    @singledispatchmethod
    def _do(self, command: AnyCommand) -> None:
        raise TypeError(f"A room does what its commands say; it has none for {type(command).__name__}.")

    @_do.register
    def _(self, command: Join) -> None:
        if command.seat not in self.seats and len(self.seats) >= MAX_SEATS:
            del self.seats[self._silent_seat()]
        self.seats.setdefault(command.seat, 0.0)

    @_do.register
    def _(self, command: Move) -> None:
        self.moved = command.time
        if command.place != self.place:
            self.number += 1
            if self.place is None or command.place.shown != self.place.shown:
                self.shows = self.number
            self.place = command.place
        if command.place.takes:
            self.questions.setdefault(command.place, Question(command.place))
        self.is_shown = command.is_shown
        if self.is_shown and self.question:
            self.question.is_open = False

    @_do.register
    def _(self, command: Press) -> None:
        self.pressed += command.by

    @_do.register
    def _(self, command: Open) -> None:
        self.question.is_open = command.is_open

    @_do.register
    def _(self, command: Again) -> None:
        self.question.rounds.append({})
        self.question.is_open = True

    @_do.register
    def _(self, command: Answer) -> None:
        self.question.rounds[-1][command.seat] = command.value
        self.seats[command.seat] = command.time

    @_do.register
    def _(self, command: Point) -> None:
        if command.cell:
            self.points[command.seat] = self.place, command.cell
        else:
            self.points.pop(command.seat, None)

    @_do.register
    def _(self, command: OfferDevice) -> None:
        self.offer = command.code, command.time

    @_do.register
    def _(self, command: PairDevice) -> None:
        self.keys = (*self.keys, command.key)
        self.seats[command.seat] = 0.0
        self.speakers.add(command.seat)
        self.offer = "", 0.0

    @_do.register
    def _(self, command: End) -> None:
        self.has_ended = True
