"""Floods: what one visitor can send without end, from as many tabs and connections as it likes.

Each is a coroutine that never returns. It sends as fast as the server takes it, and connects anew where that hangs up.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable

import h11
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz.server import acts as server
from benchmarks import largest
from benchmarks.connection import Connection
from benchmarks.protocol import trigger
from benchmarks.visitor import ACTS, Visitor

Flood = Callable[[str], Awaitable[None]]

LARGEST = largest.query(step="softmax")
CONNECTIONS = 8  # that one tab acts over, where a browser has one


def rerun(query: str) -> bytes:
    """A message that asks for a run at that address."""
    message = BackMsg()
    message.rerun_script.query_string = query
    return message.SerializeToString()


def messages(*sent: bytes, tabs: int = 1, reads: bool = True) -> Flood:
    """Send these messages in so many tabs, and read the answers or don't."""

    async def send(host: str) -> None:
        while True:
            with contextlib.suppress(websockets.WebSocketException, OSError):
                async with _connected(host) as socket:
                    reading = asyncio.create_task(_read(socket)) if reads else None
                    while not (reading and reading.done()):
                        for message in sent:
                            await socket.send(message)
                            await asyncio.sleep(0)

    return _at_once(send for _ in range(tabs))


def frames(data: bytes) -> Flood:
    """Put these bytes into the connection as they are."""

    async def send(host: str) -> None:
        while True:
            with contextlib.suppress(websockets.WebSocketException, OSError):
                async with _connected(host) as socket:
                    reading = asyncio.create_task(_read(socket))
                    while not socket.transport.is_closing():
                        socket.transport.write(data)
                        while socket.transport.get_write_buffer_size():
                            await asyncio.sleep(0.001)
                    reading.cancel()

    return send


def audits(tabs: int) -> Flood:
    """Ask for audits of the largest pass."""

    async def ask(host: str) -> None:
        while True:
            async with Visitor(f"http://{host}/audit?{LARGEST}") as visitor:
                await visitor.run(trigger(visitor.widget("audit"), "run", "recompute"))

    return _at_once(ask for _ in range(tabs))


def acts(query: str, *done: tuple[str, object], tabs: int = 1) -> Flood:
    """Do these things again and again, as many at a time and over as many connections as there may be."""

    async def do(host: str) -> None:
        async with Visitor(f"http://{host}/?{query}") as visitor:
            said = {part: visitor.answer[part] for part in ("tab", "name", "address")}
            asked = said | _UNSEEN | {"acts": [list(done[n % len(done)]) for n in range(server.MOST)]}
            await _at_once(_posting(json.dumps(asked).encode()) for _ in range(CONNECTIONS))(host)

    return _at_once(do for _ in range(tabs))


def bodies(body: bytes) -> Flood:
    """Post what no viewer says."""
    return _at_once(_posting(body) for _ in range(CONNECTIONS))


def _posting(body: bytes) -> Flood:
    async def post(host: str) -> None:
        name, port = host.split(":")
        connection = Connection(name, int(port))
        while True:
            try:
                await connection.ask("POST", ACTS, body)
            except (OSError, h11.RemoteProtocolError):
                await asyncio.sleep(0.1)

    return post


def _at_once(floods: Iterable[Flood]) -> Flood:
    listed = list(floods)

    async def flood(host: str) -> None:
        await asyncio.gather(*(each(host) for each in listed))

    return flood


def _connected(host: str) -> websockets.connect:
    return websockets.connect(
        f"ws://{host}/_stcore/stream", subprotocols=["streamlit"], max_size=None, compression=None
    )


async def _read(socket: websockets.ClientConnection) -> None:
    with contextlib.suppress(websockets.ConnectionClosed):
        async for _ in socket:
            pass


_LARGE_RUNS = [rerun(f"{LARGEST}&seed={n}") for n in range(9)]
_LISTS = [[]] * 1_500  # of which as many as there may be in one request take it 0.1 s to read
_UNSEEN = {"look": "", "draws": "pass", "plans": []}  # of one who sees nothing yet
_FOR_NOBODY = _UNSEEN | {"tab": "", "name": "", "address": {}, "acts": [["seed", [[]] * 30_000]]}

FLOODS: dict[str, Flood] = {
    "runs": messages(rerun("seed=1"), rerun("seed=2")),
    "runs of the largest pass": messages(*_LARGE_RUNS),
    "messages that no page sends": messages(BackMsg(clear_cache=True).SerializeToString()),
    "10 tabs with runs of the largest pass": messages(*_LARGE_RUNS, tabs=10),
    "random bytes": messages(b"\xff" * 100),
    "messages of 19 MB": messages(b"\n" * 19_000_000),
    "the largest pass, and reads no answer": messages(*_LARGE_RUNS, reads=False),
    "pings": frames(b"\x89\x80\0\0\0\0" * 5_000),
    "a message in endless parts": frames(b"\x02\x80\0\0\0\0" + b"\x00\x80\0\0\0\0" * 5_000),
    "5 audits of the largest pass": audits(5),
    "acts": acts("", ("another_seed", True)),
    "acts on the largest pass": acts(LARGEST, ("another_seed", True), ("need", 1)),
    "10 tabs with acts on the largest pass": acts(LARGEST, ("another_seed", True), ("need", 1), tabs=10),
    "acts that are none": bodies(b"[" * server.LARGEST),
    "acts of many lists": acts("", ("seed", _LISTS)),
    "acts of many lists for no tab": bodies(json.dumps(_FOR_NOBODY).encode()),
}
