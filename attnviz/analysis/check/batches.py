"""Batches: things that are made at once, so many as have few numbers together."""

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TypeVar

import numpy as np

AT_ONCE = 2**19
"""So many numbers are made at once."""

Thing = TypeVar("Thing")


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
