"""The requests that a browser may send to a room, parsed strictly: anything else is refused and changes nothing."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from attnviz.classroom.commands import Value
from attnviz.classroom.room import RoomError
from attnviz.contract.classroom import CellQuestion
from attnviz.lessons.talk import TalkMoment

MAX_BYTES = 2_000
"""Size limit of a follower's request."""

MAX_SPEAKER_BYTES = 64_000

Secret = Annotated[str, Meta(max_length=64)]
CellText = Annotated[str, Meta(max_length=80, pattern=r"^([a-z][a-z0-9_]*\[[0-9]+(,[0-9]+)*\])?$")]


class Sent(
    Struct, kw_only=True, frozen=True, tag_field="do", tag=str.lower, rename="camel", forbid_unknown_fields=True
):
    """A request; its tag names the action."""


class Make(Sent, frozen=True):
    """Open a room."""


class Join(Sent, frozen=True):
    """Join with the code alone, with a QR code's link, or with an earlier seat."""

    link: Secret = ""
    seat: Secret = ""


class Answer(Sent, frozen=True):
    """Answer the question of a place in one of its rounds."""

    seat: Secret
    number: int
    round: int
    value: Value


class Point(Sent, frozen=True):
    """Mark a cell as not understood; an empty one clears the mark."""

    seat: Secret
    cell: CellText


class Around(Sent, frozen=True):
    """Report whether this follower is exploring alone."""

    seat: Secret
    is_around: bool


class Move(Sent, frozen=True):
    """Move the class. This and all requests below are the speaker's."""

    at: str
    question: CellQuestion | None = None
    moment: TalkMoment | None = None
    is_shown: bool = False


class Open(Sent, frozen=True):
    """Start or stop accepting answers."""

    is_open: bool


class Again(Sent, frozen=True):
    """Ask the question a second time."""


class Press(Sent, frozen=True):
    """Step forward or back in the talk that runs on the speaker's other device."""

    by: Literal[1, -1]


class Here(Sent, frozen=True):
    """Heartbeat of the speaker's machine."""


class OfferDevice(Sent, frozen=True, tag="hand"):
    """Offer a code for another of the speaker's devices."""


class Counts(Sent, frozen=True):
    """Request the counts of all questions as CSV."""


class End(Sent, frozen=True):
    """End the room."""


Speakers = Move | Press | Open | Again | Here | OfferDevice | Counts | End
AnyRequest = Make | Join | Answer | Point | Around | Speakers


def read(body: bytes) -> AnyRequest:
    """Parse a request body.

    Raises
    ------
    RoomError
        If our pages never send such a request.
    """
    try:
        return msgspec.json.decode(body, type=AnyRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RoomError("What is asked of a room is a page’s own. Reload the page.") from None
