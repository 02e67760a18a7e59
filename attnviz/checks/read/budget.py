"""Budget: batches of limited size, and a limit on how many numbers a comparison may compute."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import compress
from typing import TypeVar

import numpy as np

BATCH_NUMBERS = 2**19  # how many numbers a batch may hold
Thing = TypeVar("Thing")

_left: ContextVar[list[int] | None] = ContextVar("numbers that may still be made", default=None)


class OutOfWorkError(Exception):
    """A comparison would compute more numbers than its limit."""


@contextmanager
def work_limit(n: int) -> Iterator[list[int]]:
    """Limit how many numbers may be computed inside; yields a list with the remaining count.

    Numbers are counted rather than timed, so that a file has the same outcome on every machine. Beyond the limit
    `spend` raises OutOfWorkError.

    >>> with work_limit(5):
    ...     spend(3)
    ...     spend(3)
    Traceback (most recent call last):
    attnviz.checks.read.budget.OutOfWorkError
    """
    left = [n]
    token = _left.set(left)
    try:
        yield left
    finally:
        _left.reset(token)


def spend(n: int) -> None:
    """Count n computed numbers against the limit."""
    if left := _left.get():
        left[0] -= n
        if left[0] < 0:
            raise OutOfWorkError


def batches(things: Sequence[Thing], size: int) -> Iterator[Sequence[Thing]]:
    """Split things that hold `size` numbers each into batches of at most BATCH_NUMBERS numbers.

    >>> [*batches("abcde", BATCH_NUMBERS // 2)]
    ['ab', 'cd', 'e']
    """
    n = max(BATCH_NUMBERS // size, 1)
    return (things[at : at + n] for at in range(0, len(things), n))


def select(things: Sequence[Thing], are_so: np.ndarray) -> Iterator[Thing]:
    """The things whose flag is set; a single flag counts for all.

    >>> [*select("abc", np.array([True, False, True]))], [*select("abc", np.array(True))]
    (['a', 'c'], ['a', 'b', 'c'])
    """
    return compress(things, np.broadcast_to(are_so, len(things)))
