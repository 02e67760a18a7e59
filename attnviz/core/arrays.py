"""Arrays: validation of arrays from users, and `Numbers`, the lazily computed array of a stage."""

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

ROUNDING = 1e-12
"""Relative to a stage's largest number: smaller differences count as rounding (sums in another order differ)."""


class Numbers:
    """A read-only array, computed at first use and then kept."""

    __slots__ = ("_source", "bound")

    def __init__(self, bound: float, source: np.ndarray | tuple[Operation, Sequence[Input]]) -> None:
        self.bound = bound
        self._source = source

    @classmethod
    def of(cls, array: np.ndarray) -> Numbers:
        """Wrap an array that we own, and make it read-only."""
        array.setflags(write=False)
        return cls(_largest(array), array)

    @property
    def array(self) -> np.ndarray:
        """The array. Two threads may both compute it; they get the same numbers."""
        source = self._source
        if isinstance(source, np.ndarray):
            return source
        operation, inputs = source
        array = operation.compute(*[each.value for each in inputs])
        array.setflags(write=False)
        self._source = array
        return array


def _largest(array: np.ndarray) -> float:
    """An upper bound: the root of the sum of squares; if the squares exceed float64, the largest absolute value."""
    if array.dtype == bool:
        return 1.0
    squares = float(np.vdot(array, array))  # of all that sums or compares it is the fastest, and it never warns
    return math.sqrt(squares) + MIN_SQUARED_NUMBER if squares < math.inf else float(np.abs(array).max())


def real(name: str, array: ArrayLike, axes: tuple[str, ...]) -> Numbers:
    """A copy of an array of real, finite numbers with these axes; ArrayError for any other."""
    array = _copied(name, array, np.float64)
    if array.ndim != len(axes) or 0 in array.shape:
        raise ArrayError(f"{name} must have the shape ({', '.join(axes)}), none of them 0; got {array.shape}.")
    numbers = Numbers.of(array)
    if not numbers.bound < math.inf:
        wrong = np.count_nonzero(~np.isfinite(array))
        raise ArrayError(f"{name} must hold finite numbers; got {wrong} that are not.")
    return numbers


def stage_numbers(name: str, array: np.ndarray, shape: tuple[int, ...], *, hides: bool) -> Numbers:
    """A copy of an array that replaces a stage's; ArrayError if its shape differs.

    The numbers are finite, or -inf where a key may be hidden.
    """
    array = _copied(name, array, np.float64)
    if array.shape != shape:
        raise ArrayError(f"{name} must have the shape {shape}; got {array.shape}.")
    wrong = ~(np.isfinite(array) | (np.isneginf(array) & hides))
    if wrong.any():
        rest = ", or -inf where a key is hidden" * hides
        raise ArrayError(f"{name} must hold finite numbers{rest}; got {np.count_nonzero(wrong)} that are not.")
    return Numbers.of(array)


def as_numpy(value: Any) -> Any:
    """Convert tensors that NumPy can't read (with a gradient, or of bfloat16); return anything else unchanged."""
    if type(value) is np.ndarray and value.dtype.kind != "V":
        return value  # the usual case first: making a dtype's name is slow
    if not hasattr(value, "detach"):
        return value.astype(np.float32) if str(getattr(value, "dtype", "")) == "bfloat16" else value
    tensor = value.detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor  # NumPy has no such numbers


def _copied(name: str, value: ArrayLike, dtype: type | None = None) -> np.ndarray:
    try:
        array = np.asarray(as_numpy(value))
        if value is None or array.dtype.kind == "c" or (dtype and array.dtype.kind in "SU"):
            raise TypeError
        return np.array(array, dtype=dtype, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(f"{name} must be an array of real numbers; got {type(value).__name__}.") from None


def mask_numbers(mask: np.ndarray | None, n_heads: int, n_queries: int, n_keys: int) -> Numbers:
    """A copy of the mask, boolean or float64; all keys visible without one; ArrayError if it doesn't fit."""
    if mask is None:
        return _all_visible(n_queries, n_keys)
    mask = mask_array("mask", mask)
    if mask.shape not in ((n_queries, n_keys), (n_heads, n_queries, n_keys)):
        raise ArrayError(
            f"mask must have the shape (queries, keys) = {(n_queries, n_keys)} or "
            f"(heads, queries, keys) = {(n_heads, n_queries, n_keys)}; got {mask.shape}."
        )
    if mask.dtype == bool:
        return Numbers.of(mask)
    if np.isnan(mask).any() or np.isposinf(mask).any():
        raise ArrayError("A float mask may hold finite numbers and -inf; got NaN or inf.")
    return Numbers.of(mask.astype(np.float64))


def mask_array(name: str, mask: ArrayLike) -> np.ndarray:
    """A copy of a mask, whose shape may be any but a single number's; ArrayError if it can't hide anything."""
    array = _copied(name, mask)
    if array.dtype != bool and not np.issubdtype(array.dtype, np.floating):
        came = f"{array.dtype}. Write {name}.astype(bool) for 0 and 1"
        if array.ndim == 0:
            came = f"{type(mask).__name__}. Write np.tri(queries, keys, dtype=bool) for a causal mask"
        raise ArrayError(f"{name} must be boolean (True is visible) or float (added to the scores); got {came}.")
    if array.ndim == 0:
        raise ArrayError(f"{name} must be an array with an axis of keys; got one {array.dtype} for all.")
    return array


@lru_cache(maxsize=8)
def _all_visible(n_queries: int, n_keys: int) -> Numbers:
    return Numbers.of(np.ones((n_queries, n_keys), dtype=bool))
