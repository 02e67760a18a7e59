"""Commands: the events of a room, in order. Replaying them rebuilds the room. Processes share them as JSON; a browser
sends some of them itself (`requests`).
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Meta, Struct, structs

from attnviz.classroom.codes import public_seat
from attnviz.contract.classroom import CellQuestion, LogPart, PressKind
from attnviz.contract.view_params import VIEWERS

Value = int | float | str  # an answer: the index of a candidate, a number, or a text
Text = Annotated[str, Meta(max_length=1_000)]  # before it is cleaned
TextId = Annotated[int, Meta(ge=0, lt=2**31)]
Secret = Annotated[str, Meta(max_length=64)]
CellText = Annotated[str, Meta(max_length=80, pattern=r"^([a-z][a-z0-9_]*\[[0-9]+(,[0-9]+)*\])?$")]


class Takes(Struct, frozen=True):
    """The answers a question accepts: one of `n_choices`; if that is 0 any number, one in [0, 1], or a short text."""

    n_choices: int = 0
    is_share: bool = False
    is_text: bool = False


class Place(Struct, frozen=True):
    """Where a class is."""

    at: str  # the address of a moment of a lesson, or of a scene, without `present`
    question: CellQuestion | None = None  # the speaker's, if it isn't the moment's own
    takes: Takes | None = None  # the answers its question accepts
    is_own: bool = False  # the speaker shows their own uploads, which no address contains: nobody can follow there
    moment: str = ""  # the talk's moment as JSON, without the speaker's notes; `at` is its scene

    @property
    def kind(self) -> Literal["pass", "lesson", "talk", "question"]:
        """What followers see: a pass, a moment of a lesson or talk, or a question about a cell."""
        if self.at.startswith("lesson="):
            return "lesson"
        return "talk" if self.moment else "question" if self.question else "pass"

    @property
    def shown(self) -> Place:
        """The canonical place among those with the same pass and question: the view parameters are left out."""
        if self.kind != "pass" or self.is_own:
            return structs.replace(self, takes=None)
        texts = parse_qsl(self.at, keep_blank_values=True)
        return Place(urlencode([(name, text) for name, text in texts if name not in VIEWERS]))


class Strict(
    Struct, kw_only=True, frozen=True, tag_field="do", tag=str.lower, rename="camel", forbid_unknown_fields=True
):
    """A struct that is read strictly; its tag names what to do."""


class Command(Strict, frozen=True, kw_only=True):
    """A command; `time` is in seconds, by the clock of the process that received it."""

    time: float = 0.0


class Make(Command, frozen=True):
    """Open a room. Its key and link are hashes."""

    code: str
    key: str
    link: str
    seat: str
    is_again: bool = False  # whether the speaker's browser reopened it, after the server had lost it


class Join(Command, frozen=True):
    """Take a seat."""

    seat: str


class Move(Command, frozen=True):
    """Move the class to a place; `is_shown` says whether the answer is shown there, `shows_class` whether the class's
    answers are.
    """

    place: Place
    is_shown: bool = False
    shows_class: bool = False


class Press(Command, frozen=True):
    """Press a button of the page that is presented, from the speaker's other device."""

    what: PressKind


class Open(Command, frozen=True):
    """Start or stop accepting answers."""

    is_open: bool


class Again(Command, frozen=True):
    """Ask the question a second time; the first round's answers are kept."""


class Answer(Command, frozen=True):
    """Answer a question of the room, in round `round`; `sure` says how sure, 1 to 3, or 0 if not said."""

    seat: Secret
    question: int
    round: int
    value: int | float | Text
    sure: Annotated[int, Meta(ge=0, le=3)] = 0


class Wait(Command, frozen=True):
    """Close the answers and let everyone discuss for some time; 0 ends that."""

    seconds: Literal[0, 60, 90, 120]


class AllowQuestions(Command, frozen=True, tag="allow"):
    """Allow or forbid questions from listeners to the speaker."""

    is_on: bool


class Wonder(Command, frozen=True):
    """Ask the speaker something, instead of what this seat asked before; an empty text withdraws it."""

    seat: Secret
    text: Text


class Vote(Command, frozen=True):
    """Vote for a shown question, or withdraw the vote."""

    seat: Secret
    id: TextId
    is_on: bool = True


class ShowTexts(Command, frozen=True, tag="texts"):
    """Show or hide texts from the class: those with these ids; without ids show all answers, or hide every text."""

    is_shown: bool
    ids: Annotated[list[TextId], Meta(max_length=1_000)] | None = None


class Point(Command, frozen=True):
    """Mark a number as not understood; an empty cell clears the mark."""

    seat: Secret
    cell: CellText


class OfferDevice(Command, frozen=True, tag="hand"):
    """Offer a code by which another of the speaker's devices joins."""

    code: str


class PairDevice(Command, frozen=True, tag="take"):
    """Pair the device that typed the offered code; it gets its own key and seat."""

    code: str
    key: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]  # its hash
    seat: Secret


class ForgetDevices(Command, frozen=True, tag="forget"):
    """Revoke all devices that were paired, and the code that is offered."""


class End(Command, frozen=True):
    """End the room."""


AnyCommand = Make | Join | Move | Press | Open | Again | Answer | Point | OfferDevice | PairDevice | ForgetDevices | End
AnyCommand |= Wait | AllowQuestions | Wonder | Vote | ShowTexts


def to_json(command: AnyCommand) -> bytes:
    """Encode a command as JSON."""
    return msgspec.json.encode(command)


def read(text: bytes | str) -> AnyCommand:
    """Decode a command."""
    return msgspec.json.decode(text, type=AnyCommand)


class RoomLog:
    """The commands of a room since it was made. `seat` is that of the browser that opened the room, which alone keeps
    them, as it alone has the room's first key. A place that the class comes back to is listed once, as a slide's image
    is large; later moves name it by its number, `#0`. The log has no secret of a follower: seats are listed without
    their signatures, which the hash of the speaker's key makes again (reopening.py).
    """

    def __init__(self, seat: str) -> None:
        self.seat = seat
        self.texts: list[str] = []  # each command as JSON
        self._places: dict[Place, int] = {}
        self._digest = hashlib.sha256()

    def add(self, command: AnyCommand) -> None:
        """Add a command that the room has applied."""
        logged = command
        if isinstance(command, Move):
            if command.place in self._places:
                logged = structs.replace(command, place=Place(f"#{self._places[command.place]}"))
            else:
                self._places[command.place] = len(self._places)
        elif hasattr(command, "seat") and not isinstance(command, PairDevice):
            logged = structs.replace(command, seat=public_seat(command.seat))
        self.texts.append(to_json(logged).decode())
        self._digest.update(self.texts[-1].encode())

    def start(self, known: str) -> int:
        """How many commands a browser has of this log. `known` is their number and the log's name then, as `12-name`;
        where the log has changed, the browser starts anew.
        """
        number, _, name = known.partition("-")
        n_commands = int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 0
        digest = hashlib.sha256("".join(self.texts[:n_commands]).encode())
        return n_commands if n_commands <= len(self.texts) and _name(digest) == name else 0

    def part(self, start: int) -> LogPart:
        """The commands from `start` on."""
        return LogPart(start=start, commands=self.texts[start:], name=_name(self._digest))


def _name(digest: hashlib._Hash) -> str:
    return digest.hexdigest()[:16]
