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
        Each piece as base64 of little-endian float64 in C order; None for one that is not written.
    """
    return [
        _written(values[places]) if all(of is None or at in of for at, of in zip(places, sent, strict=True)) else None
        for places in np.ndindex(values.shape[: len(sent)])
    ]


def _written(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")
