"""How many people one server carries, and how much memory each of them takes.

    .venv/bin/python -m benchmarks.load            all of it, some twenty minutes
    .venv/bin/python -m benchmarks.load 30 100     so many people alone

Each visitor sets something or reruns the page every 2 s for 30 s, as a browser would (`tests/visitor.py`), on the same
cores as the server. A time is from sending to the end of the answer. Processor is the server's, from /proc, for each
action and each first visit. The page with one line of text is measured in the same run.
"""

import argparse
import asyncio
import itertools
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path

import largest
from balanced import balanced
from server import memory_mb, processor_ms, served
from streamlit import config
from visitor import Visitor

SECONDS, PAUSE_SECONDS = 30, 2.0
MAX_EACH_MS, MAX_PERSON_MB = 10, 0.3
MIN_PEOPLE = 100  # people: what a process does once counts for little among so many
Action = Callable[[Visitor], Awaitable[None]]
Result = tuple[str, bool]  # a line of the table, and whether it is within its aims


@dataclass(frozen=True)
class Activity:
    """What each visitor of a crowd does, one after the other, again and again."""

    actions: Sequence[Action]
    unit: str  # what one of them is called
    has_aims: bool = True


async def busy(visitor: Visitor, activity: Activity, times: list[float]) -> int:
    """Do something every `PAUSE_SECONDS` seconds for `SECONDS`; returns how often that failed."""
    await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))
    failures, end = 0, time.monotonic() + SECONDS
    for act in itertools.cycle(activity.actions):
        due = time.monotonic() + PAUSE_SECONDS
        if due > end + PAUSE_SECONDS:
            return failures
        try:
            await act(visitor)
            times.append(visitor.seconds)
            failures += bool(visitor.exceptions())
        except Exception:  # a lost connection, no answer: whatever it is, the visitor has failed
            failures += 1
        await asyncio.sleep(due - time.monotonic())


async def opened(address: str, n: int, at_once: int = 10) -> list[Visitor]:
    """`n` visitors who have opened an address, `at_once` at a time."""
    free = asyncio.Semaphore(at_once)

    async def one() -> Visitor:
        async with free:
            visitor = Visitor(address)
            await visitor.connect()
            await visitor.run()
            return visitor

    return await asyncio.gather(*(one() for _ in range(n)))


async def crowd(address: str, pids: Sequence[int], n: int, activity: Activity, aim: float = math.inf) -> Result:
    """A line on how `n` busy people are served, and whether 95 % of the answers take at most `aim` seconds."""
    memory, start = sum(map(memory_mb, pids)), sum(map(processor_ms, pids))
    visitors = await opened(address, n)
    times: list[float] = []
    used = sum(map(processor_ms, pids))
    failures = sum(await asyncio.gather(*(busy(each, activity, times) for each in visitors)))
    each = (sum(map(processor_ms, pids)) - used) / max(len(times), 1)
    held = (sum(map(memory_mb, pids)) - memory) / n
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    slow = sorted(times)[int(0.95 * len(times))]
    line = (
        f"{statistics.median(times):7.3f} s  95 %: {slow:7.3f} s  {failures} failures of {len(times)}  processor: "
        f"{each:5.1f} ms {activity.unit}, {(used - start) / n:5.1f} ms a first visit  {held:5.2f} MB a person"
    )
    is_light = n < MIN_PEOPLE or (each <= MAX_EACH_MS and held <= MAX_PERSON_MB)
    return line, not failures and (not activity.has_aims or (is_light and slow <= aim))


MAX_OPENING_SECONDS = 5.0
MAX_ANSWER_SECONDS = {100: 0.5}  # seconds for 95 % of the answers of so many people on one process
MAX_UNDELAYED_SECONDS = 0.04  # the same behind nginx: where parts of answers wait to be acknowledged, most take longer
OPENING = "/walkthrough?step=scores&sentence=the+cat+sat+on+the+mat"
NAMES = ("mask", "another_seed", "n_heads", "sentence", "d_model")
SETTINGS = [
    *zip(NAMES, ("causal", True, 4, "the dog sat on the mat", 16), strict=True),
    *zip(NAMES, ("none", True, 2, "the cat sat on the mat", 8), strict=True),
]


