"""Formats: the number format and the digits that numbers were written in."""

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

_MAX_DIGITS = 12
_MIN_DIGITS = 8  # this many zero digits are no chance, and this many other digits no simple number
_LARGEST_POWER = 300
_MAX_TESTED = 4_096  # how many numbers of an array are tested
_MANY = 2**18  # larger arrays are sampled from this many numbers
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
    array = array[:: -(-len(array) // _MAX_TESTED)]
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
            # the chance of each number to have so few digits by itself
            chances = stored.epsilon * numbers / digits.step(numbers)
            likely = float(np.log10(np.minimum(chances, 1)).sum())
            if likely < -_MIN_DIGITS and len(numbers) * digits.n >= _MIN_DIGITS:
                ways.append((likely, are_significant, digits))
    return min(ways, key=lambda each: each[:2])[-1] if ways else None
