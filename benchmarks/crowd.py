"""A crowd: visitors who all do something again and again, and what that costs the server."""

import asyncio
import itertools
import math
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from benchmarks.server import memory_mb, processor_ms
from benchmarks.visitor import Visitor

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
