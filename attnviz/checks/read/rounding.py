"""Rounding: how far a correct pass may differ in the format that it was computed and written in.

Each rounding changes a number by at most half an epsilon, at random. Errors of inputs are propagated by derivatives and
added up as independent random errors, by their squares; a sum of n terms rounds n times. A difference of `_DEVIATIONS`
standard deviations is allowed: no correct pass needs half of that (`test_comparison`), and no mistake stays within it.
Of 16-bit numbers only the stored ones are rounded, as sums are made in float32, and `_DEVIATIONS_16` are allowed: 1,120
layers of torch needed 0.41 of that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np

from attnviz.checks.read.decode_steps import AfterCache
from attnviz.checks.read.formats import FLOAT32, Digits, Format, half_step
from attnviz.checks.read.limits import spend
from attnviz.checks.read.table_rotation import TableRotation
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.core.operations import linear, rotation, scores
from attnviz.core.operations.activations import GELU
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.softmax import Softmax, SumNormalise

_DEVIATIONS = 6.0
_DEVIATIONS_16 = 2.5  # for 16-bit numbers
_TF32_EPSILON = 2.0**-10
_NOTHING = np.zeros(())
_MULTIPLIED = 128  # how many multiplications cost as much as one other operation
_SPLIT_SIZE = 2**20  # larger arrays' errors are computed head by head
_FINE = 1e-4  # a tolerance within which no two explanations agree by chance
_TRIALS = 16  # enough that an error is unlikely to be underestimated by half
_MOST_STACKED = 2**14  # arrays of at most this many numbers go through a norm's trials in one operation
_PRODUCTS = (linear.DotProducts, linear.WeightedSum, linear.Projection, linear.Contributions)


@dataclass(frozen=True)
class Tolerance:
    """How far the user lets numbers differ, as in `numpy.allclose`."""

    rtol: float
    atol: float
    name: str  # such as "rtol 0.001"

    @classmethod
    def of(cls, rtol: float | None, atol: float | None) -> Tolerance | None:
        """The stated numbers, and those of `numpy.allclose` for the other; None if none is stated."""
        stated = {name: each for name, each in (("rtol", rtol), ("atol", atol)) if each is not None}
        for name, each in stated.items():
            if isinstance(each, bool) or not isinstance(each, Real) or not 0 <= each < math.inf:
                raise OwnArraysError(
                    f"{name} is a number from 0 on, or None for the rounding of your arrays' own type; got {each!r}."
                )
        words = " and ".join(f"{name} {each:g}" for name, each in stated.items())
        return cls(float(stated.get("rtol", 1e-5)), float(stated.get("atol", 1e-8)), words) if stated else None

    def allowed(self, expected: np.ndarray) -> np.ndarray:
        return self.atol + self.rtol * expected


@dataclass(frozen=True)
class Precision:
    """How a pass was computed and written."""

    format: Format
    digits: Digits | None = None  # the fewest that its numbers were rounded to
    is_tf32: bool = False  # matrix products read 11 bits of each number, as GPUs do in TF32
    is_rough: bool = False  # no errors are propagated; `rough_tolerance` times the largest number counts as agreeing
    rough_tolerance: float = 0.25
    is_single: bool = False  # a rough pass is computed in float32, whatever its format
    slack: float = 1.0  # a factor of the allowed error, for code that rounds more often than ours
    rounds_sums: bool = False  # whether sums are rounded after each term, in 16 bits too
    tolerance: Tolerance | None = None  # the user's tolerance, which replaces the allowed error

    @property
    def name(self) -> str:
        """Such as "float32", "TF32" or "4 decimals"."""
        if self.tolerance:
            return self.tolerance.name
        return self.digits.name if self.digits else "TF32" if self.is_tf32 else self.format.name

    @property
    def is_fine(self) -> bool:
        """Whether numbers are so precise that no two explanations agree by chance."""
        if self.tolerance:
            return self.tolerance.rtol <= _FINE and self.tolerance.atol <= _FINE
        return self.format.epsilon <= FLOAT32.epsilon and not self.digits and not self.is_tf32

    @property
    def sums_in_float32(self) -> bool:
        """Whether sums of 16-bit numbers are made in float32, as libraries and processors do."""
        return self.format.bits < FLOAT32.bits and not self.rounds_sums

    @property
    def deviations(self) -> float:
        return _DEVIATIONS_16 if self.sums_in_float32 else _DEVIATIONS

    @property
    def unit(self) -> float:
        """The relative error allowed for one rounding."""
        return self.deviations * self.format.epsilon / 2

    @property
    def read_unit(self) -> float:
        """The relative error allowed for reading a factor of a product."""
        return _DEVIATIONS * _TF32_EPSILON / 2 if self.is_tf32 else 0.0

    def expected(self, largest: float) -> float:
        if self.tolerance:
            return float(self.tolerance.allowed(np.array(largest))) or self.format.least
        relative = _TF32_EPSILON if self.is_tf32 else self.format.epsilon
        return max(relative * largest, float(half_step(self.digits, np.array(largest)))) or self.format.least


@dataclass(frozen=True, eq=False)
class Rounded:
    """An array, and the possible error of each number; None if nothing was ever rounded."""

    value: np.ndarray
    _error: np.ndarray | None = None

    @classmethod
    def read(cls, value: np.ndarray, precision: Precision, digits: Digits | None = None) -> Rounded:
        if value.dtype == bool:
            return cls(value)
        unit = 0.0 if precision.format.holds(value) else precision.unit
        if not unit and not digits:
            return cls(value)
        return cls(value, unit * _finite(value) + _DEVIATIONS * half_step(digits, value))

    @property
    def is_unrounded(self) -> bool:
        return self._error is None or self._error.base is _NOTHING

    @cached_property
    def error(self) -> np.ndarray:
        return np.broadcast_to(_NOTHING, self.value.shape) if self._error is None else self._error

    @cached_property
    def single(self) -> Rounded:
        return Rounded(self.value if self.value.dtype == bool else self.value.astype(np.float32))

    def of_head(self, at: int) -> Rounded:
        """One head's numbers, or what all heads share."""
        if self.value.ndim == 2:
            return self
        return Rounded(self.value[at], None if self.is_unrounded else self.error[at])

    def where(self, condition: np.ndarray, other: Rounded) -> Rounded:
        """These numbers where a condition holds, elsewhere the other ones."""
        value = np.where(condition, self.value, other.value)
        if self.is_unrounded and other.is_unrounded:
            return Rounded(value)
        return Rounded(value, np.where(condition, self.error, other.error))

    def map(self, change: Callable[[np.ndarray], np.ndarray]) -> Rounded:
        """Permute or scale the numbers and their errors alike."""
        value = change(self.value)
        return Rounded(value) if self.is_unrounded else Rounded(value, change(self.error))


