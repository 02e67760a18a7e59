"""Streams of random numbers that are the same in every process and on every machine."""

import hashlib
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence


class _Zeros(ISeedSequence):
    """A stand-in for the seed of a generator that is seeded afterwards: NumPy's own takes ten times as long."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return [0] * n_words  # the generator reads them one by one, a list quicker than an array


_ZEROS: Any = _Zeros()  # NumPy's types know SeedSequence alone


def stream(name: str, seed: int) -> np.random.RandomState:
    """The random stream that belongs to `name` and `seed`.

    A hash of our own rather than Python's `hash`, which differs between
    processes; `RandomState` rather than `Generator`, whose numbers may change
    with a NumPy release (NEP 19 freezes only the former).
    """
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=32).digest()
    random = np.random.RandomState(np.random.MT19937(_ZEROS))
    random.seed(np.frombuffer(digest, dtype="<u4"))
    return random
