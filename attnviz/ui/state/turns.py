"""Turns: long work in slices, one at a time in the whole process, and no longer than someone waits for it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st

Part = TypeVar("Part")

PAUSE_SECONDS = 0.001
"""Seconds between two turns, in which another session's begins."""

_TURN = threading.Lock()


def in_turns(work: Iterator[Part]) -> Iterator[Part]:
    """The parts of some work, as they are made.

    After each comes a pause as long as it took, and no other session's part is
    made meanwhile: all long work together has at most half of the time, however
    many people ask for it. It ends where its visitor leaves or changes anything.
    """
    while True:
        with _TURN:
            start = time.perf_counter()
            try:
                part = next(work)
            except StopIteration:
                return
            time.sleep(time.perf_counter() - start)
        _stop_if_unwanted()
        yield part
        time.sleep(PAUSE_SECONDS)


@contextmanager
def turn() -> Iterator[Callable[[], float]]:
    """Do long work that comes in one piece; gives how many seconds it has taken. A `rest` as long follows it."""
    with _TURN:
        start = time.perf_counter()
        yield lambda: time.perf_counter() - start


def rest(seconds: float) -> None:
    """Let so many seconds pass in which no long work is done."""
    with _TURN:
        time.sleep(seconds)


def _stop_if_unwanted() -> None:
    """Streamlit ends a run that was stopped, or asked for anew, where this looks into the session."""
    _ = "unwanted" in st.session_state
