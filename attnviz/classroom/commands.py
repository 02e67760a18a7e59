"""Commands: what happens in a room, one after the other. A room is what its commands have made of it.

They are what processes share of a room, as JSON; what a browser sends is `requests`.
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Struct, structs

from attnviz.contract.classroom import CellQuestion
from attnviz.contract.view_params import VIEWERS

Value = int | float
"""An answer: the place of a candidate, or a number."""


class Takes(Struct, frozen=True):
    """The answers that a question takes: one of `n_choices`; any number if those are 0, or a share."""

    n_choices: int = 0
    is_share: bool = False


class Place(Struct, frozen=True):
    """Where a class is.

    Attributes
    ----------
    at
        The address: of a moment of a lesson, or of a scene, without `present`.
    question
        What is asked there, where it isn't the moment's own question.
    takes
        The answers to its question; None where there is none.
    is_own
        Whether the speaker shows numbers of their own, which no address has: nobody can follow there.
    moment
        A moment of a talk of the speaker's own, as JSON, without what is for the speaker alone; `at` is its scene.
    """

    at: str
    question: CellQuestion | None = None
    takes: Takes | None = None
    is_own: bool = False
    moment: str = ""

    @property
    def kind(self) -> Literal["pass", "lesson", "talk", "question"]:
        """The kind of page that followers see: a pass, a moment of a lesson or of a talk, or a question of a cell."""
        if self.at.startswith("lesson="):
            return "lesson"
        return "talk" if self.moment else "question" if self.question else "pass"

    @property
    def shown(self) -> Place:
        """The place that stands for all in which one sees the same pass and question: without where one looks."""
        if self.kind != "pass" or self.is_own:
            return structs.replace(self, takes=None)
        texts = parse_qsl(self.at, keep_blank_values=True)
        return Place(urlencode([(name, text) for name, text in texts if name not in VIEWERS]))


class Command(Struct, kw_only=True, frozen=True, tag_field="do", tag=str.lower):
    """A command; `time` is in seconds, of the process that took it."""

    time: float


class Make(Command, frozen=True):
    """Open a room; what it keeps of secrets are hashes, but for seats."""

    code: str
    key: str
    link: str
    seat: str


class Join(Command, frozen=True):
    """Take a seat."""

    seat: str


class Move(Command, frozen=True):
    """Lead the class to a place; `is_shown` says whether the answer is shown there."""

    place: Place
    is_shown: bool = False


class Press(Command, frozen=True):
    """Go on by so many presses, or back, in the talk that another device of the speaker's gives."""

    by: int


class Open(Command, frozen=True):
    """Take answers to the question, or take no more."""

    is_open: bool


class Again(Command, frozen=True):
    """Ask the question again, and keep the answers of the first round beside those of the second."""


class Answer(Command, frozen=True):
    """Answer the question of the place of that number, in that round."""

    seat: str
    number: int
    round: int
    value: Value


class Point(Command, frozen=True):
    """Say that one doesn't understand a number, or, with an empty cell, that one does."""

    seat: str
    cell: str


class Hand(Command, frozen=True):
    """Offer a second code by which another device of the speaker's joins."""

    code: str


class Take(Command, frozen=True):
    """Take up that offer: a key and a seat of its own."""

    code: str
    key: str
    seat: str


class End(Command, frozen=True):
    """End the room."""


AnyCommand = Make | Join | Move | Press | Open | Again | Answer | Point | Hand | Take | End


def to_json(command: AnyCommand) -> bytes:
    """A command as JSON."""
    return msgspec.json.encode(command)


def read(text: bytes) -> AnyCommand:
    """The command that was written."""
    return msgspec.json.decode(text, type=AnyCommand)
