"""How many people one server carries, and how much memory each of them takes.

    .venv/bin/python -m benchmarks.load            all of it, some twenty minutes
    .venv/bin/python -m benchmarks.load 30 100     so many people alone

Each visitor does something every 2 s for 30 s, as a browser would
(`benchmarks.visitor`): sets another mask, seed, number of heads, d_model or word,
or has the whole page run again. A time is from sending to the end of the answer.
Processor is the server's, from /proc, for each thing that was done and for each
first visit; the page with one line of text is asked the same way in the same run.
Visitors and server share this machine's cores.
"""

import argparse
import asyncio
import contextlib
import math
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path

from streamlit import config

from benchmarks import largest
from benchmarks.balanced import balanced
from benchmarks.crowd import PAUSE_SECONDS, Doing, Pastime, crowd, opened
from benchmarks.server import memory_mb, served
from benchmarks.visitor import Visitor

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
