"""A fair queue for CPU-heavy work: one piece at a time, next for whoever used it least in the last minute."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")
Owner = tuple[str, str]  # a network and a tab, or a room's code and an empty string
WINDOW_SECONDS = 60.0  # how long a turn counts
# how long the queue waits for the next part of some work; otherwise each part could wait for a long piece
GRACE_SECONDS = 0.02


class Usage:
    """Seconds of work in the last minute, by network and by tab; the clock is passed in."""

    def __init__(self) -> None:
        self._used: dict[str | Owner, float] = {}
        self._counted: deque[tuple[float, str | Owner, float]] = deque()

    def add(self, owner: Owner, seconds: float, now: float) -> None:
        """Count a turn that ended now."""
        for each in (owner[0], owner):
            self._count(each, seconds, now)

    def open(self, owner: Owner, now: float) -> None:
        """Put a new tab of a busy network behind that network's idle tabs."""
        self._expire(now)
        if owner[0] in self._used:
            self._count(owner, 1e-6, now)

    def next(self, waiting: list[Owner], now: float) -> int:
        """The index of whose turn is next, in order of arrival; networks are compared before their tabs."""
        self._expire(now)
        used = self._used
        return min((used.get(owner[0], 0.0), used.get(owner, 0.0), n) for n, owner in enumerate(waiting))[-1]

    def _count(self, each: str | Owner, seconds: float, now: float) -> None:
        self._counted.append((now, each, seconds))
        self._used[each] = self._used.get(each, 0.0) + seconds

    def _expire(self, now: float) -> None:
        while self._counted and now - self._counted[0][0] >= WINDOW_SECONDS:
            _, each, seconds = self._counted.popleft()
            rest = self._used.pop(each, 0.0) - seconds
            if rest > 1e-9:  # a rounding residue counts as nothing
                self._used[each] = rest


class _Turn:
    """A turn that blocks the queue's thread while the caller's thread works."""

    def __init__(self) -> None:
        self.begun, self.ended, self.is_followed = threading.Event(), threading.Event(), threading.Event()

    def hold(self) -> None:
        self.begun.set()
        self.ended.wait()
        self.is_followed.wait(GRACE_SECONDS)


@dataclass(eq=False)
class _Waiting:
    owner: Owner
    work: Callable[[], object]
    done: Future = field(default_factory=Future)


class FairQueue:
    """CPU-heavy work in one thread of its own, in the order of `Usage`. There is no pause between turns: Python
    switches threads every 5 ms, so short work gets half of the time.
    """

    def __init__(self, name: str) -> None:
        self._usage, self._waiting = Usage(), list[_Waiting]()
        self._lock, self._thread = threading.Lock(), ThreadPoolExecutor(1, name)

    def open(self, owner: Owner) -> None:
        """Register a new tab."""
        with self._lock:
            self._usage.open(owner, time.perf_counter())

    async def run(self, owner: Owner, work: Callable[..., Result], *arguments: object) -> Result:
        """Run work in one piece, and return its result."""
        return await asyncio.wrap_future(self._submit(owner, lambda: work(*arguments)))

    def run_in_turns(self, owner: Owner, work: Iterator[Part]) -> Iterator[Part]:
        """Yield the parts of some work, each computed in the caller's thread in a turn of its own."""
        turn = _Turn()
        try:
            while True:
                before, turn = turn, _Turn()
                self._submit(owner, turn.hold)
                before.is_followed.set()
                turn.begun.wait()
                try:
                    part = next(work)
                except StopIteration:
                    return
                finally:
                    turn.ended.set()
                yield part
        finally:
            turn.is_followed.set()

    def _submit(self, owner: Owner, work: Callable[[], object]) -> Future:
        entry = _Waiting(owner, work)
        with self._lock:
            self._waiting.append(entry)
        self._thread.submit(self._work_next)
        return entry.done

    def _work_next(self) -> None:
        with self._lock:
            start = time.perf_counter()
            entry = self._waiting.pop(self._usage.next([each.owner for each in self._waiting], start))
        if not entry.done.set_running_or_notify_cancel():
            return
        try:
            result, error = entry.work(), None
        except BaseException as raised:  # raised where the result is awaited
            result, error = None, raised
        with self._lock:
            now = time.perf_counter()
            self._usage.add(entry.owner, now - start, now)
        if error is None:
            entry.done.set_result(result)
        else:
            entry.done.set_exception(error)
