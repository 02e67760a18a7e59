"""Numbers: an array as text that a browser reads bit for bit."""

import base64
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

Chunks = list[str | None]


class Sent(NamedTuple):
    """The heads whose numbers are sent, and of a stage that is sent row by row the queries; None for all of them."""

    heads: Collection[int] | None = None
    queries: Collection[int] | None = None


def chunks(values: np.ndarray, sent: Sequence[Collection[int] | None] = ()) -> Chunks:
    """An array in pieces that can be sent one by one.

    Parameters
    ----------
    values : ndarray
        Of float64, or booleans, which become 1 and 0.
    sent : sequence of collections of int or None
        Of each of the first axes the places that are written, None for all: all that lies at one is a piece of its own.

    Returns
    -------
    list of str or None
        Each piece, its first number alone where all have the same bits; None for one that is not written.
    """
    return [
        _chunk(values[places]) if all(of is None or at in of for at, of in zip(places, sent, strict=True)) else None
        for places in np.ndindex(values.shape[: len(sent)])
    ]


def encoded(values: np.ndarray) -> str:
    """An array as base64 of little-endian float64 in C order."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def _chunk(values: np.ndarray) -> str:
    bits = np.ascontiguousarray(values, dtype="<f8").view("<i8").ravel()
    return encoded(values.ravel()[:1] if values.size and np.all(bits == bits[0]) else values)
