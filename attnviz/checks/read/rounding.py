"""Rounding: how far a correct pass in another precision may differ from ours, number by number.

Each rounding changes a number by at most half an epsilon, at random. Errors of inputs are propagated by derivatives and
added up as independent random errors, by their squares; a sum of n terms rounds n times. A difference of `_DEVIATIONS`
standard deviations is allowed: no correct pass needs half of that (`test_comparison`), and no mistake stays within it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.checks.read.budget import spend
from attnviz.checks.read.formats import FLOAT32, Digits, Format
from attnviz.core.errors import ArrayError
from attnviz.core.operations.activations import GELU
from attnviz.core.operations.linear import (
    Addition,
    Concatenation,
    Contributions,
    DotProducts,
    Identity,
    Projection,
    WeightedSum,
)
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.scores import Hide, Scale
from attnviz.core.operations.softmax import Softmax, SumNormalise

_DEVIATIONS = 6.0
_TF32_EPSILON = 2.0**-10
_NOTHING = np.zeros(())
_MULTIPLIED = 128  # how many multiplications cost as much as one other operation
_TRIALS = 16  # with so many, an error is unlikely to be underestimated by half


@dataclass(frozen=True)
class Precision:
    """How a pass was computed and written.

    Attributes
    ----------
    digits : Digits, optional
        The fewest digits that its numbers were rounded to.
    is_tf32 : bool
        Whether matrix products read 11 bits of each number, as GPUs do in TF32.
    is_rough : bool
        Whether to skip error propagation, for a quick test: an array agrees if it differs by less than
        `rough_tolerance` times its largest number.
    is_single : bool
        Whether a rough pass is computed in float32, whatever its format.
    slack : float
        A factor for the allowed error, for code that rounds more often than ours.
    """

    format: Format
    digits: Digits | None = None
    is_tf32: bool = False
    is_rough: bool = False
    rough_tolerance: float = 0.25
    is_single: bool = False
    slack: float = 1.0

    @property
    def name(self) -> str:
        """Such as "float32", "TF32" or "4 decimals"."""
        return self.digits.name if self.digits else "TF32" if self.is_tf32 else self.format.name

    @property
    def is_fine(self) -> bool:
        """Whether numbers are so precise that no two explanations agree by chance."""
        return self.epsilon <= FLOAT32.epsilon and not self.digits and not self.is_tf32

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next larger number."""
        return self.format.epsilon

    @property
    def unit(self) -> float:
        """The relative error allowed for one rounding."""
        return _DEVIATIONS * self.epsilon / 2

    @property
    def read_unit(self) -> float:
        """The relative error allowed for reading a factor of a product."""
        return _DEVIATIONS * _TF32_EPSILON / 2 if self.is_tf32 else 0.0

    @property
    def least(self) -> float:
        """The smallest number; anything smaller becomes 0."""
        return self.format.least

    def expected(self, largest: float) -> float:
        """The typical rounding error of numbers up to this one."""
        relative = _TF32_EPSILON if self.is_tf32 else self.epsilon
        return max(relative * largest, float(half_step(self.digits, np.array(largest)))) or self.least


def half_step(digits: Digits | None, array: np.ndarray) -> np.ndarray | float:
    """The error of numbers rounded to so many digits; 0 without rounding."""
    return digits.half_step(array) if digits else 0.0


@dataclass(frozen=True, eq=False)
class Rounded:
    """An array, and the possible error of each number; None if nothing was ever rounded."""

    value: np.ndarray
    _error: np.ndarray | None

    @classmethod
    def given(cls, value: np.ndarray, precision: Precision, digits: Digits | None = None) -> Rounded:
        """Given numbers, rounded once: to their digits, or to the precision unless they are already."""
        if value.dtype == bool:
            return cls.unrounded(value)
        unit = 0.0 if precision.format.holds(value) else precision.unit
        if not unit and not digits:
            return cls.unrounded(value)
        size = np.where(np.isfinite(value), np.abs(value), 0)
        return cls(value, unit * size + _DEVIATIONS * half_step(digits, value))

    @classmethod
    def unrounded(cls, value: np.ndarray) -> Rounded:
        return cls(value, None)

    @property
    def is_unrounded(self) -> bool:
        return self._error is None or self._error.base is _NOTHING

    @cached_property
    def error(self) -> np.ndarray:
        """The possible error of each number."""
        return np.broadcast_to(_NOTHING, self.value.shape) if self._error is None else self._error

    @cached_property
    def single(self) -> Rounded:
        """The numbers in float32."""
        return Rounded.unrounded(self.value if self.value.dtype == bool else self.value.astype(np.float32))

    def map(self, change: Callable[[np.ndarray], np.ndarray]) -> Rounded:
        """Permute or scale the numbers and their errors alike."""
        value = change(self.value)
        return Rounded.unrounded(value) if self.is_unrounded else Rounded(value, change(self.error))


