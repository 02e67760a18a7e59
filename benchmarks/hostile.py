"""How long another person waits for an answer while one visitor floods the server.

    .venv/bin/python -m benchmarks.hostile

A visitor of `benchmarks.visitor` sets the mask again and again, as in a quiet
room; a process of its own floods. Times are the visitor's, from sending to the
end of the script; only how they compare with the first row carries over to
another machine. The last column says what the server's processor did.
"""

import asyncio
import contextlib
import statistics
import subprocess
import sys
import time

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks import largest
from benchmarks.server import memory_mb, processor_ms, served
from benchmarks.visitor import Visitor

SECONDS = 12
LIMIT = 1.0  # seconds that another person waits at most, but for one answer in twenty
PAUSE = 0.3  # between two settings
MASKS = ("causal", "none")
NOBODY = "nobody"
LARGEST = largest.query(step="softmax")


def rerun(query: str) -> bytes:
    """A message that asks for a run at that address."""
    message = BackMsg()
    message.rerun_script.query_string = query
    return message.SerializeToString()


FLOODS = {
    "runs": [rerun("seed=1"), rerun("seed=2")],
    "runs of the largest pass": [rerun(f"{LARGEST}&seed={n}") for n in range(9)],
    "messages that no page sends": [BackMsg(clear_cache=True).SerializeToString()],
    "10 tabs with runs of the largest pass": [rerun(f"{LARGEST}&seed={n}") for n in range(9)],
    "random bytes": [b"\xff" * 100],
    "messages of 19 MB": [b"\n" * 19_000_000],
    "the largest pass, and reads no answer": [rerun(f"{LARGEST}&seed={n}") for n in range(9)],
}

FRAMES = {
    "pings": b"\x89\x80\0\0\0\0" * 5_000,
    "a message in endless parts": b"\x02\x80\0\0\0\0" + b"\x00\x80\0\0\0\0" * 5_000,
}
"""What goes into the connection as it is."""


TABS = {"10 tabs with runs of the largest pass": 10}
AUDITS = {"5 audits of the largest pass": 5}


async def flood(host: str, name: str) -> None:
    """Send the messages of a flood from as many tabs as it has, or ask for audits, without end."""
    if name in AUDITS:
        await asyncio.gather(*(_audits(host) for _ in range(AUDITS[name])))
    await asyncio.gather(*(_flood(host, name) for _ in range(TABS.get(name, 1))))


async def _audits(host: str) -> None:
    while True:
        async with Visitor(f"http://{host}/audit?{LARGEST}") as visitor:
            await visitor.set("run_audit", True)


async def _flood(host: str, name: str) -> None:
    """Send as fast as the server takes them; connect anew where it hangs up."""
    while True:
        with contextlib.suppress(websockets.WebSocketException, OSError):
            async with websockets.connect(
                f"ws://{host}/_stcore/stream", subprotocols=["streamlit"], max_size=None, compression=None
            ) as socket:
                reading = asyncio.create_task(_read(socket)) if "reads no" not in name else None
                while name in FRAMES and not socket.transport.is_closing():
                    socket.transport.write(FRAMES[name])
                    while socket.transport.get_write_buffer_size():
                        await asyncio.sleep(0.001)
                while name in FLOODS:
                    for message in FLOODS[name]:
                        await socket.send(message)
                        await asyncio.sleep(0)
                    if reading and reading.done():
                        break


async def _read(socket: websockets.ClientConnection) -> None:
    with contextlib.suppress(websockets.ConnectionClosed):
        async for _ in socket:
            pass


async def answers(address: str) -> list[float]:
    """How long each of a visitor's settings took."""
    taken = []
    async with Visitor(f"{address}/?step=softmax") as visitor:
        started = time.monotonic()
        while time.monotonic() - started < SECONDS:
            await asyncio.sleep(PAUSE)
            await visitor.set("mask", MASKS[len(taken) % len(MASKS)])
            taken.append(visitor.seconds)
    return taken


def print_row(name: str) -> bool:
    """Measure and print a row of the table: a fresh server, the visitor, a flood beside it.

    Returns
    -------
    bool
        Whether the visitor was answered within the limit.
    """
    with served("app.py") as (address, pid):
        asyncio.run(warm(address))
        flooding = name != NOBODY and subprocess.Popen(
            [sys.executable, "-m", "benchmarks.hostile", address.split("/")[2], name], stderr=subprocess.DEVNULL
        )
        time.sleep(2)
        before, started = processor_ms(pid), time.monotonic()
        taken = sorted(asyncio.run(answers(address)))
        processor = (processor_ms(pid) - before) / (time.monotonic() - started) / 10
        memory = memory_mb(pid)
        if flooding:
            flooding.kill()
            flooding.wait()
    median, late = statistics.median(taken), taken[int(len(taken) * 0.95)]
    print(
        f"{name:<40} {median:7.3f} {late:7.3f} {taken[-1]:7.3f} s  {processor:4.0f} %  {memory:5.0f} MB",
        flush=True,
    )
    return late <= LIMIT


async def warm(address: str) -> None:
    """Open each kind of page once, which imports what it needs."""
    async with Visitor(f"{address}/?step=softmax"), Visitor(f"{address}/?{LARGEST}"):
        pass


def main() -> int:
    """Print the table, or flood; 1 if someone waits longer than the limit."""
    if len(sys.argv) == 3:
        asyncio.run(flood(*sys.argv[1:]))
    print(f"{'beside':<40}  median    95 %    most     processor  memory")
    found = [print_row(name) for name in (NOBODY, *FLOODS, *FRAMES, *AUDITS)]
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
