"""Rounding: the format that numbers were written in, and how far a correct pass in it may differ; and limits.

Each rounding changes a number by at most half an epsilon, at random. Errors of inputs are propagated by derivatives and
added up as independent random errors, by their squares; a sum of n terms rounds n times. A difference of `_DEVIATIONS`
standard deviations is allowed: no correct pass needs half of that (`test_comparison`), and no mistake stays within it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from numbers import Real
from typing import TypeVar

import numpy as np

from attnviz.checks.read.table_operations import Kept, TableRotation
from attnviz.core.errors import ArrayError, OwnArraysError
from attnviz.core.operations import linear, rotation, scores
from attnviz.core.operations.activations import GELU
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.softmax import Softmax, SumNormalise

# --- Formats and digits

_MAX_DIGITS = 12
_MIN_DIGITS = 8  # so many zero digits aren't chance, and so many others no simple number
_LARGEST_POWER = 300
_MAX_LOOKED_AT = 4_096  # how many numbers of an array are tested
_MANY = 2**18  # from how many numbers of a larger array these are sampled
_FLOAT32_DIGITS = 8  # all digits of a float32
_SIMPLE_BITS = 4  # numbers of so few bits, such as 0.75 or 13, are in every format


@dataclass(frozen=True)
class Digits:
    """How many digits numbers were rounded to: decimals, or significant digits as in `%.4e`."""

    n: int
    are_significant: bool = False

    @property
    def name(self) -> str:
        return f"{self.n} {'significant digits' if self.are_significant else 'decimals'}"

    def step(self, array: np.ndarray) -> np.ndarray:
        return 10.0 ** -self.places(array)

    def rounded(self, array: np.ndarray) -> np.ndarray:
        places = self.places(array)
        up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)  # whole: dividing by them is exact
        return np.rint(array * up / down) / up * down

    def places(self, array: np.ndarray) -> np.ndarray:
        if not self.are_significant:
            return np.full(np.shape(array), float(self.n))
        size = np.abs(array, dtype=np.float64)
        first = np.floor(np.log10(np.where((size > 0) & np.isfinite(size), size, 1)))
        return np.clip(self.n - 1 - first, -_LARGEST_POWER, _LARGEST_POWER)


def half_step(digits: Digits | None, array: np.ndarray) -> np.ndarray | float:
    """The largest error of numbers rounded to so many digits; 0 without rounding."""
    return 0.5 * digits.step(array) if digits else 0.0


@dataclass(frozen=True)
class Format:
    """A floating-point format; `bits` are those of the significand, including the leading 1.

    Numbers below `least` may become 0, as processors differ in whether they keep subnormals. `largest` is finite only
    for float16, the one format that attention overflows.
    """

    name: str
    bits: int
    least: float
    largest: float = math.inf

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next larger number."""
        return 2.0 ** (1 - self.bits)

    def rounded(self, array: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            if self.name == "bfloat16":
                bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
                return widened(((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)).astype(np.float64)
            return array.astype(self.name).astype(np.float64)

    def holds(self, array: np.ndarray) -> bool:
        return bool((self.rounded(array) == array).all())


BFLOAT16 = Format("bfloat16", 8, float(np.finfo(np.float32).tiny))
FLOAT16 = Format("float16", 11, float(np.finfo(np.float16).smallest_subnormal), float(np.finfo(np.float16).max))
FLOAT32 = Format("float32", 24, float(np.finfo(np.float32).tiny))
FLOAT64 = Format("float64", 53, float(np.finfo(np.float64).tiny))
_COARSEST_FIRST = (BFLOAT16, FLOAT16, FLOAT32, FLOAT64)


def widened(bits: np.ndarray) -> np.ndarray:
    """The float32 values of bfloat16 numbers, given as 16-bit integers."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def written_in(array: np.ndarray, dtype: np.dtype) -> tuple[Format, Digits | None]:
    """The coarsest format that represents an array which came as `dtype`, and the digits it was rounded to, if any.

    Numbers that every format has, such as those of a one-hot vector, tell nothing: they are of the type they came in.
    """
    if dtype.kind != "f":
        return FLOAT64, None
    stored = next(each for each in _COARSEST_FIRST if each.name == dtype.name)
    numbers = _informative(array)
    if stored is FLOAT16 or not len(numbers):
        return stored, None
    coarser = [each for each in _COARSEST_FIRST if each.bits < stored.bits and each.holds(numbers)]
    held = next((each for each in coarser if each is FLOAT32 or len(numbers) > 1), stored)
    if held.bits < FLOAT32.bits:
        return held, None
    digits = _digits_of(numbers, stored)
    may_be_float32 = held is FLOAT64 and len(numbers) > 1 and (digits is None or digits.n >= _FLOAT32_DIGITS)
    if may_be_float32 and all(float(str(np.float32(each))) == each for each in numbers.tolist()):  # as pandas writes it
        return FLOAT32, None
    if digits is None:
        return held, None
    finest = FLOAT32 if digits.n < 8 + digits.are_significant else FLOAT64
    coarse = (BFLOAT16, FLOAT16, *([FLOAT32] if finest is FLOAT64 else []))
    return next((each for each in coarse if _may_be_of(each, numbers, digits, stored)), finest), digits


def _informative(array: np.ndarray) -> np.ndarray:
    """The distinct numbers that not every format represents; none if all are integers."""
    array = array.ravel()[:: array.size // _MANY | 1]  # an odd step, so that no column is left out
    array = np.abs(array[np.isfinite(array) & (array > -1e4)])  # what is added to hide a key is left out
    if (array == np.rint(array)).all():
        return np.empty(0)
    array = np.unique(array)
    array = array[:: -(-len(array) // _MAX_LOOKED_AT)]
    few = np.frexp(array)[0] * 2**_SIMPLE_BITS
    return array[few != np.rint(few)]


def _may_be_of(coarse: Format, numbers: np.ndarray, digits: Digits, stored: Format) -> bool:
    """Whether the numbers come from the coarse format, rounded to so many digits."""
    n_shown = np.count_nonzero(coarse.epsilon * numbers > 4 * digits.step(numbers))
    return bool(n_shown >= 4) and _equals(digits.rounded(coarse.rounded(numbers)), numbers, stored)


def _equals(rounded: np.ndarray, numbers: np.ndarray, stored: Format) -> bool:
    """Whether rounded numbers equal the given ones once they are stored in the format."""
    return bool((np.abs(stored.rounded(rounded) - numbers) <= stored.epsilon * numbers / 2).all())


def _digits_of(numbers: np.ndarray, stored: Format) -> Digits | None:
    """The digits that positive numbers were rounded to, if this can't be chance; of two explanations the rarer."""
    ways = []
    for are_significant in (False, True):
        all_digits = [Digits(n, are_significant) for n in range(2, _MAX_DIGITS + 1)]
        fewest = bisect_left(all_digits, True, key=lambda each: _equals(each.rounded(numbers), numbers, stored))
        for digits in all_digits[fewest : fewest + 1]:
            chances = stored.epsilon * numbers / digits.step(numbers)  # of each number, to have so few digits by itself
            likely = float(np.log10(np.minimum(chances, 1)).sum())
            if likely < -_MIN_DIGITS and len(numbers) * digits.n >= _MIN_DIGITS:
                ways.append((likely, are_significant, digits))
    return min(ways, key=lambda each: each[:2])[-1] if ways else None


# --- Limits: those of a server's uploads, and the work of a search

_bound: ContextVar[float] = ContextVar("how many numbers a stage may have", default=math.inf)


@contextmanager
def bounded_stages(n: int) -> Iterator[None]:
    """Limit how many numbers a stage may have inside, and the work: for files of anybody on a server."""
    token = _bound.set(n)
    try:
        yield
    finally:
        _bound.reset(token)


def most_numbers() -> float:
    """How many numbers a stage may have; infinite in the library."""
    return _bound.get()


BATCH_NUMBERS = 2**19  # how many numbers a batch may hold
Item = TypeVar("Item")
_remaining: ContextVar[list[float] | None] = ContextVar("numbers that may still be computed", default=None)


class OutOfWorkError(Exception):
    """A comparison would compute more numbers than its limit."""


@contextmanager
def work_limit(n: float) -> Iterator[list[float]]:
    """Limit how many numbers may be computed inside; yields a list with the remaining count.

    Numbers are counted rather than timed, so that a file has the same outcome on every machine. Beyond the limit
    `spend` raises OutOfWorkError.
    """
    remaining = [n]
    token = _remaining.set(remaining)
    try:
        yield remaining
    finally:
        _remaining.reset(token)


def spend(n: int) -> None:
    """Count n computed numbers against the limit."""
    if remaining := _remaining.get():
        remaining[0] -= n
        if remaining[0] < 0:
            raise OutOfWorkError


def batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Split items that hold `size` numbers each into batches of at most BATCH_NUMBERS numbers."""
    n = max(BATCH_NUMBERS // size, 1)
    return (items[at : at + n] for at in range(0, len(items), n))


def select(items: Sequence[Item], flags: np.ndarray) -> Iterator[Item]:
    """The items whose flag is set; a single flag counts for all."""
    return compress(items, np.broadcast_to(flags, len(items)))


# --- Numbers with rounding errors

_DEVIATIONS = 6.0
_TF32_EPSILON = 2.0**-10
_NOTHING = np.zeros(())
_MULTIPLIED = 128  # how many multiplications cost as much as one other operation
_IN_PARTS = 2**20  # from how many numbers errors are computed head by head
_FINE = 1e-4  # a tolerance within which no two explanations agree by chance
_TRIALS = 16  # with so many, an error is unlikely to be underestimated by half
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
            if not isinstance(each, Real) or not 0 <= each < math.inf:
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
    tolerance: Tolerance | None = None  # the user's own, instead of the allowed error

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
    def unit(self) -> float:
        """The relative error allowed for one rounding."""
        return _DEVIATIONS * self.format.epsilon / 2

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
        size = np.where(np.isfinite(value), np.abs(value), 0)
        return cls(value, unit * size + _DEVIATIONS * half_step(digits, value))

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
    work = value.size * (1 + isinstance(operation, _PRODUCTS) * inputs[0].value.shape[-1] // _MULTIPLIED)
    spend(work if precision.is_rough else 4 * work)
    if precision.is_single and value.dtype == np.float64:
        value = value.astype(np.float32)
    if precision.is_rough:
        return Rounded(value)
    error = _error(operation, inputs, value, precision)
    if error.size < _IN_PARTS or not np.isfinite(error.min() + error.max()):
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
    if value.size >= _IN_PARTS and _is_by_heads(operation, inputs, value):
        error = np.empty(value.shape)  # head by head, in a processor's cache
        for at, part in enumerate(value):
            error[at] = _error(operation, [each.of_head(at) for each in inputs], part, precision)
        return error
    first, unit = inputs[0], precision.unit
    match operation:
        case Kept():
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
        case TableRotation():
            largest, lengths = operation.largest, operation.lengths(first.value)
            return largest * (operation.lengths(first.error) + 2 * unit * lengths) + operation.error_of(first.value)
        case rotation.Rotation():  # angles are in float32 wherever a pass is
            angle_error = 3 * (operation.first + first.value.shape[-2]) * FLOAT32.epsilon
            return operation.lengths(first.error) + (2 * unit + angle_error) * operation.lengths(first.value)
        case GELU():  # its slope is at most 1.13; far below 0, what is left of 1 - 1 was rounded as 1 is
            return 1.2 * first.error + 2 * unit * np.abs(first.value)
        case linear.DotProducts() | linear.WeightedSum() | linear.Projection() | linear.Contributions():
            return _product_error(operation, inputs, value, precision)
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
    squares *= precision.unit**2 * n
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
    sizes = [np.where(np.isfinite(each.value), np.abs(each.value), 0) for each in inputs]
    steps = [np.hypot(each.error, precision.unit * size) for each, size in zip(inputs, sizes, strict=True)]
    squares = np.zeros(value.shape)
    for _ in range(_TRIALS):
        moved = [
            each.value if each.value.dtype == bool else each.value + random.choice((-1.0, 1.0), step.shape) * step
            for each, step in zip(inputs, steps, strict=True)
        ]
        squares += np.square(np.nan_to_num(_computed(operation, moved) - value, nan=0.0, posinf=0.0, neginf=0.0))
    rounded = precision.unit * np.where(np.isfinite(value), np.abs(value), 0)
    return 2 * np.sqrt(squares / _TRIALS) + rounded + precision.format.least


def _softmax_error(masked: Rounded, sinks: Sequence[Rounded], weights: np.ndarray, precision: Precision) -> np.ndarray:
    largest = np.max(masked.value, axis=-1, keepdims=True, initial=-np.finfo(float).max)
    for each in sinks:
        largest = np.maximum(largest, each.value[..., None, None])
    seen = np.isfinite(masked.value)
    apart = np.where(seen, np.abs(np.where(seen, masked.value, 0) - largest), 0)
    error = np.hypot(masked.error, precision.unit * (1 + apart))
    moved = np.hypot(error, _length(weights * error))
    rounded = precision.unit * np.sqrt(weights.shape[-1]) * weights
    return (
        np.minimum(weights * np.expm1(np.minimum(moved, 50)) + rounded, 1) + precision.format.least * weights.shape[-1]
    )


def _length(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
