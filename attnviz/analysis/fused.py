"""Fused: one array that holds what makes q, k and v, taken apart."""

from __future__ import annotations

import math

import numpy as np

from attnviz.analysis.arraynames import Orientation
from attnviz.analysis.layouts import IN_OUT, OUT_IN
from attnviz.core.errors import OwnArraysError


def orientations(array: np.ndarray, width: int | None) -> tuple[Orientation, ...]:
    """How a fused matrix may be laid out, whose name doesn't tell.

    Parameters
    ----------
    array : ndarray
    width : int, optional
        That of x, if it is known.

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


def apart(name: str, array: np.ndarray, orientation: Orientation | None) -> list[np.ndarray]:
    """The three parts, of a matrix that is laid out so, or of a vector.

    Raises
    ------
    OwnArraysError
        If there are no three.
    """
    n_axes = 1 if orientation is None else 2
    lengths = array.shape[max(array.ndim - n_axes, 0) :]
    axis = 1 if orientation == IN_OUT else 0
    if len(lengths) < n_axes or math.prod(lengths) != array.size or lengths[axis] % 3:
        raise OwnArraysError(
            f"{name[:60]!r} holds what makes q, k and v beside each other, so that one of its axes is a multiple "
            f"of 3; got {array.shape}."
        )
    return np.split(array.reshape(lengths), 3, axis=axis)
