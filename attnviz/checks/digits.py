"""Digits: to how many decimals, or significant digits, the numbers of an array were written."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_MAX_DIGITS = 12
_MIN_DIGITS = 8
"""So many digits that are all 0 are not so by chance, and as many others are not a simple number's."""

_LARGEST_POWER = 300

_FEW = 16
"""So many numbers are looked at before all are."""


@dataclass(frozen=True)
class Digits:
    """How many digits numbers were written with.

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
        """Their name."""
        return f"{self.n} {'significant digits' if self.are_significant else 'decimals'}"

    def step(self, array: np.ndarray) -> np.ndarray:
        """From each number to the next that has so many digits."""
        return 10.0 ** -self.places(array)

    def half_step(self, array: np.ndarray) -> np.ndarray:
        """By how much each number may be off."""
        return 0.5 * self.step(array)

    def rounded(self, array: np.ndarray) -> np.ndarray:
        """The nearest numbers of so many digits."""
        return _to_places(array, self.places(array))

    def places(self, array: np.ndarray) -> np.ndarray:
        """How many decimals each number has."""
        if not self.are_significant:
            return np.full(np.shape(array), float(self.n))
        size = np.abs(array, dtype=np.float64)
        first = np.floor(np.log10(np.where((size > 0) & np.isfinite(size), size, 1)))
        return np.clip(self.n - 1 - first, -_LARGEST_POWER, _LARGEST_POWER)


def digits_of(numbers: np.ndarray, epsilon: float, stored: Callable[[np.ndarray], np.ndarray]) -> Digits | None:
    """The digits that numbers have, where these are too few to be so by chance; of decimals and others what is rarer.

    Parameters
    ----------
    numbers : ndarray of float64
        Positive numbers.
    epsilon : float
        The step from 1 to the next number, in the format that they came in.
    stored : callable
        Numbers as this format has them.
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
    """The fewest digits that all numbers have; for most arrays a few numbers tell already that there are none."""
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
    """Whether rounded numbers are those that were told, as the format has them."""
    return (np.abs(stored(rounded) - numbers) <= epsilon * numbers / 2).all(axis=-1)


def _to_places(array: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The nearest numbers of so many decimals."""
    up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)  # whole: dividing by them is exact
    return np.rint(array * up / down) / up * down
