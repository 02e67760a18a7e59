"""How long another person waits for an answer while one visitor floods the server.

    .venv/bin/python -m benchmarks.hostile             beside every flood
    .venv/bin/python -m benchmarks.hostile acts runs   beside nobody and these

A visitor of `benchmarks.visitor` sets the mask and has the page run, in turns, as
in a quiet room; a process of its own floods (`benchmarks.floods`). Times are the
visitor's, from sending to the end of the answer; only how they compare with the
first row carries over to another machine. The last columns say what the server
used of the processor, and how much memory it held.
"""

import argparse
import asyncio
import multiprocessing
import statistics
import sys
import time

from benchmarks.floods import FLOODS, LARGEST
from benchmarks.server import memory_mb, processor_ms, served
from benchmarks.visitor import Visitor

SECONDS = 12
MAX_WAIT_SECONDS = 1.0  # that another person waits at most, but for one answer in twenty
PAUSE_SECONDS = 0.3  # between two things that the visitor does
MASKS = ("causal", "none")
NOBODY = "nobody"


async def answers(address: str) -> tuple[list[float], list[float]]:
    """How long each of a visitor's acts took, and each run of the page, in order of length."""
    acts, runs = [], []
    async with Visitor(f"{address}/?step=softmax") as visitor:
        started = time.monotonic()
        while time.monotonic() - started < SECONDS:
            await asyncio.sleep(PAUSE_SECONDS)
            await visitor.set("mask", MASKS[len(acts) % len(MASKS)])
            acts.append(visitor.seconds)
            await asyncio.sleep(PAUSE_SECONDS)
            await visitor.run()
            runs.append(visitor.seconds)
    return sorted(acts), sorted(runs)


def print_row(name: str) -> bool:
    """Measure and print a row of the table: a fresh server, the visitor, a flood beside it.

    Returns
    -------
    bool
        Whether the visitor was answered within the limit.
    """
    with served("app.py") as (address, pid):
        asyncio.run(warm(address))
        flooding = multiprocessing.Process(target=flood, args=(address.split("/")[2], name), daemon=True)
        flooding.start()
        time.sleep(2)
        before, started = processor_ms(pid), time.monotonic()
        acts, runs = asyncio.run(answers(address))
        processor = (processor_ms(pid) - before) / (time.monotonic() - started) / 10
        memory = memory_mb(pid)
        flooding.kill()
        flooding.join()
    said = [f"{statistics.median(each):7.3f} {_late(each):7.3f} {each[-1]:7.3f}" for each in (acts, runs)]
    print(f"{name:<40} {said[0]}  {said[1]} s  {processor:4.0f} %  {memory:5.0f} MB", flush=True)
    return max(map(_late, (acts, runs))) <= MAX_WAIT_SECONDS


def flood(host: str, name: str) -> None:
    """Send a flood, if it is the name of one."""
    if name in FLOODS:
        asyncio.run(FLOODS[name](host))


async def warm(address: str) -> None:
    """Open each kind of page once, which imports what it needs."""
    async with Visitor(f"{address}/?step=softmax"), Visitor(f"{address}/?{LARGEST}"):
        pass


def _late(times: list[float]) -> float:
    return times[int(len(times) * 0.95)]


def main() -> int:
    """Print the table; 1 if someone waits longer than the limit."""
    parser = argparse.ArgumentParser("python -m benchmarks.hostile")
    parser.add_argument("floods", nargs="*", help="the names of floods; without any, all")
    floods = parser.parse_args().floods or FLOODS
    print(f"{'beside':<40}  acts: median, 95 %, most  runs: median, 95 %, most")
    found = [print_row(name) for name in (NOBODY, *floods)]
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
