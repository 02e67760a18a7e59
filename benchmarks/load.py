"""How many people one server carries, and how much memory each of them takes.

    .venv/bin/python -m benchmarks.load            all of it, some fifteen minutes
    .venv/bin/python -m benchmarks.load 30 100     so many people alone

Each visitor changes a setting every 2 s for 30 s, as a browser would
(`benchmarks.visitor`): another mask, seed, number of heads, d_model or word. A
time is from sending to the end of the script. Processor is the server's, from
/proc; the page with one line of text is asked the same way in the same run.
Visitors and server share this machine's cores.
"""

import argparse
import asyncio
import contextlib
import itertools
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path

from streamlit import config

from benchmarks import largest
from benchmarks.balanced import balanced
from benchmarks.server import memory_mb, processor_ms, served
from benchmarks.visitor import Visitor

SECONDS = 30
PAUSE = 2.0
RUN_MS = 10
PERSON_MB = 0.3
ENOUGH = 100  # people: what a process does once counts for little among so many
OPENED = 5.0  # seconds
WITHIN = {100: 0.5}
"""Seconds for 95 % of the answers of so many people on one process."""

PEOPLE = (1, 30, 100, 200, 300)
OPENING = "/?step=scores&sentence=the+cat+sat+on+the+mat"
SETTINGS = (
    ("mask", "causal"),
    ("another_seed", True),
    ("n_heads", "4"),
    ("sentence", "the dog sat on the mat"),
    ("d_model", "16"),
    ("mask", "none"),
    ("another_seed", True),
    ("n_heads", "2"),
    ("sentence", "the cat sat on the mat"),
    ("d_model", "8"),
)

FOLLOWED = tuple((key, value) for key, value in SETTINGS if key != "another_seed")
"""Settings that a projector shows, which all have alike: those are answered from memory."""


async def acting(visitor: Visitor, acts: Sequence[tuple[str, object]], times: list[float]) -> int:
    """Act every `PAUSE` seconds for `SECONDS`; returns how often that failed."""
    await asyncio.sleep(random.uniform(0, PAUSE))
    failures, end = 0, time.monotonic() + SECONDS
    for key, value in itertools.cycle(acts):
        due = time.monotonic() + PAUSE
        if due > end + PAUSE:
            return failures
        try:
            await visitor.set(key, value)
            times.append(visitor.seconds)
            failures += bool(visitor.exceptions())
        except Exception:  # a lost connection, no answer: whatever it is, the visitor has failed
            failures += 1
        await asyncio.sleep(due - time.monotonic())


async def opened(address: str, n: int, at_once: int = 10) -> list[Visitor]:
    """So many visitors, some at a time."""
    free = asyncio.Semaphore(at_once)

    async def one() -> Visitor:
        async with free:
            visitor = Visitor(address)
            await visitor.connect()
            await visitor.run()
            return visitor

    return await asyncio.gather(*(one() for _ in range(n)))


async def crowd(
    address: str, pids: Sequence[int], n: int, acts: Sequence[tuple[str, object]], within: float = math.inf
) -> tuple[str, bool]:
    """What a crowd that acts finds, as a line, and whether it is as good as it should be."""
    before = sum(map(memory_mb, pids))
    visitors = await opened(address, n)
    times: list[float] = []
    used = sum(map(processor_ms, pids))
    failures = sum(await asyncio.gather(*(acting(each, acts, times) for each in visitors)))
    each = (sum(map(processor_ms, pids)) - used) / max(len(times), 1)
    held = (sum(map(memory_mb, pids)) - before) / n
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    times.sort()
    slow = times[int(0.95 * len(times))]
    said = (
        f"{statistics.median(times):7.3f} s  95 %: {slow:7.3f} s  {failures} failures of {len(times)}  "
        f"{each:5.1f} ms of processor a run  {held:5.2f} MB a person"
    )
    is_light = n < ENOUGH or (each <= RUN_MS and held <= PERSON_MB)
    return said, is_light and slow <= within and not failures


async def opening(address: str, n: int) -> tuple[str, bool]:
    """How long it takes until each of a crowd that opens a link at once is served, and whether that is soon."""
    start = time.monotonic()
    visitors = await opened(address, n, at_once=n)
    taken = time.monotonic() - start
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    return f"all {n} served after {taken:.1f} s", taken <= OPENED


async def coming_and_going(address: str, pid: int, n: int) -> tuple[str, bool]:
    """The memory before and after some have come and gone, until Streamlit has forgotten them, twice."""
    found = [memory_mb(pid)]
    for _ in range(2):
        visitors = await opened(address, n)
        found.append(memory_mb(pid))
        await asyncio.gather(*(visitor.close() for visitor in visitors))
        await asyncio.sleep(config.get_option("server.disconnectedSessionTTL") + 10)
        found.append(memory_mb(pid))
    return "  ".join(f"{each:.0f} MB" for each in found), True


async def reopening(address: str, pid: int, n: int) -> tuple[str, bool]:
    """The memory before and after one visitor has opened the largest pass again and again."""
    before = memory_mb(pid)
    for _ in range(n):
        for visitor in await opened(address, 1):
            await visitor.close()
    return f"{before:.0f} MB, then {memory_mb(pid):.0f} MB", True


@contextlib.contextmanager
def two_processes() -> Iterator[tuple[str, list[int]]]:
    """Two processes behind nginx, as in `deploy/`."""
    with tempfile.TemporaryDirectory() as folder, balanced(Path(folder)) as site:
        yield site.address, [process.pid for process in site.processes.values()]


def main() -> int:
    """Print the table; 1 if something in it is beyond its aim."""
    found = []

    def show(name: str, measured: Coroutine[None, None, tuple[str, bool]]) -> None:
        said, is_within = asyncio.run(measured)
        print(f"{name:<34} {said}{'' if is_within else '  beyond its aim'}", flush=True)
        found.append(is_within)

    parser = argparse.ArgumentParser("python -m benchmarks.load")
    parser.add_argument("people", nargs="*", type=int, help="how many act at once; without it, all of the table")
    people = parser.parse_args().people
    with served("benchmarks/line.py") as (address, pid):
        show("one line of text, 30", crowd(address, [pid], 30, [("next", True)]))
    with served("app.py") as (address, pid):
        for n in people or PEOPLE:
            show(
                f"a setting every {PAUSE:.0f} s, {n}",
                crowd(address + OPENING, [pid], n, SETTINGS, WITHIN.get(n, math.inf)),
            )
        for n in people or PEOPLE[2:]:
            show(f"as on the projector, {n}", crowd(address + OPENING, [pid], n, FOLLOWED))
    if people:
        return 0 if all(found) else 1
    with two_processes() as (address, pids):
        show("two processes behind nginx, 300", crowd(address + OPENING, pids, 300, SETTINGS, 1.0))
        show("two processes, opening at once", opening(address + OPENING, 300))
    with served("app.py") as (address, pid):
        show("opening at once", opening(address + OPENING, 300))
        show("memory: 500 come and go, twice", coming_and_going(address + OPENING, pid, 500))
        show("memory: the largest pass, 50 times", reopening(f"{address}/?{largest.query()}", pid, 50))
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
