"""Arrays: what is accepted from users, and the array of a stage, made when it is first needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.core.errors import ArrayError
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.rule import Input

MIN_SQUARED_NUMBER = 1e-150
"""Squares of smaller numbers vanish."""

MAX_SQUARED_NUMBER = 1e150
"""The squares of smaller numbers add up to less than float64 reaches."""

MAX_SAFE_NUMBER = 1e300
"""Below this no rounding takes a number beyond float64 (1.8e308)."""

ROUNDING = 1e-12
"""Of a stage's largest number: numbers no further apart are the same, as sums in another order round otherwise."""


class Numbers:
    """An array that nobody can write into, made when it is first asked for and then kept.

    Attributes
    ----------
    bound : float
        What no number but a hidden key's -inf is larger than, whatever its sign; inf where -inf was given or set.
        It is known before they are made.
    """

    __slots__ = ("_source", "bound")

    def __init__(self, bound: float, source: np.ndarray | tuple[Operation, Sequence[Input]]) -> None:
        self.bound = bound
        self._source = source

    @classmethod
    def of(cls, array: np.ndarray) -> Numbers:
        """Those of an array that is ours, and that nobody writes into from now on."""
        array.setflags(write=False)
        return cls(_largest(array), array)

    @property
    def array(self) -> np.ndarray:
        """The array. Two threads that ask at once may both make it; they make the same numbers."""
        source = self._source
        if isinstance(source, np.ndarray):
            return source
        operation, inputs = source
        array = operation.compute(*[each.value for each in inputs])
        array.setflags(write=False)
        self._source = array
        return array


def _largest(array: np.ndarray) -> float:
    """The root of the sum of squares, as no number is larger; where the squares go beyond float64, the largest."""
    if array.dtype == bool:
        return 1.0
    squares = float(np.vdot(array, array))  # of all that sums or compares it is the fastest, and it never warns
    return math.sqrt(squares) + MIN_SQUARED_NUMBER if squares < math.inf else float(np.abs(array).max())


def real(name: str, array: ArrayLike, axes: tuple[str, ...]) -> Numbers:
    """The numbers of a copy of the array, if they are real and finite and its axes these; else ArrayError."""
    array = _copied(name, array, np.float64)
    if array.ndim != len(axes) or 0 in array.shape:
        raise ArrayError(f"{name} must have the shape ({', '.join(axes)}), none of them 0; got {array.shape}.")
    numbers = Numbers.of(array)
    if not numbers.bound < math.inf:
        wrong = np.count_nonzero(~np.isfinite(array))
        raise ArrayError(f"{name} must hold finite numbers; got {wrong} that are not.")
    return numbers


def stage_numbers(name: str, array: np.ndarray, shape: tuple[int, ...], *, hides: bool) -> Numbers:
    """The numbers of a copy of an array that is to stand for a stage, if it has its shape; else ArrayError.

    They are finite, or -inf where a key may be hidden.
    """
    array = _copied(name, array, np.float64)
    if array.shape != shape:
        raise ArrayError(f"{name} must have the shape {shape}; got {array.shape}.")
    wrong = ~(np.isfinite(array) | (np.isneginf(array) & hides))
    if wrong.any():
        rest = ", or -inf where a key is hidden" * hides
        raise ArrayError(f"{name} must hold finite numbers{rest}; got {np.count_nonzero(wrong)} that are not.")
    return Numbers.of(array)


def detached(value: Any) -> Any:
    """An array for NumPy of a tensor that requires a gradient, or holds bfloat16; anything else as it is."""
    if type(value) is np.ndarray and value.dtype.kind != "V":
        return value  # as almost all are; the name of a dtype takes long to make
    if not hasattr(value, "detach"):
        return value.astype(np.float32) if str(getattr(value, "dtype", "")) == "bfloat16" else value
    tensor = value.detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor  # NumPy has no such numbers


def _copied(name: str, value: ArrayLike, dtype: type | None = None) -> np.ndarray:
    try:
        array = np.asarray(detached(value))
        if array.dtype.kind == "c":
            raise TypeError
        return np.array(array, dtype=dtype, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(f"{name} must be an array of real numbers; got {type(value).__name__}.") from None


def mask_numbers(mask: np.ndarray | None, n_heads: int, n_queries: int, n_keys: int) -> Numbers:
    """Those of a copy of the mask, of booleans or float64, if it fits; all visible without one; else ArrayError."""
    if mask is None:
        return _all_visible(n_queries, n_keys)
    mask = _copied("mask", mask)
    if mask.shape not in ((n_queries, n_keys), (n_heads, n_queries, n_keys)):
        raise ArrayError(
            f"mask must have the shape (queries, keys) = {(n_queries, n_keys)} or "
            f"(heads, queries, keys) = {(n_heads, n_queries, n_keys)}; got {mask.shape}."
        )
    if mask.dtype == bool:
        return Numbers.of(mask)
    if not np.issubdtype(mask.dtype, np.floating):
        raise ArrayError(
            f"mask must be boolean (True is visible) or float (added to the scores); got {mask.dtype}. "
            "Write mask.astype(bool) for 0 and 1."
        )
    if np.isnan(mask).any() or np.isposinf(mask).any():
        raise ArrayError("A float mask may hold finite numbers and -inf; got NaN or inf.")
    return Numbers.of(mask.astype(np.float64))


@lru_cache(maxsize=8)
def _all_visible(n_queries: int, n_keys: int) -> Numbers:
    return Numbers.of(np.ones((n_queries, n_keys), dtype=bool))
