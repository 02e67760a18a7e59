"""The fair queue: long work, one at a time in the whole process and half of the time at most."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import streamlit as st

Part = TypeVar("Part")
Result = TypeVar("Result")

PAUSE_SECONDS = 0.001
"""Seconds between two turns, in which another session's begins."""


class _Turn:
    """A turn at long work, which one at a time has. Before each comes a pause as long as the one before it took."""

    def __init__(self) -> None:
        self._lock, self._start, self._pause_ends = threading.Lock(), 0.0, 0.0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._start = time.perf_counter()
        if self._start < self._pause_ends:
            time.sleep(self._pause_ends - self._start)
            self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        now = time.perf_counter()
        self._pause_ends = now + (now - self._start)
        self._lock.release()


_TURN = _Turn()
_LANE = ThreadPoolExecutor(1, "long work")


def in_turns(work: Iterator[Part]) -> Iterator[Part]:
    """The parts of some work, as they are made.

    After each comes a pause as long as it took, and no other session's part is
    made meanwhile: all long work together has at most half of the time, however
    many people ask for it. It ends where its visitor leaves or changes anything.
    """
    while True:
        with _TURN:
            try:
                part = next(work)
            except StopIteration:
                return
        _stop_if_unwanted()
        yield part
        time.sleep(PAUSE_SECONDS)


async def in_one_piece(work: Callable[..., Result], *given: object) -> Result:
    """The result of long work that comes in one piece: it has a turn as a part does.

    It is done in a thread: Python hands its lock on every 5 ms, so that whoever asks for something short waits a little
    longer, and not for its end.
    """
    return await asyncio.get_running_loop().run_in_executor(_LANE, _done, work, given)


def _done(work: Callable[..., Result], given: Sequence[object]) -> Result:
    with _TURN:
        return work(*given)


def _stop_if_unwanted() -> None:
    """Streamlit ends a run that was stopped, or asked for anew, where this looks into the session."""
    _ = "unwanted" in st.session_state
