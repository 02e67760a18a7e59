"""Visibility: the keys near a query's own, where queries and keys differ in number, and masks of a whole batch."""

import numpy as np

from attnviz.core.arrays import detached
from attnviz.core.errors import ArrayError


def near(
    n_queries: int, n_keys: int, offset: int = 0, *, left: int | None = None, right: int | None = None
) -> np.ndarray:
    """Which keys each query sees where key `offset` + i is query i's own.

    Parameters
    ----------
    n_queries, n_keys, offset : int
    left, right : int, optional
        How many keys a query sees before its own, and after it; all by default. A `right` of 0 is a causal mask.

    Returns
    -------
    ndarray of bool (queries, keys)

    Examples
    --------
    >>> near(2, 4, 1, left=1, right=0).astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0]])
    """
    distance = np.arange(n_keys) - np.arange(n_queries)[:, None] - offset
    seen = np.ones((n_queries, n_keys), dtype=bool)
    if left is not None:
        seen &= distance >= -left
    if right is not None:
        seen &= distance <= right
    return seen


def limited(mask: np.ndarray | None, seen: np.ndarray) -> np.ndarray:
    """A mask, boolean or float, with all keys hidden that are not seen."""
    if mask is None:
        return seen
    return mask & seen if mask.dtype == bool else np.where(seen, mask, -np.inf)


def masks_of(name: str, mask: np.ndarray | None, shape: tuple[int, int, int, int]) -> list[np.ndarray | None]:
    """The mask of each sentence: (queries, keys) where it is one for all heads, else (heads, queries, keys).

    Parameters
    ----------
    name : str
        For errors.
    mask : ndarray, optional
        Boolean or float, of a shape that broadcasts to `shape`.
    shape : (batch, heads, queries, keys)

    Raises
    ------
    ArrayError
        If it doesn't broadcast.
    """
    n_sentences, n_heads, n_queries, n_keys = shape
    if mask is None:
        return [None] * n_sentences
    mask = np.asarray(detached(mask))
    try:
        np.broadcast_to(mask, shape)
    except ValueError:
        raise ArrayError(
            f"{name} must broadcast to (batch, heads, queries, keys) = {shape}; got {mask.shape}."
        ) from None
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    heads = () if mask.shape[1] == 1 else (n_heads,)
    each = np.broadcast_to(mask if heads else mask[:, 0], (n_sentences, *heads, n_queries, n_keys))
    return list(each)