def setting(name: str, value: object) -> Action:
    """Set what has this name."""
    return lambda visitor: visitor.set(name, value)


OWN = Activity([setting(*each) for each in SETTINGS], "an action")
# settings that a projector shows, equal for all: those are answered from memory
FOLLOWED = Activity([setting(*each) for each in SETTINGS if each[0] != "another_seed"], "an action")
RUNS = Activity([Visitor.run], "a run", has_aims=False)
PRESSES = Activity([setting("next", True)], "a run", has_aims=False)
ACTIVITIES = [
    (f"a setting every {PAUSE_SECONDS:.0f} s", OWN, (1, 30, 100, 200, 300)),
    ("as on the projector", FOLLOWED, (100, 200, 300)),
    (f"the whole page every {PAUSE_SECONDS:.0f} s", RUNS, (30, 100)),
]


async def opening(address: str, n: int) -> Result:
    """How long until each of a crowd that opens a link at once is served, and whether that is soon."""
    start = time.monotonic()
    visitors = await opened(address, n, at_once=n)
    taken = time.monotonic() - start
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    return f"all {n} served after {taken:.1f} s", taken <= MAX_OPENING_SECONDS


async def memory(address: str, pid: int, n: int, rounds: int, wait: float) -> Result:
    """The memory before, and after `n` people have come and gone, `rounds` times, each with a wait behind."""
    held = [memory_mb(pid)]
    for _ in range(rounds):
        visitors = await opened(address, n)
        held.append(memory_mb(pid))
        await asyncio.gather(*(visitor.close() for visitor in visitors))
        await asyncio.sleep(wait)
        held.append(memory_mb(pid))
    return "  ".join(f"{each:.0f} MB" for each in (held if rounds < 5 else (held[0], held[-1]))), True


def main() -> int:
    """Print the table; 1 if something in it misses its aim."""
    results = []

    def show(name: str, measured: Coroutine[None, None, Result]) -> None:
        line, is_within = asyncio.run(measured)
        print(f"{name:<34} {line}{'' if is_within else '  beyond its aim'}", flush=True)
        results.append(is_within)

    parser = argparse.ArgumentParser("python -m benchmarks.load")
    parser.add_argument("people", nargs="*", type=int, help="how many act at once; without it, all of the table")
    people = parser.parse_args().people
    with served("benchmarks/line.py") as (address, pid):
        show("one line of text, 30", crowd(address, [pid], 30, PRESSES))
    with served("app.py") as (address, pid):
        for name, activity, usual in ACTIVITIES:
            for n in people or usual:
                aim = MAX_ANSWER_SECONDS.get(n, math.inf)
                show(f"{name}, {n}", crowd(address + OPENING, [pid], n, activity, aim))
    if people:
        return 0 if all(results) else 1
    with tempfile.TemporaryDirectory() as folder, balanced(Path(folder)) as site:
        address, pids = site.address + OPENING, [process.pid for process in site.processes.values()]
        show("two processes behind nginx, 30", crowd(address, pids, 30, OWN, MAX_UNDELAYED_SECONDS))
        show("two processes behind nginx, 300", crowd(address, pids, 300, OWN, 1.0))
        show("two processes, opening at once", opening(address, 300))
    with served("app.py") as (address, pid):
        forgotten = config.get_option("server.disconnectedSessionTTL") + 10
        show("opening at once", opening(address + OPENING, 300))
        show("memory: 500 come and go, twice", memory(address + OPENING, pid, 500, 2, forgotten))
        show("memory: the largest pass, 50 times", memory(f"{address}/walkthrough?{largest.query()}", pid, 1, 50, 0))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
