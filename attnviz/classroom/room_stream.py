"""The stream of a room: the class as it is now, to one of those who are there, and again whenever it is otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from attnviz.classroom.room import Room
from attnviz.classroom.rooms import Held
from attnviz.contract.classroom import OwnAnswer, OwnNow
from attnviz.scene.document.encoding import to_json

COMMENT_SECONDS = 15.0
SPEAKER_SECONDS = 0.2
"""Between two events of the speaker's stream, of which each answer is one."""


async def stream(held: Held, seat: str, known: str) -> AsyncIterator[bytes]:
    """The class as it is now, and again whenever it is otherwise; and what this seat said, for who comes back."""
    is_speaker = seat in held.room.speakers
    held.streams[seat] += 1
    held.tell(speaker_alone=True)
    try:
        yield b"retry: 500\nevent: own\ndata: " + to_json(OwnNow(answer=_own_answer(held.room, seat))) + b"\n\n"
        while True:
            name, text = held.event(is_speaker)
            if name != known:
                yield b"id: " + name.encode() + b"\ndata: " + text + b"\n\n"
                known = name
            if held.room.has_ended:
                return
            if is_speaker:
                await asyncio.sleep(SPEAKER_SECONDS)
            if held.event(is_speaker)[0] != known:  # it changed while that was sent: nothing wakes this stream later
                continue
            if not await held.change(is_speaker, COMMENT_SECONDS):
                yield b": here\n\n"
    finally:
        held.streams[seat] -= 1
        if held.streams[seat] <= 0:
            del held.streams[seat]
            held.around.discard(seat)
        held.tell(speaker_alone=True)


def _own_answer(room: Room, seat: str) -> OwnAnswer | None:
    question = room.question
    value = question.rounds[-1].get(seat) if question else None
    return None if value is None else OwnAnswer(number=room.number, round=len(question.rounds), value=value)
