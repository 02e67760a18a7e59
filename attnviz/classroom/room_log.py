"""The log of a room: its accepted commands, which the speaker's browser keeps. If the server loses the room, the
browser sends them back (`reopening`). The log holds no secret of a follower's: seats are listed without their
signatures, which the hash of the speaker's key makes again.
"""

from __future__ import annotations

import hashlib

from msgspec import structs

from attnviz.classroom.codes import public_seat
from attnviz.classroom.commands import AnyCommand, Move, PairDevice, Place, to_json
from attnviz.contract.classroom import LogPart


class RoomLog:
    """The commands of a room since it was made. `seat` is that of the browser that opened the room, which alone keeps
    them, as it alone has the room's first key. A place that the class comes back to is listed once, as a slide's image
    is large; later moves name it by its number, `#0`.
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
