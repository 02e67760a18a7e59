"""Masks: which keys are hidden in the user's pass: the masks in every plausible reading, or inferred ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

import numpy as np

from attnviz.checks.read.names import MEANINGS, Convention, Meaning
from attnviz.core.errors import OwnArraysError

HIDES = -1e4  # lower numbers hide a key: many use −1e9, or −1e4 in float16
_MOST_READ = 2**22  # up to so many numbers, several masks are read in all combinations
_MAX_WINDOW = 64  # larger windows aren't searched


@dataclass(frozen=True, eq=False)
class OwnMask:
    """One of the user's masks.

    Attributes
    ----------
    value : ndarray
        Without leading axes of length 1; Boolean if it selects, else float64 to be added to scores.
    true_is : {"visible", "hidden"}, optional
        The meaning of True, if it is known.
    convention : Convention, optional
        Its meaning in the library that the other names come from.
    """

    name: str
    value: np.ndarray
    true_is: Meaning | None = None
    convention: Convention | None = None

    @property
    def is_free(self) -> bool:
        """Whether True may mean either."""
        return self.value.dtype == bool and self.true_is is None

    @property
    def meanings(self) -> tuple[Meaning | None, ...]:
        """The possible meanings of True, the likeliest first."""
        if not self.is_free:
            return (self.true_is,)
        return ("hidden", "visible") if self.convention and self.convention.true_is == "hidden" else MEANINGS

    @classmethod
    def of(cls, name: str, array: np.ndarray, true_is: Meaning | None, convention: Convention | None = None) -> OwnMask:
        """A mask of booleans, of 0 and 1, or of numbers to add. Those that only hide become selecting masks."""
        array = array.reshape(array.shape[next((i for i, n in enumerate(array.shape) if n > 1), array.ndim - 1) :])
        if np.isin(array, (0, 1)).all() and (array.dtype.kind != "f" or (array == 1).any()):
            return cls(name, array.astype(bool), true_is, convention)
        if array.dtype.kind != "f" and (array > 0).any():
            raise OwnArraysError(
                f"A mask is boolean, of 0 and 1, or of numbers that are added to the scores; {name[:60]!r} mixes them."
            )
        if np.isnan(array).any() or np.isposinf(array).any():
            raise OwnArraysError(f"A float mask may hold finite numbers and -inf; {name[:60]!r} has NaN or inf.")
        if ((array == 0) | (array <= HIDES)).all():
            return cls(name, array == 0, "visible")
        return cls(name, array.astype(np.float64))


@dataclass(frozen=True, eq=False)
class OtherMask:
    """A wrong mask that someone may have applied.

    Attributes
    ----------
    id : str
        The id of the mistake, such as "mask inverted".
    about : str
        The name of the mask, if there are several.
    """

    id: str
    about: str
    value: np.ndarray


@dataclass(frozen=True)
class TakenMeaning:
    """The meaning that was chosen for True in an ambiguous mask.

    Attributes
    ----------
    convention : Convention, optional
        Its meaning in the library that the other names come from.
    """

    name: str
    meaning: Meaning
    convention: Convention | None = None

    @property
    def is_against(self) -> bool:
        """Whether the library means the opposite."""
        return self.convention is not None and self.convention.true_is != self.meaning


@dataclass(frozen=True, eq=False)
class MaskReading:
    """One reading of the user's masks.

    Attributes
    ----------
    value : ndarray
        All masks combined: True is visible, or numbers to add.
    others : tuple of OtherMask
        The masks that a mistake would apply.
    taken : tuple of TakenMeaning
        One for each ambiguous mask.
    inferred : str
        What hides keys beyond the masks: "causal", "zeros" (of the attention), "window" or "window on both sides" (of
        `size` positions); or what is added to scores: "ALiBi" or "ALiBi, causal".
    true_hides : bool
        Whether True hides a key in all masks.
    by_convention : MaskReading, optional
        The reading that follows the libraries' conventions, if this one contradicts them.
    """

    value: np.ndarray
    others: tuple[OtherMask, ...] = ()
    taken: tuple[TakenMeaning, ...] = ()
    inferred: str = ""
    size: int = 0
    true_hides: bool = False
    by_convention: MaskReading | None = None

    def arranged(self, n_queries: int, n_keys: int) -> MaskReading:
        """The reading with an axis of queries in each mask."""
        return self._changed(lambda each: np.broadcast_to(each, np.broadcast_shapes(each.shape, (n_queries, n_keys))))

    def with_more(self, mask: np.ndarray, inferred: str, size: int = 0) -> MaskReading:
        """The reading with another mask on top."""
        more = self._changed(lambda each: _both(each, mask))
        usual = self.by_convention and self.by_convention.with_more(mask, inferred, size)
        return replace(more, inferred=inferred, size=size, by_convention=usual)

    @property
    def unlikelihood(self) -> int:
        """3 if no query sees a key, 2 if one sees none by convention, 1 against a convention, else 0."""
        sees = seen_in(self.value).any(axis=-1)
        if not sees.any():
            return 3
        if self.by_convention:
            return 1
        return 2 * (not sees.all() and any(each.convention for each in self.taken))

    @property
    def tells_queries_apart(self) -> bool:
        """Whether the mask differs between queries."""
        return bool((self.value != self.value[..., :1, :]).any())

    def _changed(self, change: Callable[[np.ndarray], np.ndarray]) -> MaskReading:
        others = tuple(replace(each, value=change(each.value)) for each in self.others)
        usual = self.by_convention and self.by_convention._changed(change)
        return replace(self, value=change(self.value), others=others, by_convention=usual)


def mask_readings(masks: Sequence[OwnMask]) -> tuple[MaskReading, ...]:
    """All readings of the masks, the likeliest first; OwnArraysError if they don't fit each other."""
    ways = [each.meanings for each in masks]
    usual = [meanings[0] for meanings in ways]
    size = len(masks) * _size_of_all(masks)
    many = [*product(*ways)] if math.prod(map(len, ways)) * len(masks) * size <= _MOST_READ else []
    combined = [_together(masks, meanings) for meanings in many or [[each[at] for each in ways] for at in (0, -1)]]
    by_convention = _together(masks, usual)
    combined = [
        replace(each, by_convention=by_convention) if any(taken.is_against for taken in each.taken) else each
        for each in combined
    ]
    return tuple(sorted(combined, key=lambda each: each.unlikelihood))


