"""How many people one server carries, and how much memory each of them takes.

    .venv/bin/python -m benchmarks.load            all of it, some twenty minutes
    .venv/bin/python -m benchmarks.load 30 100     so many people alone

Each visitor does something every 2 s for 30 s, as a browser would
(`tests/visitor.py`): sets another mask, seed, number of heads, d_model or word,
or has the whole page run again. A time is from sending to the end of the answer.
Processor is the server's, from /proc, for each thing that was done and for each
first visit; the page with one line of text is asked the same way in the same run.
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
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import largest
from balanced import balanced
from server import memory_mb, processor_ms, served
from streamlit import config
from visitor import Visitor

SECONDS = 30
PAUSE_SECONDS = 2.0
MAX_EACH_MS = 10
MAX_PERSON_MB = 0.3
MIN_PEOPLE = 100  # people: what a process does once counts for little among so many

Doing = Callable[[Visitor], Awaitable[None]]


@dataclass(frozen=True)
class Pastime:
    """What people do again and again, one of them after the other.

    Attributes
    ----------
    unit : str
        What one of them is called.
    is_judged : bool
        Whether the aims are for these.
    """

    doings: Sequence[Doing]
    unit: str
    is_judged: bool = True


async def busy(visitor: Visitor, pastime: Pastime, times: list[float]) -> int:
    """Do something every `PAUSE_SECONDS` seconds for `SECONDS`; returns how often that failed."""
    await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))
    failures, end = 0, time.monotonic() + SECONDS
    for does in itertools.cycle(pastime.doings):
        due = time.monotonic() + PAUSE_SECONDS
        if due > end + PAUSE_SECONDS:
            return failures
        try:
            await does(visitor)
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
    address: str, pids: Sequence[int], n: int, pastime: Pastime, within: float = math.inf
) -> tuple[str, bool]:
    """What a crowd finds that does something, as a line, and whether it is as good as it should be."""
    memory, start = sum(map(memory_mb, pids)), sum(map(processor_ms, pids))
    visitors = await opened(address, n)
    times: list[float] = []
    used = sum(map(processor_ms, pids))
    failures = sum(await asyncio.gather(*(busy(each, pastime, times) for each in visitors)))
    each = (sum(map(processor_ms, pids)) - used) / max(len(times), 1)
    held = (sum(map(memory_mb, pids)) - memory) / n
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    times.sort()
    slow = times[int(0.95 * len(times))]
    said = (
        f"{statistics.median(times):7.3f} s  95 %: {slow:7.3f} s  {failures} failures of {len(times)}  "
        f"processor: {each:5.1f} ms {pastime.unit}, {(used - start) / n:5.1f} ms a first visit  "
        f"{held:5.2f} MB a person"
    )
    is_light = n < MIN_PEOPLE or (each <= MAX_EACH_MS and held <= MAX_PERSON_MB)
    return said, not failures and (not pastime.is_judged or (is_light and slow <= within))


MAX_OPENING_SECONDS = 5.0
MAX_ANSWER_SECONDS = {100: 0.5}
"""Seconds for 95 % of the answers of so many people on one process."""

MAX_UNDELAYED_SECONDS = 0.04
"""Seconds for 95 % of the answers behind nginx: where parts of them wait to be acknowledged, most take longer."""

PEOPLE = (1, 30, 100, 200, 300)
OPENING = "/walkthrough?step=scores&sentence=the+cat+sat+on+the+mat"


SETTINGS = (
    ("mask", "causal"),
    ("another_seed", True),
    ("n_heads", 4),
    ("sentence", "the dog sat on the mat"),
    ("d_model", 16),
    ("mask", "none"),
    ("another_seed", True),
    ("n_heads", 2),
    ("sentence", "the cat sat on the mat"),
    ("d_model", 8),
)


def setting(name: str, value: object) -> Doing:
    """Set what has this name."""
    return lambda visitor: visitor.set(name, value)


OWN = Pastime([setting(*each) for each in SETTINGS], "an act")
FOLLOWED = Pastime([setting(*each) for each in SETTINGS if each[0] != "another_seed"], "an act")
"""Settings that a projector shows, which all have alike: those are answered from memory."""

RUNS = Pastime([Visitor.run], "a run", is_judged=False)
PRESSES = Pastime([setting("next", True)], "a run", is_judged=False)


async def opening(address: str, n: int) -> tuple[str, bool]:
    """How long it takes until each of a crowd that opens a link at once is served, and whether that is soon."""
    start = time.monotonic()
    visitors = await opened(address, n, at_once=n)
    taken = time.monotonic() - start
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    return f"all {n} served after {taken:.1f} s", taken <= MAX_OPENING_SECONDS


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
        show("one line of text, 30", crowd(address, [pid], 30, PRESSES))
    with served("app.py") as (address, pid):
        for n in people or PEOPLE:
            within = MAX_ANSWER_SECONDS.get(n, math.inf)
            show(f"a setting every {PAUSE_SECONDS:.0f} s, {n}", crowd(address + OPENING, [pid], n, OWN, within))
        for n in people or PEOPLE[2:]:
            show(
                f"as on the projector, {n}",
                crowd(address + OPENING, [pid], n, FOLLOWED, MAX_ANSWER_SECONDS.get(n, math.inf)),
            )
        for n in people or PEOPLE[1:3]:
            show(f"the whole page every {PAUSE_SECONDS:.0f} s, {n}", crowd(address + OPENING, [pid], n, RUNS))
    if people:
        return 0 if all(found) else 1
    with two_processes() as (address, pids):
        show("two processes behind nginx, 30", crowd(address + OPENING, pids, 30, OWN, MAX_UNDELAYED_SECONDS))
        show("two processes behind nginx, 300", crowd(address + OPENING, pids, 300, OWN, 1.0))
        show("two processes, opening at once", opening(address + OPENING, 300))
    with served("app.py") as (address, pid):
        show("opening at once", opening(address + OPENING, 300))
        show("memory: 500 come and go, twice", coming_and_going(address + OPENING, pid, 500))
        show("memory: the largest pass, 50 times", reopening(f"{address}/walkthrough?{largest.query()}", pid, 50))
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
