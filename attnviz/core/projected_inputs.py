"""Given queries, keys and values of one sentence or a batch, their masks and passes: for PyTorch's and ONNX's calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.core.arguments import quoted
from attnviz.core.arrays import mask_array, real
from attnviz.core.attention import attend_projected
from attnviz.core.errors import ArrayError
from attnviz.core.tokens import clean, labels
from attnviz.core.trace import Trace


def visible_keys(
    n_queries: int, n_keys: int, offset: int = 0, *, left: int | None = None, right: int | None = None
) -> np.ndarray:
    """Which keys each query sees, (queries, keys), if query i stands at key `offset` + i.

    `left` and `right` are how many keys it sees before and after its own place; all by default.

    >>> visible_keys(2, 4, 1, left=1, right=0).astype(int)
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


def restrict_mask(mask: np.ndarray | None, seen: np.ndarray) -> np.ndarray:
    """A mask, boolean or float, with the keys hidden that are not in `seen`."""
    if mask is None:
        return seen
    return mask & seen if mask.dtype == bool else np.where(seen, mask, -np.inf)


def batch_masks(name: str, mask: np.ndarray | None, shape: tuple[int, int, int, int]) -> list[np.ndarray | None]:
    """The mask of each sentence: (queries, keys) if all heads share it, else (heads, queries, keys).

    `shape` is (batch, heads, queries, keys), to which the mask must broadcast; `name` is for errors.
    """
    n_sentences, n_heads, n_queries, n_keys = shape
    if mask is None:
        return [None] * n_sentences
    mask = mask_array(name, mask)
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


Tokens = Sequence[str] | tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, eq=False)
class Projections:
    """Queries, keys and values."""

    q: np.ndarray  # (batch, heads, queries, d_k)
    k: np.ndarray  # (batch, groups, keys, d_k)
    v: np.ndarray  # (batch, groups, keys, d_v)
    names: tuple[str, str, str]  # the caller's names of the three, for errors

    def __post_init__(self) -> None:
        q, k, v = self.names
        came = f"got {q} {self.q.shape}, {k} {self.k.shape} and {v} {self.v.shape}"
        if not len(self.q) == len(self.k) == len(self.v):
            raise ArrayError(f"{q}, {k} and {v} must have batches of one size; {came}.")
        if self.k.shape[:3] != self.v.shape[:3]:
            raise ArrayError(f"{k} and {v} must have as many heads and as many keys; {came}.")
        if self.q.shape[3] != self.k.shape[3]:
            raise ArrayError(f"{q} and {k} must have the same length d_k, their last axis; {came}.")
        if self.n_heads % self.k.shape[1]:
            raise ArrayError(f"The heads of {k} and {v} must divide those of {q}; {came}.")

    @property
    def n_heads(self) -> int:
        """How many heads the queries have."""
        return self.q.shape[1]

    @property
    def n_groups(self) -> int:
        """How many heads the keys and values have."""
        return self.k.shape[1]

    @property
    def n_queries(self) -> int:
        """How many queries each sentence has."""
        return self.q.shape[2]

    @property
    def n_keys(self) -> int:
        """How many keys each sentence has."""
        return self.k.shape[2]

    def after(self, k: np.ndarray, v: np.ndarray, names: tuple[str, str]) -> Projections:
        """Prepend cached keys and values."""
        for name, kept, new in ((names[0], k, self.k), (names[1], v, self.v)):
            if kept.shape[:2] + kept.shape[3:] != new.shape[:2] + new.shape[3:]:
                raise ArrayError(
                    f"{name} must have the shape {new.shape} but for the number of keys; got {kept.shape}."
                )
        if k.shape[2] != v.shape[2]:
            raise ArrayError(f"{' and '.join(names)} must have as many keys; got {k.shape} and {v.shape}.")
        return replace(self, k=np.concatenate((k, self.k), axis=2), v=np.concatenate((v, self.v), axis=2))

    def passes(self, masks: Sequence[np.ndarray | None], **options: Any) -> list[Trace]:
        """The pass of each sentence; `options` as in `attend_projected`."""
        sentences = zip(self.q, self.k, self.v, masks, strict=True)
        return [attend_projected(q, k, v, mask=mask, **options) for q, k, v, mask in sentences]


def n_axes_of(name: str, array: ArrayLike) -> int:
    """How many axes an array or a nested list has; ArrayError if it isn't one."""
    try:
        return np.ndim(array)
    except ValueError:  # rows of several lengths
        raise ArrayError(f"{name} must be an array of real numbers; got {type(array).__name__}.") from None


def with_batch_axes(name: str, array: np.ndarray, rows: str, columns: str) -> np.ndarray:
    """A float64 array (batch, heads, rows, columns); missing axes of batch and heads are added."""
    axes = ("batch", "heads", rows, columns)
    n_axes = n_axes_of(name, array)
    array = real(name, array, axes[-n_axes:] if n_axes in (2, 3) else axes).array
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def with_tokens(trace: Trace, tokens: Tokens | None, n_queries: int, n_keys: int) -> Trace:
    """The trace with words along its queries and keys."""
    if tokens is None:
        return trace
    rule = (
        f"tokens must be {n_keys} words, one for each key, or a pair, of {n_queries} for queries and {n_keys} for keys"
    )
    if isinstance(tokens, str):
        raise ArrayError(f"{rule}; got text. Write tokens.split().")
    if not isinstance(tokens, Sequence | np.ndarray):
        raise ArrayError(f"{rule}; got {quoted(tokens)}. Give a list of str.")
    pair = tuple(tokens) if len(tokens) == 2 and not any(isinstance(each, str) for each in tokens) else None
    of_queries, of_keys = pair or (tokens[-n_queries:], tokens)
    if others := [type(each).__name__ for each in (*of_queries, *of_keys) if not isinstance(each, str)]:
        raise ArrayError(f"{rule}; got {others[0]} among them.")
    if (len(of_queries), len(of_keys)) != (n_queries, n_keys):
        raise ArrayError(f"{rule}; got {f'{len(of_queries)} and ' if pair else ''}{len(of_keys)}.")
    words = [labels([clean(each) or each for each in map(str, words)]) for words in (of_queries, of_keys)]
    return trace.labelled(query=words[0], key=words[1])
