"""The requests that a browser may send to a room, read strictly: anything else is refused and changes nothing."""

from __future__ import annotations

import msgspec

from attnviz.classroom.commands import Again, Answer, End, Open, Point, Press, Secret, Strict
from attnviz.classroom.room import RoomError
from attnviz.contract.classroom import CellQuestion
from attnviz.lessons.talk import TalkMoment

MAX_BYTES = 2_000  # size limit of a follower's request
MAX_SPEAKER_BYTES = 64_000


class Make(Strict, frozen=True):
    """Open a room."""


class Join(Strict, frozen=True):
    """Join with the code alone, with a QR code's link, or with an earlier seat."""

    link: Secret = ""
    seat: Secret = ""


class Around(Strict, frozen=True):
    """Report whether this follower is exploring alone."""

    seat: Secret
    is_around: bool


class Move(Strict, frozen=True):
    """Move the class. This and all requests below are the speaker's."""

    at: str
    question: CellQuestion | None = None
    moment: TalkMoment | None = None
    is_shown: bool = False


class Here(Strict, frozen=True):
    """Heartbeat of the speaker's machine."""


class OfferDevice(Strict, frozen=True, tag="hand"):
    """Offer a code for another of the speaker's devices."""


class Counts(Strict, frozen=True):
    """Request the counts of all questions as CSV."""


Speakers = Move | Press | Open | Again | Here | OfferDevice | Counts | End
AnyRequest = Make | Join | Answer | Point | Around | Speakers


def read(body: bytes) -> AnyRequest:
    """Parse a request body; raises RoomError for a request that our pages never send."""
    try:
        return msgspec.json.decode(body, type=AnyRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RoomError("attnviz’s pages don’t send such a request. Reload the page.") from None
