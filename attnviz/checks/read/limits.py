"""Limits: how large stages of a server's uploads may be, how much a search may compute, and chunks of work."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import compress
from typing import TypeVar

import numpy as np

_bound: ContextVar[float] = ContextVar("how many numbers a stage may have", default=math.inf)


@contextmanager
def bounded_stages(n: int) -> Iterator[None]:
    """Limit how many numbers a stage may have inside, and the work: for files of anybody on a server."""
    token = _bound.set(n)
    try:
        yield
    finally:
        _bound.reset(token)


def most_numbers() -> float:
    """How many numbers a stage may have; infinite in the library."""
    return _bound.get()


CHUNK_NUMBERS = 2**19  # how many numbers a batch may hold
Item = TypeVar("Item")
_remaining: ContextVar[list[float] | None] = ContextVar("numbers that may still be computed", default=None)


class OutOfWorkError(Exception):
    """A comparison would compute more numbers than its limit."""


@contextmanager
def work_limit(n: float) -> Iterator[list[float]]:
    """Limit how many numbers may be computed inside; yields a list with the remaining count.

    Numbers are counted rather than timed, so that a file has the same outcome on every machine. Beyond the limit
    `spend` raises OutOfWorkError.
    """
    remaining = [n]
    token = _remaining.set(remaining)
    try:
        yield remaining
    finally:
        _remaining.reset(token)


def spend(n: int) -> None:
    """Count n computed numbers against the limit."""
    if remaining := _remaining.get():
        remaining[0] -= n
        if remaining[0] < 0:
            raise OutOfWorkError


def chunks(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Split items that hold `size` numbers each into chunks of at most CHUNK_NUMBERS numbers."""
    n = max(CHUNK_NUMBERS // size, 1)
    return (items[at : at + n] for at in range(0, len(items), n))


def select(items: Sequence[Item], flags: np.ndarray) -> Iterator[Item]:
    """The items whose flag is set; a single flag counts for all."""
    return compress(items, np.broadcast_to(flags, len(items)))
