"""Formats: the precision that the numbers of an array were written in, whatever type holds them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_MAX_DIGITS = 12
_MIN_DIGITS = 8  # so many zero digits aren't chance, and so many others no simple number
_LARGEST_POWER = 300
_FEW = 16  # how many numbers are tested before all are


@dataclass(frozen=True)
class Digits:
    """How many digits numbers were rounded to.

    Attributes
    ----------
    n : int
    are_significant : bool
        Whether they are counted from the first that isn't 0, as `%.4e` does; by default they are decimals.

    Examples
    --------
    >>> Digits(2).rounded(np.array([12.345, 0.0678])).tolist()
    [12.34, 0.07]
    >>> Digits(2, are_significant=True).rounded(np.array([12.345, 0.0678])).tolist()
    [12.0, 0.068]
    """

    n: int
    are_significant: bool = False

    @property
    def name(self) -> str:
        return f"{self.n} {'significant digits' if self.are_significant else 'decimals'}"

    def step(self, array: np.ndarray) -> np.ndarray:
        """The distance from each number to the next with that many digits."""
        return 10.0 ** -self.places(array)

    def half_step(self, array: np.ndarray) -> np.ndarray:
        """The largest rounding error of each number."""
        return 0.5 * self.step(array)

    def rounded(self, array: np.ndarray) -> np.ndarray:
        return _to_places(array, self.places(array))

    def places(self, array: np.ndarray) -> np.ndarray:
        """The number of decimals of each number."""
        if not self.are_significant:
            return np.full(np.shape(array), float(self.n))
        size = np.abs(array, dtype=np.float64)
        first = np.floor(np.log10(np.where((size > 0) & np.isfinite(size), size, 1)))
        return np.clip(self.n - 1 - first, -_LARGEST_POWER, _LARGEST_POWER)


def digits_of(numbers: np.ndarray, epsilon: float, stored: Callable[[np.ndarray], np.ndarray]) -> Digits | None:
    """The digits that numbers were rounded to, if this can't be chance; decimals or significant digits, the rarer.

    Parameters
    ----------
    numbers : ndarray of float64
        Positive numbers.
    epsilon : float
        The machine epsilon of their format.
    stored : callable
        Rounds numbers to this format.
    """
    ways = []
    for are_significant in (False, True):
        digits = _fewest(are_significant, numbers, epsilon, stored)
        if digits:
            chances = epsilon * numbers / digits.step(numbers)  # of each number, to have so few digits by itself
            likely = float(np.log10(np.minimum(chances, 1)).sum())
            if likely < -_MIN_DIGITS and len(numbers) * digits.n >= _MIN_DIGITS:
                ways.append((likely, are_significant, digits))
    return min(ways, key=lambda each: each[:2])[-1] if ways else None


def _fewest(
    are_significant: bool, numbers: np.ndarray, epsilon: float, stored: Callable[[np.ndarray], np.ndarray]
) -> Digits | None:
    """The fewest digits that represent all numbers. A few numbers rule out most arrays."""
    ways = [Digits(n, are_significant) for n in range(2, _MAX_DIGITS + 1)]
    few = numbers[:_FEW]
    have = _are_as_stored(_to_places(few, np.stack([each.places(few) for each in ways])), few, epsilon, stored)
    if not have[-1]:
        return None
    ways = ways[int(have.argmax()) :]
    fewest = bisect_left(ways, True, key=lambda each: _are_as_stored(each.rounded(numbers), numbers, epsilon, stored))
    return ways[fewest] if fewest < len(ways) else None


def _are_as_stored(
    rounded: np.ndarray, numbers: np.ndarray, epsilon: float, stored: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Whether rounded numbers equal the given ones once they are stored in the format."""
    return (np.abs(stored(rounded) - numbers) <= epsilon * numbers / 2).all(axis=-1)


