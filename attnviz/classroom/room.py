"""Room: a class that follows one speaker, as a state machine without a clock, a network or an interface."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from attnviz.classroom import commands
from attnviz.classroom.codes import is_one_of
from attnviz.classroom.commands import AnyCommand, Make, Place, Value
from attnviz.contract.classroom import PressKind
from attnviz.core.limits import MAX_TALK_MOMENTS
from attnviz.core.tokens import clean

LARGEST = 1e12  # the largest number that an answer may be
SECONDS = 2 * 60 * 60  # how long a room lasts after the speaker's last move
OFFER_SECONDS = 5 * 60  # how long the code for another of the speaker's devices is valid
ANSWER_SECONDS = 1.0  # between two answers of a seat
WONDER_SECONDS = 10.0  # between two questions of a listener
MAX_SEATS = 5_000  # seats that a room remembers; beyond that the oldest silent one is forgotten
SEAT_SECONDS = 60  # how long an unused seat is valid: one that opens no stream and sends nothing
MAX_QUESTIONS = 200
MAX_COMMANDS = 100_000  # commands of followers that a room keeps; a class of 120 makes about 10,000
MAX_DEVICES = 5  # devices that one speaker may use
FOLLOWERS = commands.Join | commands.Answer | commands.Point | commands.Wonder | commands.Vote
LATEST_PRESSES = 8  # presses that the presented page can still read, if it hears of them late
MAX_CHARACTERS = 140  # of an answer in words or a question, which followers get once the speaker shows it
_INVISIBLE = " \u200c\u200d"


def one_line(text: str) -> str:
    r"""A text in NFC on one line, without control or direction characters; joiners stay inside it alone.

    >>> one_line("  It looks \n back\u202e. ")
    'It looks back.'
    """
    return " ".join(clean(text).split()).strip(_INVISIBLE)


def is_text(text: object) -> bool:
    """Whether this is what `one_line` makes of a text of 1 to `MAX_CHARACTERS` characters."""
    return isinstance(text, str) and 0 < len(text) <= MAX_CHARACTERS and text == one_line(text)


def length_refusal(text: str) -> str:
    """Why a text is refused for its length; empty if it isn't."""
    return f"At most {MAX_CHARACTERS} characters; this has {len(text)}." if len(text) > MAX_CHARACTERS else ""


@dataclass
class ListenersQuestion:
    """What a listener asks the speaker; an empty text if it was withdrawn."""

    id: int
    text: str
    time: float  # when it was asked, in seconds
    votes: set[str] = field(default_factory=set)  # the seats that want it answered


