"""A follower of a class: real connections, as a phone has them; and the speaker's messages."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from urllib.parse import urlsplit


class Follower:
    """A follower by a stream of events of its own."""

    def __init__(self, address: str, code: str) -> None:
        self.host, self.port = urlsplit(address).hostname, urlsplit(address).port
        self.address, self.code = address, code
        self.heard: asyncio.Queue = asyncio.Queue()

    async def come(self) -> None:
        """Take a seat, and listen."""
        _, body = await self._asked("POST", f"/room?room={self.code}", b'{"do": "join"}')
        self.seat = json.loads(body)["seat"]
        reader, self.writer = await asyncio.open_connection(self.host, self.port)
        path = f"/room/events?room={self.code}&seat={self.seat}"
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n".encode())
        self.listening = asyncio.create_task(self._listen(reader))

    def leave(self) -> None:
        """Close the stream."""
        self.listening.cancel()
        self.writer.close()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        async for line in reader:
            if line.startswith(b"data: ") and b'"number"' in line and b'"at"' in line:
                self.heard.put_nowait((time.monotonic(), json.loads(line[6:])))

    async def until(self, number: int, fetches: bool) -> float:
        """When it has the place of that number, and where it needs it, the moment there."""
        while True:
            when, state = await self.heard.get()
            if state["number"] >= number:
                break
        if fetches:
            await self._asked("GET", f"/room/moment?room={self.code}&seat={self.seat}&shows={state['shows']}", b"")
            when = time.monotonic()
        return when

    async def answer(self, number: int, value: int) -> None:
        """Answer, twice."""
        sent = {"do": "answer", "seat": self.seat, "number": number, "round": 1, "value": value}
        for _ in range(2):
            await self._asked("POST", f"/room?room={self.code}", json.dumps(sent).encode())

    async def _asked(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nAccept-Encoding: gzip\r\n"
        writer.write(f"{head}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.read()
        writer.close()
        first, _, body = answer.partition(b"\r\n\r\n")
        return int(first.split()[1]), body


async def come_all(people: list[Follower]) -> None:
    """Let them in, 20 at a time, as a lecture hall does."""
    for n in range(0, len(people), 20):
        await asyncio.gather(*(each.come() for each in people[n : n + 20]))


def told(address: str, room: dict, **message: object) -> dict | str:
    """What the speaker's message is answered: JSON, or a text."""
    headers = {"X-Room-Key": room.get("key", "")}
    url = f"{address}/room?room={room.get('code', '')}"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(message).encode(), headers)) as answer:
        body = answer.read()
        return json.loads(body) if "json" in answer.headers["Content-Type"] else body.decode()


async def gone_to(address: str, room: dict, people: list[Follower], at: str, fetches: bool) -> float:
    """Seconds from a press until the last of them has its last byte."""
    start = time.monotonic()
    moved = await asyncio.to_thread(told, address, room, do="move", at=at)
    return max(await asyncio.gather(*(each.until(moved["number"], fetches) for each in people))) - start
