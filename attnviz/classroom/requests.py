"""The requests that a browser may send to a room, read strictly: anything else is refused and changes nothing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from attnviz.classroom.commands import (
    Again,
    AllowQuestions,
    Answer,
    End,
    ForgetDevices,
    Open,
    Point,
    Press,
    Secret,
    ShowTexts,
    Strict,
    Vote,
    Wait,
    Wonder,
)
from attnviz.classroom.room import MAX_COMMANDS, RoomError
from attnviz.contract.classroom import CellQuestion
from attnviz.core.limits import MAX_IMAGE_CHARACTERS
from attnviz.lessons.talk import TalkMoment

MAX_BYTES = 2_000  # size limit of a follower's request
MAX_SPEAKER_BYTES = 64_000 + MAX_IMAGE_CHARACTERS
Image = Annotated[str, Meta(max_length=MAX_IMAGE_CHARACTERS)]
MAX_LOG_BYTES = 16_000_000  # size limit of a room's log: a class of 300 with 20 questions makes 1 MB, images more


class Make(Strict, frozen=True):
    """Open a room."""


class Join(Strict, frozen=True):
    """Join with the code alone, with a QR code's link, or with an earlier seat."""

    link: Secret = ""
    seat: Secret = ""


class Reopen(Strict, frozen=True):
    """Reopen a room that the server has lost, from its log (`RoomLog`)."""

    link: Secret
    seat: Secret
    commands: Annotated[list[str], Meta(max_length=2 * MAX_COMMANDS)]


class Around(Strict, frozen=True):
    """Report whether this follower is exploring alone."""

    seat: Secret
    is_around: bool


class Move(Strict, frozen=True):
    """Move the class. This and all requests below are the speaker's."""

    at: str
    question: CellQuestion | None = None
    moment: TalkMoment | None = None
    image: Image | None = None  # of the moment's slide, as base64; empty if the browser has lost it, null if not sent
    is_shown: bool = False
    shows_class: bool = False


class Here(Strict, frozen=True):
    """Heartbeat of the speaker's machine."""


class OfferDevice(Strict, frozen=True, tag="hand"):
    """Offer a code for another of the speaker's devices."""


class Counts(Strict, frozen=True):
    """Request all questions' answers as CSV: their counts, or a row for each seat."""

    by: Literal["answer", "seat"] = "answer"


Speakers = Move | Press | Open | Again | Wait | AllowQuestions | ShowTexts | Here | OfferDevice | Counts | End
Speakers |= ForgetDevices
Followers = Answer | Point | Wonder | Vote
AnyRequest = Make | Join | Followers | Around | Speakers


def read(body: bytes, type: Any = AnyRequest) -> Any:
    """Parse a request body; raises RoomError for a request that our pages never send."""
    try:
        return msgspec.json.decode(body, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RoomError("attnviz’s pages don’t send such a request. Reload the page.") from None
