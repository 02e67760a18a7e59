"""Floods: what one visitor can ask for without end, from as many tabs as it likes. The app's own bounds hold these.

Each is a coroutine that never returns. It sends as fast as the server takes it, and connects anew where that hangs up.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable

import h11
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz.server import acts_route as server
from benchmarks import largest
from benchmarks.connection import Connection
from benchmarks.protocol import trigger
from benchmarks.visitor import ACTS, Visitor

Flood = Callable[[str], Awaitable[None]]

LARGEST = largest.query(step="softmax")
CONNECTIONS = 8  # that one tab acts over, where a browser has one


def runs(*queries: str, tabs: int = 1) -> Flood:
    """Ask for runs of the page at these addresses."""
    messages = []
    for query in queries:
        message = BackMsg()
        message.rerun_script.query_string = query
        messages.append(message.SerializeToString())

    async def send(host: str) -> None:
        while True:
            with contextlib.suppress(websockets.WebSocketException, OSError):
                async with _connected(host) as socket:
                    reading = asyncio.create_task(_read(socket))
                    while not reading.done():
                        for message in messages:
                            await socket.send(message)
                            await asyncio.sleep(0)

    return _at_once(send for _ in range(tabs))


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
            unseen = {"look": "", "view": "pass", "plans": []}
            asked = said | unseen | {"acts": [list(done[n % len(done)]) for n in range(server.MAX_ACTS)]}
            await _at_once(_posting(json.dumps(asked).encode()) for _ in range(CONNECTIONS))(host)

    return _at_once(do for _ in range(tabs))


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


_LARGE = [f"{LARGEST}&seed={n}" for n in range(9)]

FLOODS: dict[str, Flood] = {
    "runs": runs("seed=1", "seed=2"),
    "runs of the largest pass": runs(*_LARGE),
    "10 tabs with runs of the largest pass": runs(*_LARGE, tabs=10),
    "5 audits of the largest pass": audits(5),
    "acts": acts("", ("another_seed", True)),
    "acts on the largest pass": acts(LARGEST, ("another_seed", True), ("need", 1)),
    "10 tabs with acts on the largest pass": acts(LARGEST, ("another_seed", True), ("need", 1), tabs=10),
}