def _to_places(array: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Numbers rounded to so many decimals."""
    up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)  # whole: dividing by them is exact
    return np.rint(array * up / down) / up * down


_MAX_LOOKED_AT = 4_096  # how many numbers of an array are tested
_MANY = 2**18  # from how many numbers of a larger array these are sampled
_OF_FLOAT32 = 8  # all digits of a float32
_SIMPLE_BITS = 4  # numbers of so few bits, such as 0.75 or 13, are in every format


@dataclass(frozen=True)
class Format:
    """A floating-point format.

    Attributes
    ----------
    bits : int
        Of the significand, including the leading 1.
    least : float
        Smaller numbers may become 0: except in float16, processors differ in whether they keep subnormals.
    largest : float
        Larger numbers become infinite; finite only for float16, the one format that attention overflows.
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
        """The nearest representable numbers, as float64; infinity beyond the largest."""
        with np.errstate(over="ignore"):
            if self.name == "bfloat16":
                return widened(_upper_bits(array.astype(np.float32))).astype(np.float64)
            return array.astype(self.name).astype(np.float64)

    def holds(self, array: np.ndarray) -> bool:
        """Whether every number is representable."""
        return bool((self.rounded(array) == array).all())


BFLOAT16 = Format("bfloat16", 8, float(np.finfo(np.float32).tiny))
FLOAT16 = Format("float16", 11, float(np.finfo(np.float16).smallest_subnormal), float(np.finfo(np.float16).max))
FLOAT32 = Format("float32", 24, float(np.finfo(np.float32).tiny))
FLOAT64 = Format("float64", 53, float(np.finfo(np.float64).tiny))
_COARSEST_FIRST = (BFLOAT16, FLOAT16, FLOAT32, FLOAT64)


def widened(bits: np.ndarray) -> np.ndarray:
    """The float32 values of bfloat16 numbers, given as 16-bit integers.

    >>> widened(np.array([0x3F80, 0xC049], dtype=np.uint16)).tolist()
    [1.0, -3.140625]
    """
    return (bits.astype(np.uint32) << 16).view(np.float32)


def written_in(array: np.ndarray, dtype: np.dtype) -> tuple[Format, Digits | None]:
    """The coarsest format that represents an array, and the digits it was rounded to, if any.

    Numbers that every format has, such as those of a one-hot vector, tell nothing: they are of the type they came in.

    Parameters
    ----------
    array : ndarray of float64
    dtype : dtype
        The type that it came in.

    Examples
    --------
    >>> shares = np.array([0.1, 0.65, 0.25]).astype(np.float32)
    >>> [each and each.name for each in written_in(shares.astype(np.float64), np.dtype(np.float64))]
    ['float32', None]
    >>> written_in(np.array([0.1234, 0.8766, 0.5671]), np.dtype(np.float64))[1].name
    '4 decimals'
    """
    if dtype.kind != "f":
        return FLOAT64, None
    own = next(each for each in _COARSEST_FIRST if each.name == dtype.name)
    telling = _telling(array)
    if own is FLOAT16 or not len(telling):
        return own, None
    coarser = [each for each in _COARSEST_FIRST if each.bits < own.bits and each.holds(telling)]
    held = next((each for each in coarser if each is FLOAT32 or len(telling) > 1), own)
    if held.bits < FLOAT32.bits:
        return held, None
    digits = digits_of(telling, own.epsilon, own.rounded)
    if held is FLOAT64 and (digits is None or digits.n >= _OF_FLOAT32) and _are_shortest_of_float32(telling):
        return FLOAT32, None
    if digits is None:
        return held, None
    finest = FLOAT32 if digits.n < 8 + digits.are_significant else FLOAT64
    coarse = (BFLOAT16, FLOAT16, *([FLOAT32] if finest is FLOAT64 else []))
    return next((each for each in coarse if _were_of(each, telling, digits, own)), finest), digits


def _telling(array: np.ndarray) -> np.ndarray:
    """The distinct numbers that not every format represents; none if all are integers."""
    array = array.ravel()[:: array.size // _MANY | 1]  # an odd step, so that no column is left out
    array = np.abs(array[np.isfinite(array) & (array > -1e4)])  # what is added to hide a key is left out
    if (array == np.rint(array)).all():
        return np.empty(0)
    array = np.unique(array)
    array = array[:: -(-len(array) // _MAX_LOOKED_AT)]
    few, _ = np.frexp(array)
    few = few * 2**_SIMPLE_BITS
    return array[few != np.rint(few)]


def _were_of(coarse: Format, telling: np.ndarray, digits: Digits, own: Format) -> bool:
    """Whether the numbers come from the format, rounded to so many digits."""
    is_telling = coarse.epsilon * telling > 4 * digits.step(telling)
    made = own.rounded(digits.rounded(coarse.rounded(telling)))
    return np.count_nonzero(is_telling) >= 4 and bool((np.abs(made - telling) <= own.epsilon * telling / 2).all())


def _are_shortest_of_float32(telling: np.ndarray) -> bool:
    """Whether the numbers are the shortest decimal forms of float32, as pandas writes them."""
    return len(telling) > 1 and all(float(str(np.float32(each))) == each for each in telling.tolist())


def _upper_bits(array: np.ndarray) -> np.ndarray:
    """The upper 16 bits of float32, rounded half to even."""
    bits = array.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
