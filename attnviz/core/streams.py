"""Streams of random numbers that are the same in every process and on every machine."""

import hashlib

import numpy as np


def stream(name: str, seed: int) -> np.random.RandomState:
    """The random stream that belongs to `name` and `seed`.

    A hash of our own rather than Python's `hash`, which differs between
    processes; `RandomState` rather than `Generator`, whose numbers may change
    with a NumPy release (NEP 19 freezes only the former).
    """
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=32).digest()
    return np.random.RandomState(np.frombuffer(digest, dtype="<u4"))
