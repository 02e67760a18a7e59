"""Numbers: an array as text that a browser reads bit for bit."""

import base64
from collections.abc import Collection

import numpy as np

Chunks = list[str | None]


def chunks(values: np.ndarray, *, by_head: bool, heads: Collection[int] | None = None) -> Chunks:
    """An array in pieces that can be sent one by one.

    Parameters
    ----------
    values : ndarray
        Of float64, or booleans, which become 1 and 0.
    by_head : bool
        Whether the first axis is that of heads; each head is a piece of its own then.
    heads : collection of int, optional
        Which heads are written; all by default.

    Returns
    -------
    list of str or None
        Each piece as base64 of little-endian float64 in C order; None for a head that is not written.
    """
    if not by_head:
        return [_written(values)]
    return [_written(part) if heads is None or head in heads else None for head, part in enumerate(values)]


def _written(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")
