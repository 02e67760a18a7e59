"""Batches: things that are made at once, so many as have few numbers together; and how many may be made in all."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import compress
from typing import TypeVar

import numpy as np

AT_ONCE = 2**19
"""So many numbers are made at once."""

Thing = TypeVar("Thing")

_left: ContextVar[list[int] | None] = ContextVar("numbers that may still be made", default=None)


class OutOfWorkError(Exception):
    """More numbers would be made than a comparison may make."""


@contextmanager
def at_most(n: int) -> Iterator[list[int]]:
    """Within it so many numbers may be made; then OutOfWorkError is raised. It yields a list of how many are left.

    They are counted, not timed, so that the same file has the same outcome on every machine.

    >>> with at_most(5):
    ...     made(3)
    ...     made(3)
    Traceback (most recent call last):
    attnviz.checks.batches.OutOfWorkError
    """
    left = [n]
    token = _left.set(left)
    try:
        yield left
    finally:
        _left.reset(token)


def made(n: int) -> None:
    """Count numbers that are made."""
    if left := _left.get():
        left[0] -= n
        if left[0] < 0:
            raise OutOfWorkError


def batches(things: Sequence[Thing], size: int) -> Iterator[Sequence[Thing]]:
    """Things, of which each has so many numbers, so many at a time as are made at once.

    >>> [*batches("abcde", AT_ONCE // 2)]
    ['ab', 'cd', 'e']
    """
    n = max(AT_ONCE // size, 1)
    return (things[at : at + n] for at in range(0, len(things), n))


def chosen(things: Sequence[Thing], are_so: np.ndarray) -> Iterator[Thing]:
    """Those of which it is so; all or none, where it is so of all or none.

    >>> [*chosen("abc", np.array([True, False, True]))], [*chosen("abc", np.array(True))]
    (['a', 'c'], ['a', 'b', 'c'])
    """
    return compress(things, np.broadcast_to(are_so, len(things)))
