"""Formats: in which precision the numbers of an array were written, whatever the type that holds them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attnviz.checks.digits import Digits, digits_of

_MAX_LOOKED_AT = 4_096
"""So many of an array's numbers are looked at for what they tell of how they were written."""

_MANY = 2**18
"""Of so many they are taken, where an array has more."""

_OF_FLOAT32 = 8
"""So many digits are all that a number of float32 has."""

_SIMPLE_BITS = 4
"""Numbers of so few bits, such as 0.75 or 13, are in every format, and tell nothing."""


@dataclass(frozen=True)
class Format:
    """A format of floats.

    Attributes
    ----------
    name : str
    bits : int
        Of a number's fraction, the leading one included.
    least : float
        What becomes 0; processors differ in whether they keep the smallest numbers, but for float16.
    largest : float
        What is beyond becomes infinity; only of float16 within what attention computes.
    """

    name: str
    bits: int
    least: float
    largest: float = math.inf

    @property
    def epsilon(self) -> float:
        """The step from 1 to the next larger number."""
        return 2.0 ** (1 - self.bits)

    def rounded(self, array: np.ndarray) -> np.ndarray:
        """The nearest numbers that it has, as float64; beyond its largest, infinity."""
        with np.errstate(over="ignore"):
            if self.name == "bfloat16":
                return widened(_upper_bits(array.astype(np.float32))).astype(np.float64)
            return array.astype(self.name).astype(np.float64)

    def holds(self, array: np.ndarray) -> bool:
        """Whether it has each of the numbers."""
        return bool((self.rounded(array) == array).all())


BFLOAT16 = Format("bfloat16", 8, float(np.finfo(np.float32).tiny))
FLOAT16 = Format("float16", 11, float(np.finfo(np.float16).smallest_subnormal), float(np.finfo(np.float16).max))
FLOAT32 = Format("float32", 24, float(np.finfo(np.float32).tiny))
FLOAT64 = Format("float64", 53, float(np.finfo(np.float64).tiny))
_COARSEST_FIRST = (BFLOAT16, FLOAT16, FLOAT32, FLOAT64)


def widened(bits: np.ndarray) -> np.ndarray:
    """The numbers of bfloat16, given as their 16 bits, in float32.

    >>> widened(np.array([0x3F80, 0xC049], dtype=np.uint16)).tolist()
    [1.0, -3.140625]
    """
    return (bits.astype(np.uint32) << 16).view(np.float32)


def written_in(array: np.ndarray, dtype: np.dtype) -> tuple[Format, Digits | None]:
    """The coarsest format that holds an array's numbers, and to how many digits they were written, if they were.

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
    """Those of the numbers that not every format has, each once; none if all are whole numbers."""
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
    """Whether the numbers are some of the format's, written to so many digits."""
    is_telling = coarse.epsilon * telling > 4 * digits.step(telling)
    made = own.rounded(digits.rounded(coarse.rounded(telling)))
    return np.count_nonzero(is_telling) >= 4 and bool((np.abs(made - telling) <= own.epsilon * telling / 2).all())


def _are_shortest_of_float32(telling: np.ndarray) -> bool:
    """Whether the numbers are those of float32 with as few digits as tell them apart, as pandas writes them."""
    return len(telling) > 1 and all(float(str(np.float32(each))) == each for each in telling.tolist())


def _upper_bits(array: np.ndarray) -> np.ndarray:
    """The upper 16 bits of float32, rounded to the nearest, half to even."""
    bits = array.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
