"""Rounding: how far a correct pass in another precision may be from ours, number by number.

Each rounding moves a number by at most half an epsilon of it, at random. What enters an operation off by `error` leaves
it off by as much as its derivatives say, the errors of many terms adding up as random ones do, by their squares; and a
sum of n terms rounds n times. `_DEVIATIONS` of such moves are allowed, of which no correct pass needs half
(`test_comparison`), and which no mistake stays within.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.addition import Addition
from attnviz.core.operations.concatenation import Concatenation
from attnviz.core.operations.hide import Hide
from attnviz.core.operations.identity import Identity
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.scale import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.operations.sumnormalise import SumNormalise

_DEVIATIONS = 6.0


@dataclass(frozen=True)
class Precision:
    """That of float16, float32 or float64.

    Attributes
    ----------
    dtype : dtype
    is_rough : bool
        Whether errors aren't followed, to find quickly what cannot be: an array is then taken to agree if no number is
        further off than a quarter of the largest.
    """

    dtype: np.dtype
    is_rough: bool = False

    @property
    def epsilon(self) -> float:
        """The step from 1 to the next larger number."""
        return float(np.finfo(self.dtype).eps)

    @property
    def unit(self) -> float:
        """What one rounding is allowed, in parts of the number."""
        return _DEVIATIONS * self.epsilon / 2

    @property
    def least(self) -> float:
        """What becomes 0; processors differ in whether they keep the smallest numbers, but for float16."""
        info = np.finfo(self.dtype)
        return float(info.smallest_subnormal if self.dtype == np.float16 else info.tiny)


@dataclass(frozen=True, eq=False)
class Rounded:
    """An array, and how far each number of a correct pass may be from it."""

    value: np.ndarray
    error: np.ndarray

    @classmethod
    def given(cls, value: np.ndarray, unit: float = 0.0) -> Rounded:
        """What was given, each number rounded once by `unit` of it, or not at all."""
        if value.dtype == bool:
            return cls(value, np.zeros(value.shape))
        return cls(value, unit * np.where(np.isfinite(value), np.abs(value), 0))

    def map(self, change) -> Rounded:
        """The same change of places in both."""
        return Rounded(change(self.value), change(self.error))


def applied(operation: Operation, inputs: list[Rounded], precision: Precision) -> Rounded:
    """What an operation makes of inputs, with how far rounding may move it."""
    value = operation.compute(*(each.value for each in inputs))
    if precision.is_rough:
        return Rounded(value, np.broadcast_to(0.0, value.shape))
    error = _error(operation, inputs, value, precision)
    return Rounded(value, np.nan_to_num(error, nan=0.0, posinf=np.finfo(float).max))


def _error(operation: Operation, inputs: list[Rounded], value: np.ndarray, precision: Precision) -> np.ndarray:
    first = inputs[0]
    unit, size = precision.unit, np.where(np.isfinite(value), np.abs(value), 0)
    match operation:
        case Identity() | Concatenation():
            return operation.compute(first.error)
        case Hide():
            return np.where(inputs[1].value, first.error, 0)
        case Scale():
            # some divide q and k by the root of the root before they are multiplied
            return np.abs(operation.compute(first.error)) + 3 * unit * size
        case Addition():
            return np.hypot(first.error, inputs[1].error) + unit * size
        case Softmax():
            return _error_of_shares(first, value, precision)
        case SumNormalise():
            divided = np.abs(np.where(np.isneginf(first.value), 0, first.value).sum(axis=-1, keepdims=True))
            moved = first.error + size * _length(first.error)
            return moved / np.maximum(divided, precision.least) + unit * value.shape[-1] * size
        case _:
            return _error_of_products(operation, inputs, value, precision)


def _error_of_products(
    operation: Operation, inputs: list[Rounded], value: np.ndarray, precision: Precision
) -> np.ndarray:
    """Of sums of products of two arrays, with a third added to them: the operation, of squares, adds up the squares."""
    a, b, *bias = inputs
    n = a.value.shape[-1]
    a2, b2, of_a, of_b = (np.square(each) for each in (a.value, b.value, a.error, b.error))
    products = operation.compute(a2, b2)
    moved = operation.compute(of_a, b2 + of_b) if of_a.any() else np.zeros(products.shape)
    if of_b.any():
        moved += operation.compute(a2, of_b)
    rounded = precision.unit**2 * n * (products + np.square(value))
    error = np.sqrt(moved + rounded) + n * precision.least
    if bias:
        (b,) = bias
        error = error + (b.error + precision.unit * np.abs(b.value))[..., None, :]
    return error


def _error_of_shares(masked: Rounded, shares: np.ndarray, precision: Precision) -> np.ndarray:
    z = np.where(np.isfinite(masked.value), masked.value, 0)
    largest = np.max(masked.value, axis=-1, keepdims=True, initial=-np.finfo(float).max)
    apart = np.where(np.isfinite(masked.value), np.abs(z - largest), 0)
    error = np.hypot(masked.error, precision.unit * (1 + apart))
    moved = np.hypot(error, _length(shares * error))
    share = shares * np.expm1(np.minimum(moved, 50)) + precision.unit * np.sqrt(shares.shape[-1]) * shares
    return np.minimum(share, 1) + precision.least * shares.shape[-1]


def _length(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
