"""Fused: one array that holds what makes q, k and v, taken apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attnviz.checks.layouts import IN_OUT, OUT_IN
from attnviz.checks.names import Orientation
from attnviz.core.errors import OwnArraysError

_MAX_HEADS = 128


@dataclass(frozen=True)
class Cut:
    """Where q, k and v stand in one array.

    Attributes
    ----------
    orientation : {"(in, out)", "(out, in)"}
    n_sharing : int
        How many heads share keys and values: the queries' part is so many times as long as each of the other two.
    n_groups : int
        Of keys and values, each behind the queries that share them, as in GPT-NeoX, BLOOM and Falcon; 0 where all
        queries come first, then all keys, then all values.
    """

    orientation: Orientation
    n_sharing: int = 1
    n_groups: int = 0

    def apart(self, name: str, array: np.ndarray, n_axes: int) -> list[np.ndarray]:
        """The three parts of a matrix, of two axes, or of a vector; those of groups by heads, and (out, in).

        Raises
        ------
        OwnArraysError
            If there are no three.
        """
        lengths = array.shape[max(array.ndim - n_axes, 0) :]
        axis = 1 if n_axes == 2 and self.orientation == IN_OUT else 0
        n_parts = self.n_sharing + 2
        if len(lengths) < n_axes or math.prod(lengths) != array.size or lengths[axis] % (n_parts * self._n_cuts):
            raise OwnArraysError(
                f"{name[:60]!r} holds what makes q, k and v beside each other, so that one of its axes is a multiple "
                f"of {n_parts}; got {array.shape}."
            )
        array, n = array.reshape(lengths), lengths[axis] // n_parts
        if not self.n_groups:
            return np.split(array, [self.n_sharing * n, (self.n_sharing + 1) * n], axis=axis)
        rows = np.moveaxis(array, axis, 0)
        heads = rows.reshape(self.n_groups, n_parts, n // self.n_groups, *rows.shape[1:])
        queries = heads[:, : self.n_sharing].reshape(-1, *heads.shape[2:])
        return [queries, heads[:, -2], heads[:, -1]]

    @property
    def _n_cuts(self) -> int:
        return max(self.n_groups, 1)


def cuts(
    array: np.ndarray, says: Orientation | None, width: int | None, joined: int | None, n_heads: int | None
) -> Iterator[Cut]:
    """How a fused matrix may be laid out: all queries first, and then by heads.

    Parameters
    ----------
    array : ndarray
    says : {"(in, out)", "(out, in)"}, optional
        What is known of it.
    width : int, optional
        That of x, if it is known.
    joined : int, optional
        How long all heads' queries of a token are, if it is known; three times as long as that if it isn't.
    n_heads : int, optional

    Examples
    --------
    >>> [each.n_groups for each in cuts(np.ones((24, 8)), None, 8, 8, None)]
    [0, 1, 2, 4, 8]
    """
    shared = []
    for orientation in (says,) if says else orientations(array, width):
        n_out = array.shape[-2 if orientation == OUT_IN else -1]
        rest = n_out - joined if joined else 0
        n_sharing = 2 * joined // rest if rest > 0 and not 2 * joined % rest else 1
        yield Cut(orientation, n_sharing)
        shared.append((orientation, n_sharing, n_out * n_sharing // (n_sharing + 2)))
    for orientation, n_sharing, n_queries in shared:
        for h in (n_heads,) if n_heads else range(1, _MAX_HEADS + 1):
            if not n_queries % h and not h % n_sharing:
                yield Cut(orientation, n_sharing, h // n_sharing)


def orientations(array: np.ndarray, width: int | None) -> tuple[Orientation, ...]:
    """How a fused matrix may be laid out, whose name doesn't tell.

    Examples
    --------
    >>> orientations(np.ones((24, 8)), 8), orientations(np.ones((12, 12)), 12), orientations(np.ones((8, 24)), None)
    (('(out, in)',), ('(out, in)', '(in, out)'), ('(in, out)',))
    """
    rows, columns = array.shape[-2:]
    if width in (rows, columns) and rows != columns:
        return (OUT_IN,) if columns == width else (IN_OUT,)
    if rows == 3 * columns or columns == 3 * rows:
        return (OUT_IN,) if rows > columns else (IN_OUT,)
    return tuple(way for way, n in ((OUT_IN, rows), (IN_OUT, columns)) if n % 3 == 0) or (OUT_IN,)
