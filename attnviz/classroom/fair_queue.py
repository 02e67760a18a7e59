"""Fair queues: CPU-heavy work, one piece at a time, next for whoever used least of it in the last minute."""

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

Who = tuple[str, str]
"""A network and a tab of it; for a room's work its code, and nothing."""

WINDOW_SECONDS = 60.0
"""How long a turn counts against whoever had it."""

GRACE_SECONDS = 0.02
"""How long the queue waits for the next part of some work; else each part would wait for somebody's long piece."""


class Usage:
    """The seconds that each network, and each tab of it, worked in the last minute; `now` is passed in."""

    def __init__(self) -> None:
        self._used: dict[str | Who, float] = {}
        self._counted: deque[tuple[float, str | Who, float]] = deque()

    def add(self, who: Who, seconds: float, now: float) -> None:
        """Count a turn that ended now."""
        for each in (who[0], who):
            self._count(each, seconds, now)

    def open(self, who: Who, now: float) -> None:
        """Put a tab that is opened while its network works behind those that were there and used nothing."""
        self._expire(now)
        if who[0] in self._used:
            self._count(who, 1e-6, now)

    def next(self, waiting: list[Who], now: float) -> int:
        """Whose turn is next, as an index into those who wait in order of arrival; a network counts before its tabs."""
        self._expire(now)
        used = self._used
        return min((used.get(who[0], 0.0), used.get(who, 0.0), n) for n, who in enumerate(waiting))[-1]

    def _count(self, each: str | Who, seconds: float, now: float) -> None:
        self._counted.append((now, each, seconds))
        self._used[each] = self._used.get(each, 0.0) + seconds

    def _expire(self, now: float) -> None:
        while self._counted and now - self._counted[0][0] >= WINDOW_SECONDS:
            _, each, seconds = self._counted.popleft()
            left = self._used.pop(each, 0.0) - seconds
            if left > 1e-9:  # what rounding leaves is nothing
                self._used[each] = left


class _Turn:
    """A turn that keeps the queue's thread while work is done in the caller's."""

    def __init__(self) -> None:
        self.begun, self.ended, self.is_followed = threading.Event(), threading.Event(), threading.Event()

    def hold(self) -> None:
        self.begun.set()
        self.ended.wait()
        self.is_followed.wait(GRACE_SECONDS)


@dataclass(eq=False)
class _Waiting:
    who: Who
    work: Callable[[], object]
    done: Future = field(default_factory=Future)


class FairQueue:
    """CPU-heavy work in one thread of its own, in the order of `Usage`.

    Nothing pauses between two turns: Python hands its lock on every 5 ms, so short work has its half of the time.
    """

    def __init__(self, name: str) -> None:
        self._usage, self._waiting = Usage(), list[_Waiting]()
        self._lock, self._thread = threading.Lock(), ThreadPoolExecutor(1, name)

    def open(self, who: Who) -> None:
        """Note a new tab."""
        with self._lock:
            self._usage.open(who, time.perf_counter())

    async def in_one_piece(self, who: Who, work: Callable[..., Result], *arguments: object) -> Result:
        """The result of work that comes in one piece."""
        return await asyncio.wrap_future(self._submit(who, lambda: work(*arguments)))

    def in_turns(self, who: Who, work: Iterator[Part]) -> Iterator[Part]:
        """The parts of some work, made in the caller's thread. It ends when its visitor leaves or changes anything."""
        turn = _Turn()
        try:
            while True:
                before, turn = turn, _Turn()
                self._submit(who, turn.hold)
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

    def _submit(self, who: Who, work: Callable[[], object]) -> Future:
        entry = _Waiting(who, work)
        with self._lock:
            self._waiting.append(entry)
        self._thread.submit(self._work_next)
        return entry.done

    def _work_next(self) -> None:
        with self._lock:
            start = time.perf_counter()
            entry = self._waiting.pop(self._usage.next([each.who for each in self._waiting], start))
        if not entry.done.set_running_or_notify_cancel():
            return
        try:
            result, error = entry.work(), None
        except BaseException as raised:  # whoever waits for it gets it
            result, error = None, raised
        with self._lock:
            now = time.perf_counter()
            self._usage.add(entry.who, now - start, now)
        if error is None:
            entry.done.set_result(result)
        else:
            entry.done.set_exception(error)