def applied(operation: Operation, inputs: Sequence[Rounded], precision: Precision) -> Rounded:
    """The result of an operation, with its possible rounding error."""
    value = _computed(operation, [each.value for each in inputs])
    work = value.size * (1 + (type(operation) in _PRODUCTS) * inputs[0].value.shape[-1] // _MULTIPLIED)
    spend(work if precision.is_rough else 4 * work)
    if precision.is_single and value.dtype == np.float64:
        value = value.astype(np.float32)
    if precision.is_rough:
        return Rounded(value)
    error = _error(operation, inputs, value, precision)
    if not np.isfinite(error).all():
        error = np.nan_to_num(error, nan=0.0, posinf=np.finfo(float).max)
    return Rounded(value, error)


def _finite(value: np.ndarray) -> np.ndarray:
    """The size of each number, 0 of what is none."""
    return np.where(np.isfinite(value), np.abs(value), 0)


def _computed(operation: Operation, inputs: list[np.ndarray]) -> np.ndarray:
    try:
        return operation.compute(*inputs)
    except ArrayError:  # a norm of what is not finite
        return np.full(inputs[0].shape, np.nan)


def _is_by_heads(operation: Operation, inputs: Sequence[Rounded], value: np.ndarray) -> bool:
    """Whether an operation does the same with each head alone."""
    is_product = isinstance(operation, linear.DotProducts | linear.WeightedSum) and operation.shared_by == 1
    is_alone = isinstance(operation, scores.Scale | scores.Hide) or (isinstance(operation, Softmax) and not inputs[1:])
    if value.ndim != 3 or not (is_product or is_alone):
        return False
    return all(each.value.ndim == 2 or each.value.shape[:-2] == value.shape[:1] for each in inputs)


def _error(operation: Operation, inputs: Sequence[Rounded], value: np.ndarray, precision: Precision) -> np.ndarray:
    if value.size >= _SPLIT_SIZE and _is_by_heads(operation, inputs, value):
        error = np.empty(value.shape)  # head by head, in a processor's cache
        for at, part in enumerate(value):
            error[at] = _error(operation, [each.of_head(at) for each in inputs], part, precision)
        return error
    if type(operation) in _PRODUCTS:  # first: these are the most, and each case takes longer than a small product
        return _product_error(operation, inputs, value, precision)
    first, unit = inputs[0], precision.unit
    match operation:
        case AfterCache():
            new = value[..., inputs[-1].value.shape[-2] :, :]
            error = _error(operation.operation, inputs[:-1], new, precision)
            return np.concatenate([np.broadcast_to(inputs[-1].error, inputs[-1].value.shape), error], axis=-2)
        case linear.Identity() | linear.Concatenation():
            return operation.compute(first.error)
        case scores.Hide():
            return np.where(inputs[1].value, first.error, 0)
        case scores.Scale():  # some divide q and k by the root of the root before they are multiplied
            return np.abs(operation.compute(first.error)) + 3 * unit * _finite(value)
        case linear.Addition():
            return np.hypot(first.error, inputs[1].error) + unit * _finite(value)
        case Softmax():
            return _softmax_error(first, inputs[1:], value, precision)
        case SumNormalise():
            size = _finite(value)
            divided = np.abs(np.where(np.isneginf(first.value), 0, first.value).sum(axis=-1, keepdims=True))
            moved = first.error + size * _length(first.error)
            return moved / np.maximum(divided, precision.format.least) + unit * value.shape[-1] * size
        case TableRotation() if np.isnan(value).all():  # a table too short for these positions
            return np.zeros(value.shape)
        case TableRotation():
            largest, lengths = operation.largest, operation.lengths(first.value)
            return largest * (operation.lengths(first.error) + 2 * unit * lengths) + operation.error_of(first.value)
        case rotation.Rotation():  # angles are in float32 wherever a pass is
            angle_error = 3 * (operation.first + first.value.shape[-2]) * FLOAT32.epsilon
            return operation.lengths(first.error) + (2 * unit + angle_error) * operation.lengths(first.value)
        case GELU():  # its slope is at most 1.13; far below 0, what is left of 1 - 1 was rounded as 1 is
            return 1.2 * first.error + 2 * unit * np.abs(first.value)
    return _error_by_trials(operation, inputs, value, precision)


def _product_error(
    operation: Operation, inputs: Sequence[Rounded], value: np.ndarray, precision: Precision
) -> np.ndarray:
    """The error of products summed and a third array added: the same operation applied to squared errors."""
    a, b, *biases = inputs
    n = a.value.shape[-1]
    a2, b2 = np.square(a.value), np.square(b.value)
    a_error2, b_error2 = _squared_error(a, a2, precision), _squared_error(b, b2, precision)
    products = operation.compute(a2, b2)
    squares = products + np.square(value)
    squares *= precision.unit**2 * (1 if precision.sums_in_float32 else n)
    if a_error2 is not None:
        squares += operation.compute(a_error2, b2 if b_error2 is None else b2 + b_error2)
    if b_error2 is not None:
        squares += operation.compute(a2, b_error2)
    error = np.sqrt(squares, out=squares)
    error += n * precision.format.least
    for bias in biases:
        error = error + (bias.error + precision.unit * np.abs(bias.value))[..., None, :]
    return error


def _squared_error(factor: Rounded, squares: np.ndarray, precision: Precision) -> np.ndarray | None:
    """The squared errors of reading factors; None if there are none."""
    if factor.is_unrounded and not precision.read_unit:
        return None
    return np.square(factor.error) + precision.read_unit**2 * squares


def _error_by_trials(
    operation: Operation, inputs: Sequence[Rounded], value: np.ndarray, precision: Precision
) -> np.ndarray:
    """The error of any other operation: how its result moves if each input moves up or down at random."""
    random = np.random.default_rng(0)
    steps = [np.hypot(each.error, precision.unit * _finite(each.value)) for each in inputs]
    trials = (
        [
            each.value if each.value.dtype == bool else each.value + random.choice((-1.0, 1.0), step.shape) * step
            for each, step in zip(inputs, steps, strict=True)
        ]
        for _ in range(_TRIALS)
    )
    squares = np.zeros(value.shape)
    for moved in _stacked(trials, value) if isinstance(operation, RMSNorm | LayerNorm) else trials:
        off = np.square(np.nan_to_num(_computed(operation, moved) - value, nan=0.0, posinf=0.0, neginf=0.0))
        squares += off.reshape(-1, *value.shape).sum(axis=0)
    return 2 * np.sqrt(squares / _TRIALS) + precision.unit * _finite(value) + precision.format.least


def _stacked(trials: Iterator[list[np.ndarray]], value: np.ndarray) -> Iterator[list[np.ndarray]]:
    """The trials of a small array at once, on a leading axis: one operation instead of many."""
    if value.size > _MOST_STACKED:
        yield from trials
        return
    yield [
        np.stack([each.reshape((1,) * (value.ndim - each.ndim) + each.shape) for each in moved])
        for moved in zip(*trials, strict=True)
    ]


def _softmax_error(masked: Rounded, sinks: Sequence[Rounded], weights: np.ndarray, precision: Precision) -> np.ndarray:
    largest = np.max(masked.value, axis=-1, keepdims=True, initial=-np.finfo(float).max)
    for each in sinks:
        largest = np.maximum(largest, each.value[..., None, None])
    seen = np.isfinite(masked.value)
    apart = np.where(seen, np.abs(np.where(seen, masked.value, 0) - largest), 0)
    error = np.hypot(masked.error, precision.unit * (1 + apart))
    moved = np.hypot(error, _length(weights * error))
    n_roundings = 2 if precision.sums_in_float32 else np.sqrt(weights.shape[-1])
    rounded = precision.unit * n_roundings * weights
    return (
        np.minimum(weights * np.expm1(np.minimum(moved, 50)) + rounded, 1) + precision.format.least * weights.shape[-1]
    )


def _length(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
