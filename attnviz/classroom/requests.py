"""Requests: what a browser asks of a room. What isn't one of these, with these parts and no other, changes nothing."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from attnviz.classroom.commands import Value
from attnviz.classroom.room import RoomError
from attnviz.contract.classroom import CellQuestion
from attnviz.lessons.talk import TalkMoment

MAX_BYTES = 2_000
"""Of a request of a follower's."""

MAX_SPEAKER_BYTES = 64_000

Secret = Annotated[str, Meta(max_length=64)]
CellText = Annotated[str, Meta(max_length=80, pattern=r"^([a-z][a-z0-9_]*\[[0-9]+(,[0-9]+)*\])?$")]


class Sent(
    Struct, kw_only=True, frozen=True, tag_field="do", tag=str.lower, rename="camel", forbid_unknown_fields=True
):
    """A request; its tag says what is to be done."""


class Make(Sent, frozen=True):
    """Open a room."""


class Join(Sent, frozen=True):
    """Come in: with the code alone, with a QR code's link, or with the seat that one has."""

    link: Secret = ""
    seat: Secret = ""


class Answer(Sent, frozen=True):
    """Answer the question of a place, in a round of it."""

    seat: Secret
    number: int
    round: int
    value: Value


class Point(Sent, frozen=True):
    """Say that one doesn't understand a cell; an empty one takes that back."""

    seat: Secret
    cell: CellText


class Around(Sent, frozen=True):
    """Say whether one looks around by oneself."""

    seat: Secret
    is_around: bool


class Move(Sent, frozen=True):
    """Lead the class; the speaker's, as all that follow."""

    at: str
    question: CellQuestion | None = None
    moment: TalkMoment | None = None
    is_shown: bool = False


class Open(Sent, frozen=True):
    """Take answers, or no more."""

    is_open: bool


class Again(Sent, frozen=True):
    """Ask again."""


class Press(Sent, frozen=True):
    """Go on, or back, in the talk that another device of the speaker's gives."""

    by: Literal[1, -1]


class Here(Sent, frozen=True):
    """Say that the speaker's machine is awake."""


class Hand(Sent, frozen=True):
    """Offer a code for another device of the speaker's."""


class Counts(Sent, frozen=True):
    """Ask for the counts of all questions, as CSV."""


class End(Sent, frozen=True):
    """End the room."""


Speakers = Move | Press | Open | Again | Here | Hand | Counts | End
AnyRequest = Make | Join | Answer | Point | Around | Speakers


def read(body: bytes) -> AnyRequest:
    """The request in a body.

    Raises
    ------
    RoomError
        If no page of ours says so.
    """
    try:
        return msgspec.json.decode(body, type=AnyRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RoomError("What is asked of a room is a page’s own. Reload the page.") from None