def others_than(mask: np.ndarray) -> tuple[OtherMask, ...]:
    """The wrong masks that someone may have applied instead of an unambiguous one."""
    inverted = (OtherMask("mask inverted", "", ~mask),) if mask.dtype == bool else ()
    return (*inverted, OtherMask("mask not applied", "", np.ones(mask.shape, dtype=bool)))


def _together(masks: Sequence[OwnMask], meanings: Sequence[Meaning | None]) -> MaskReading:
    read = [~each.value if meaning == "hidden" else each.value for each, meaning in zip(masks, meanings, strict=True)]
    whole, others = reduce(_both, read), []
    is_one_by_one = len(masks) * whole.size <= _MOST_READ
    for at, (mask, value) in enumerate(zip(masks, read, strict=True) if is_one_by_one else ()):
        about = mask.name if len(masks) > 1 else ""
        for other in others_than(value):
            if mask.true_is or other.id != "mask inverted":
                instead = reduce(_both, [*read[:at], other.value, *read[at + 1 :]])
                others.append(replace(other, about=about, value=instead))
    if len(masks) > 1:
        others.append(OtherMask("mask not applied", "", np.ones(whole.shape, dtype=bool)))
    taken = tuple(
        TakenMeaning(each.name, meaning, each.convention)
        for each, meaning in zip(masks, meanings, strict=True)
        if each.is_free
    )
    return MaskReading(whole, tuple(others), taken, true_hides=set(meanings) == {"hidden"})


def _size_of_all(masks: Sequence[OwnMask]) -> int:
    """The size of all masks combined; OwnArraysError if they don't fit each other."""
    shapes = [each.value.shape for each in masks]
    try:
        size = math.prod(np.broadcast_shapes(*shapes))
    except ValueError:
        size = math.inf
    if len(masks) > 1 and size > _MOST_READ:
        raise OwnArraysError(f"The masks of a pass must fit each other; got {' and '.join(map(str, shapes[:8]))}.")
    return size


def _both(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Two masks combined."""
    if a.dtype == b.dtype == bool:
        return a & b
    a, b = (np.where(each, 0.0, -np.inf) if each.dtype == bool else each for each in (a, b))
    return a + b


def seen_in(mask: np.ndarray) -> np.ndarray:
    """Which keys a mask leaves visible."""
    return mask if mask.dtype == bool else mask > HIDES


def inferred(
    reading: MaskReading | None, n_queries: int, n_keys: int, zeros: np.ndarray | None
) -> Iterator[MaskReading]:
    """A reading (or None without masks) extended by what else may hide keys: later keys, or zeros of the attention."""
    before = reading or MaskReading(np.ones((n_queries, n_keys), dtype=bool))
    if n_queries == 1 or before.tells_queries_apart:
        return
    for shift in {max(n_keys - n_queries, 0), 0}:
        causal = np.tri(n_queries, n_keys, shift, dtype=bool)
        more = before.with_more(causal, "causal")
        sees = seen_in(more.value).any(axis=-1, keepdims=True)
        if zeros is None or (zeros | causal | ~sees).all():
            yield more
    if reading is None and zeros is not None and zeros.any():
        yield before.with_more(~zeros, "zeros")


def patterned(reading: MaskReading | None, n_heads: int, n_tokens: int) -> Iterator[MaskReading]:
    """A reading (or None) extended by what models compute themselves: sliding windows, or ALiBi's biases.

    References
    ----------
    Press et al. 2022, "Train Short, Test Long" (ALiBi). Beltagy et al. 2020, "Longformer" (windows).
    """
    before = reading or MaskReading(np.ones((n_tokens, n_tokens), dtype=bool))
    apart = np.subtract.outer(np.arange(n_tokens), np.arange(n_tokens))
    biases = -_slopes(n_heads)[:, None, None] * np.abs(apart)
    yield before.with_more(biases, "ALiBi")
    if before.tells_queries_apart:
        return
    yield before.with_more(np.where(apart >= 0, biases, -np.inf), "ALiBi, causal")
    for size in range(2, min(n_tokens, _MAX_WINDOW)):
        yield before.with_more((apart >= 0) & (apart < size), "window", size)
        yield before.with_more(np.abs(apart) < size, "window on both sides", size)


def _slopes(n_heads: int) -> np.ndarray:
    """ALiBi's slope of each head.

    >>> _slopes(3).tolist()
    [0.0625, 0.00390625, 0.25]
    """
    most = 2 ** int(np.log2(n_heads))
    slopes = 2.0 ** (-8 * np.arange(1, most + 1) / most)
    return slopes if most == n_heads else np.append(slopes, _slopes(2 * most)[: 2 * (n_heads - most) : 2])