class RoomError(ValueError):
    """A refused command, with a sentence for the person who tried it, and its HTTP status."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class Question:
    """A question asked in a room."""

    place: Place
    number: int = 0  # how many questions were asked before it in its room
    rounds: list[dict[str, Value]] = field(default_factory=lambda: [{}])  # each round's answers, by seat
    sure: list[dict[str, int]] = field(default_factory=lambda: [{}])  # how sure seats are, for those that said so
    ids: dict[str, int] = field(default_factory=dict)  # the ids of the last round's texts, by seat
    is_open: bool = True  # whether answers are accepted
    closed_by_showing: bool = False  # whether showing the class's answers closed it

    def takes(self, value: Value) -> bool:
        """Whether an answer is valid for this question."""
        takes = self.place.takes
        if takes.is_text:
            return is_text(value)
        if takes.n_choices:
            return type(value) is int and 0 <= value < takes.n_choices
        if not (type(value) in (int, float) and math.isfinite(value)):
            return False
        return 0 <= value <= 1 if takes.is_share else abs(value) <= LARGEST

    @property
    def counts(self) -> list[list[tuple[Value, int]]]:
        """Counts per answer, for each round, sorted by answer."""
        return [sorted(Counter(answers.values()).items()) for answers in self.rounds]

    @property
    def sure_counts(self) -> list[list[tuple[Value, int, int]]]:
        """For each round, sorted triples of an answer, how sure, and how many seats said so."""
        pairs = zip(self.rounds, self.sure, strict=True)
        counters = (Counter((answers[seat], sure) for seat, sure in said.items()) for answers, said in pairs)
        return [[(value, sure, n) for (value, sure), n in sorted(counter.items())] for counter in counters]

    @property
    def moves(self) -> list[tuple[Value, Value, int]]:
        """From the first round to the second: both answers, and how many seats gave them."""
        if len(self.rounds) < 2:
            return []
        first, second = self.rounds
        counter = Counter((value, second[seat]) for seat, value in first.items() if seat in second)
        return [(*pair, count) for pair, count in sorted(counter.items())]

    def ask_again(self) -> None:
        """Begin a second round."""
        self.rounds.append({})
        self.sure.append({})
        self.ids = {}
        self.is_open, self.closed_by_showing = True, False


@dataclass
class Room:
    """A room. It stores only hashes of its secrets."""

    code: str
    link: str  # the hash of the QR code's secret
    keys: tuple[str, ...]  # the hashes of the speaker's keys, one for each device; the first opened it
    speakers: tuple[str, ...]  # the seats of these devices
    moved: float  # when the class last moved
    seats: dict[str, float] = field(default_factory=dict)  # the seats in use, each with the time of its last answer
    place: Place | None = None
    number: int = 0  # how many times the class has moved
    leads: int = 0  # how many times it was led, to a place or to what is shown there
    shows: int = 0  # the number of the move since which followers see the same pass and question
    is_shown: bool = False  # whether the answer is shown
    shows_class: bool = False  # whether the presented page shows the class's answers
    talk: dict[str, None] = field(default_factory=dict)  # the moments of the speaker's talk that were shown, in order
    questions: dict[Place, Question] = field(default_factory=dict)  # in the order in which they were asked
    points: dict[str, tuple[Place, str]] = field(default_factory=dict)  # the cell that a seat doesn't understand
    offer: tuple[str, float] = ("", 0.0)  # the code for another of the speaker's devices, and when it was offered
    takes_questions: bool = False  # whether listeners may ask the speaker something
    wondered: dict[str, ListenersQuestion] = field(default_factory=dict)  # by seat
    shown_texts: set[int] = field(default_factory=set)  # the ids of those that the speaker shows
    n_texts: int = 0  # how many texts have had an id
    talks_until: float = 0.0  # when to stop talking to one's neighbour
    forgotten: tuple[str, ...] = ()  # the seats of devices that the speaker has forgotten
    pressed: int = 0  # how many buttons the speaker's other devices have pressed
    presses: tuple[PressKind, ...] = ()  # the latest of them
    has_ended: bool = False
    n_commands: int = 0
    is_again: bool = False  # whether it was reopened: its log may lack the seats of its last second

    @classmethod
    def from_command(cls, command: Make) -> Room:
        """The room that a command opens."""
        keys, speakers, seats = (command.key,), (command.seat,), {command.seat: 0.0}
        return cls(command.code, command.link, keys, speakers, command.time, seats, is_again=command.is_again)

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

    def counts_of_points(self) -> list[tuple[Place, str, int]]:
        """The cells that people don't understand, with counts, most frequent first."""
        return [(*pointed, count) for pointed, count in Counter(self.points.values()).most_common()]

    def _silent_seat(self) -> str | None:
        """The oldest follower's seat that has never answered, pointed or asked."""
        others = {*self.speakers, *self.points, *self.wondered}
        return next((seat for seat, last in self.seats.items() if not last and seat not in others), None)

    def refusal(self, command: AnyCommand) -> str:
        """Why a command is refused now; empty if it isn't."""
        if self.is_over(command.time):
            return "This room has ended."
        if self.n_commands >= MAX_COMMANDS and isinstance(command, FOLLOWERS):
            return "This room has had all the answers that it can keep."
        match command:
            case commands.Join(seat=seat) if seat not in self.seats and len(self.seats) >= MAX_SEATS:
                if self._silent_seat() is None:
                    return f"All of the {MAX_SEATS:,} seats of this room have answered. Nobody else can come in."
            case commands.Move(place=place) if place.takes is not None and place not in self.questions:
                if len(self.questions) >= MAX_QUESTIONS:
                    return f"A room has at most {MAX_QUESTIONS} questions. Open another."
            case commands.Press() if self.place is None:
                return "Nothing is presented yet."
            case commands.Open() | commands.Again() | commands.Wait():
                return self._refusal_to_ask(command)
            case commands.Answer():
                return self._refusal_of_answer(command)
            case commands.Point() if command.seat not in self.seats or not self.place:
                return "Join again."
            case commands.Wonder() | commands.Vote() if command.seat not in self.seats or command.seat in self.speakers:
                return "Join again."
            case commands.Wonder() | commands.Vote() if not self.takes_questions:
                return "The speaker takes no questions here."
            case commands.Wonder():
                return self._refusal_to_wonder(command)
            case commands.Vote(id=id_) if id_ not in {each.id for each in self.shown_questions}:
                return "This question isn’t shown any more."
            case commands.PairDevice() if len(self.keys) >= MAX_DEVICES:
                return f"A room has at most {MAX_DEVICES} devices of the speaker’s."
            case commands.PairDevice() if not self.has_offered(command.code, command.time):
                return "This code is used or too old. Ask for another."
        return ""

    def _refusal_to_ask(self, command: commands.Open | commands.Again | commands.Wait) -> str:
        if self.question is None:
            return "Nothing is asked here."
        is_again, is_wait = isinstance(command, commands.Again), isinstance(command, commands.Wait)
        if self.is_shown and (is_again or (command.seconds > 0 if is_wait else command.is_open)):
            return "The answer is shown already."
        if self.shows_class and isinstance(command, commands.Open) and command.is_open:
            return "The answers of the class are shown already: hide them first."
        return "It was asked twice already." if is_again and len(self.question.rounds) > 1 else ""

    def _refusal_of_answer(self, command: commands.Answer) -> str:
        question = self.question
        if command.seat not in self.seats:
            return "This seat isn’t in this room. Join again."
        if question is None or (command.question, command.round) != (question.number, len(question.rounds)):
            return "The class has gone on to something else."
        if not question.is_open:
            return "No more answers are taken."
        if question.place.takes.is_text and isinstance(command.value, str) and (why := length_refusal(command.value)):
            return why
        if not question.takes(command.value):
            return "That is no answer to this question."
        said = question.rounds[-1].get(command.seat), question.sure[-1].get(command.seat, 0)
        is_same = said == (command.value, command.sure)  # a request that was sent twice
        is_early = command.time - self.seats[command.seat] < ANSWER_SECONDS
        return "One answer a second." if is_early and not is_same else ""

    def _refusal_to_wonder(self, command: commands.Wonder) -> str:
        if why := length_refusal(command.text):
            return why
        if command.text and not is_text(command.text):
            return "A question is one line of plain text."
        before = self.wondered.get(command.seat)
        is_early = before is not None and command.time - before.time < WONDER_SECONDS
        return (
            f"One question every {WONDER_SECONDS:.0f} s." if is_early and command.text not in ("", before.text) else ""
        )

    def apply(self, command: AnyCommand) -> None:
        """Apply a command; if it is refused, raise RoomError and change nothing."""
        if refusal := self.refusal(command):
            raise RoomError(refusal)
        match command:
            case commands.Join(seat=seat):
                if seat not in self.seats and len(self.seats) >= MAX_SEATS:
                    del self.seats[self._silent_seat()]
                self.seats.setdefault(seat, 0.0)
            case commands.Move():
                self._move(command)
            case commands.Press(what=what):
                self.pressed += 1
                self.presses = (*self.presses, what)[-LATEST_PRESSES:]
            case commands.Open(is_open=is_open):
                self.question.is_open, self.question.closed_by_showing = is_open, False
            case commands.Again():
                self.question.ask_again()
                self.talks_until = 0.0
            case commands.Wait(seconds=seconds):
                self.question.is_open = self.question.closed_by_showing = False
                self.talks_until = command.time + seconds if seconds else 0.0
            case commands.Answer():
                self._answer(command)
            case commands.AllowQuestions(is_on=is_on):
                self.takes_questions = is_on
            case commands.Wonder(seat=seat, text=text):
                if seat not in self.wondered or self.wondered[seat].text != text:
                    time = command.time if text or seat not in self.wondered else self.wondered[seat].time
                    self.wondered[seat] = ListenersQuestion(self._new_id(), text, time)
            case commands.Vote(seat=seat, id=id_, is_on=is_on):
                (voted,) = (each.votes for each in self.wondered.values() if each.id == id_)
                (voted.add if is_on else voted.discard)(seat)
            case commands.ShowTexts(ids=ids, is_shown=is_shown):
                self._show_texts(ids, is_shown)
            case commands.Point(seat=seat, cell=""):
                self.points.pop(seat, None)
            case commands.Point(seat=seat, cell=cell):
                self.points[seat] = self.place, cell
            case commands.OfferDevice(code=code):
                self.offer = code, command.time
            case commands.PairDevice(key=key, seat=seat):
                self.keys = (*self.keys, key)
                self.seats[seat] = 0.0
                self.speakers = (*self.speakers, seat)
                self.offer = "", 0.0
            case commands.ForgetDevices():
                self.forgotten += self.speakers[1:]
                self.keys, self.speakers, self.offer = self.keys[:1], self.speakers[:1], ("", 0.0)
            case commands.End():
                self.has_ended = True
                for each in (self.questions, self.wondered, self.points):  # what people said
                    each.clear()
            case _:
                raise TypeError(f"A room can't apply {type(command).__name__}.")
        self.n_commands += 1

    def _answer(self, command: commands.Answer) -> None:
        question, seat = self.question, command.seat
        answers, sure = question.rounds[-1], question.sure[-1]
        if isinstance(command.value, str) and answers.get(seat) != command.value:  # a changed text isn't shown
            question.ids[seat] = self._new_id()
        answers[seat] = command.value
        sure.pop(seat, None)
        if command.sure:
            sure[seat] = command.sure
        self.seats[seat] = command.time

    def _new_id(self) -> int:
        self.n_texts += 1
        return self.n_texts

    def _show_texts(self, ids: list[int] | None, is_shown: bool) -> None:
        if is_shown:
            answers = self.question.ids.values() if self.question else ()
            questions = (each.id for each in self.wondered.values() if each.text)
            self.shown_texts |= set(answers) if ids is None else {*answers, *questions} & {*ids}
        else:
            self.shown_texts -= self.shown_texts if ids is None else {*ids}

    @property
    def shown_questions(self) -> list[ListenersQuestion]:
        """The listeners' questions that the speaker shows, most votes first."""
        return [each for each in self.listeners_questions if each.id in self.shown_texts]

    @property
    def listeners_questions(self) -> list[ListenersQuestion]:
        """All questions of listeners, most votes first."""
        asked = (each for each in self.wondered.values() if each.text)
        return sorted(asked, key=lambda each: (-len(each.votes), each.id))

    def _move(self, command: commands.Move) -> None:
        self.moved, self.is_shown, place = command.time, command.is_shown, command.place
        self.shows_class, self.leads = command.shows_class, self.leads + 1
        if place != self.place:
            self.talks_until = 0.0
            self.number += 1
            if self.place is None or place.shown != self.place.shown:
                self.shows = self.number
            self.place = place
        if place.moment and len(self.talk) < MAX_TALK_MOMENTS:
            self.talk.setdefault(place.moment)
        if place.takes:
            self.questions.setdefault(place, Question(place, len(self.questions)))
        if self.question:
            self._close(self.question)

    def _close(self, question: Question) -> None:
        """Take no answers while the class's are shown, nor once the right one was: what is shown stays."""
        if self.is_shown:
            question.is_open, question.closed_by_showing = False, False
        elif self.shows_class and question.is_open:
            question.is_open, question.closed_by_showing = False, True
        elif not self.shows_class and question.closed_by_showing:
            question.is_open, question.closed_by_showing = True, False
        if self.is_shown or self.shows_class:
            self.talks_until = 0.0