def applied(operation: Operation, inputs: list[Rounded], precision: Precision) -> Rounded:
    """The result of an operation, with its possible rounding error."""
    value = _computed(operation, [each.value for each in inputs])
    of_products = isinstance(operation, DotProducts | WeightedSum | Projection | Contributions)
    work = value.size * (1 + of_products * inputs[0].value.shape[-1] // _MULTIPLIED)
    spend(work if precision.is_rough else 4 * work)
    if precision.is_single and value.dtype == np.float64:
        value = value.astype(np.float32)
    if precision.is_rough:
        return Rounded.unrounded(value)
    error = _error(operation, inputs, value, precision)
    return Rounded(value, np.nan_to_num(error, nan=0.0, posinf=np.finfo(float).max))


def _computed(operation: Operation, inputs: list[np.ndarray]) -> np.ndarray:
    try:
        return operation.compute(*inputs)
    except ArrayError:  # a norm of what is not finite
        return np.full(inputs[0].shape, np.nan)


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
            return _error_of_shares(first, inputs[1:], value, precision)
        case SumNormalise():
            divided = np.abs(np.where(np.isneginf(first.value), 0, first.value).sum(axis=-1, keepdims=True))
            moved = first.error + size * _length(first.error)
            return moved / np.maximum(divided, precision.least) + unit * value.shape[-1] * size
        case Rotation():  # angles are in float32 wherever a pass is
            far = operation.first + first.value.shape[-2]
            return operation.lengths(first.error) + (2 * unit + 3 * far * FLOAT32.epsilon) * operation.lengths(
                first.value
            )
        case GELU():  # its slope is at most 1.13; far below 0, what is left of 1 - 1 was rounded as 1 is
            return 1.2 * first.error + 2 * unit * np.abs(first.value)
        case DotProducts() | WeightedSum() | Projection() | Contributions():
            return _error_of_products(operation, inputs, value, precision)
        case _:
            return _error_by_trials(operation, inputs, value, precision)


def _error_of_products(
    operation: Operation, inputs: list[Rounded], value: np.ndarray, precision: Precision
) -> np.ndarray:
    """The error of products summed and a third array added: the same operation applied to squared errors."""
    a, b, *bias = inputs
    n = a.value.shape[-1]
    read = precision.read_unit
    a2, b2 = (np.square(each.value) for each in (a, b))
    of_a, of_b = (_moves(each, squares, read) for each, squares in ((a, a2), (b, b2)))
    products = operation.compute(a2, b2)
    moved = np.zeros(products.shape)
    if of_a is not None:
        moved += operation.compute(of_a, b2 if of_b is None else b2 + of_b)
    if of_b is not None:
        moved += operation.compute(a2, of_b)
    rounded = precision.unit**2 * n * (products + np.square(value))
    error = np.sqrt(moved + rounded) + n * precision.least
    if bias:
        (b,) = bias
        error = error + (b.error + precision.unit * np.abs(b.value))[..., None, :]
    return error


def _moves(factor: Rounded, squares: np.ndarray, read_unit: float) -> np.ndarray | None:
    """The squared errors of reading factors; None if there are none."""
    if factor.is_unrounded and not read_unit:
        return None
    return np.square(factor.error) + read_unit**2 * squares


def _error_by_trials(
    operation: Operation, inputs: list[Rounded], value: np.ndarray, precision: Precision
) -> np.ndarray:
    """The error of any other operation: how its result moves if each input moves up or down at random."""
    random = np.random.default_rng(0)
    size = [np.where(np.isfinite(each.value), np.abs(each.value), 0) for each in inputs]
    steps = [np.hypot(each.error, precision.unit * of) for each, of in zip(inputs, size, strict=True)]
    squares = np.zeros(value.shape)
    for _ in range(_TRIALS):
        moved = [
            each.value if each.value.dtype == bool else each.value + random.choice((-1.0, 1.0), step.shape) * step
            for each, step in zip(inputs, steps, strict=True)
        ]
        squares += np.square(np.nan_to_num(_computed(operation, moved) - value, nan=0.0, posinf=0.0, neginf=0.0))
    rounded = precision.unit * np.where(np.isfinite(value), np.abs(value), 0)
    return 2 * np.sqrt(squares / _TRIALS) + rounded + precision.least


def _error_of_shares(masked: Rounded, sinks: list[Rounded], shares: np.ndarray, precision: Precision) -> np.ndarray:
    z = np.where(np.isfinite(masked.value), masked.value, 0)
    largest = np.max(masked.value, axis=-1, keepdims=True, initial=-np.finfo(float).max)
    for each in sinks:
        largest = np.maximum(largest, each.value[..., None, None])
    apart = np.where(np.isfinite(masked.value), np.abs(z - largest), 0)
    error = np.hypot(masked.error, precision.unit * (1 + apart))
    moved = np.hypot(error, _length(shares * error))
    share = shares * np.expm1(np.minimum(moved, 50)) + precision.unit * np.sqrt(shares.shape[-1]) * shares
    return np.minimum(share, 1) + precision.least * shares.shape[-1]


def _length(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
