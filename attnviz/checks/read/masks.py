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
from attnviz.core.operations.scores import slopes

HIDES = -9984.0  # this and lower numbers hide a key: many use −1e9, or −1e4, which in bfloat16 is −9984
_MOST_READ = 2**22  # up to so many numbers, several masks are read in all combinations
_EVEN, _NEAR = 2.0**-8, 0.02  # rounding of biases in bfloat16, and of slopes that come from them
_MAX_WINDOW = 64  # larger windows aren't searched


@dataclass(frozen=True, eq=False)
class UserMask:
    """One of the user's masks, without leading axes of length 1; Boolean if it selects, else added to scores.

    `true_is` is the meaning of True, if known, and `convention` the one of the library that other names come from.
    """

    name: str
    value: np.ndarray
    true_is: Meaning | None = None
    convention: Convention | None = None

    @property
    def is_ambiguous(self) -> bool:
        return self.value.dtype == bool and self.true_is is None

    @property
    def meanings(self) -> Sequence[Meaning | None]:
        """The possible meanings of True, the likeliest first."""
        if not self.is_ambiguous:
            return (self.true_is,)
        return MEANINGS[::-1] if self.convention and self.convention.true_is == "hidden" else MEANINGS

    @property
    def contradicts(self) -> str:
        """The library that means the opposite, or ""."""
        return self.convention.library if self.convention and self.convention.true_is != self.true_is else ""

    @classmethod
    def of(cls, name: str, array: np.ndarray, true_is: Meaning | None, convention: Convention | None) -> UserMask:
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
class WrongMask:
    """A mask that someone may have applied by a mistake, such as "mask inverted"; its name, if there are several."""

    id: str
    name: str
    value: np.ndarray


@dataclass(frozen=True, eq=False)
class MaskReading:
    """One reading of the user's masks: all combined, where True is visible, or numbers to add.

    `inferred` is what hides keys beyond the masks: "causal", "zeros" (of the attention), "window" or "window on both
    sides" (of `size` positions); or what is added to scores: "ALiBi" or "ALiBi, causal". `by_convention` is the reading
    that follows the libraries' conventions, if this one contradicts them, or in which queries see themselves, if they
    see only others in this one. `shift` (heads, queries) was added to each row of a bias, which the softmax ignores.
    """

    value: np.ndarray
    wrong: tuple[WrongMask, ...] = ()
    chosen: tuple[UserMask, ...] = ()  # the ambiguous masks, with the meaning that was chosen for True
    inferred: str = ""
    size: int = 0
    true_hides: bool = False  # whether True hides a key in all masks
    by_convention: MaskReading | None = None
    shift: np.ndarray | None = None

    def arranged(self, n_queries: int, n_keys: int) -> MaskReading:
        return self._changed(lambda each: np.broadcast_to(each, np.broadcast_shapes(each.shape, (n_queries, n_keys))))

    def with_mask(self, mask: np.ndarray, inferred: str, size: int = 0) -> MaskReading:
        usual = self.by_convention and self.by_convention.with_mask(mask, inferred, size)
        more = self._changed(lambda each: _both(each, mask))
        return replace(more, inferred=inferred, size=size, by_convention=usual)

    def shifted(self, shift: np.ndarray) -> MaskReading:
        """The reading with a number for each row of its biases."""
        return replace(self, value=self.value + shift[..., None], shift=shift)

    @property
    def unlikelihood(self) -> int:
        """3 if no query sees a key, 2 if one sees none by or against a convention, 1 against a convention, else 0."""
        sees = seen_in(self.value).any(axis=-1)
        if not sees.any():
            return 3
        if not sees.all() and (self.by_convention or any(each.convention for each in self.chosen)):
            return 2
        return int(self.by_convention is not None)

    @property
    def differs_between_queries(self) -> bool:
        return bool((self.value != self.value[..., :1, :]).any())

    def _changed(self, change: Callable[[np.ndarray], np.ndarray]) -> MaskReading:
        wrong = tuple(replace(each, value=change(each.value)) for each in self.wrong)
        usual = self.by_convention and self.by_convention._changed(change)
        return replace(self, value=change(self.value), wrong=wrong, by_convention=usual)


def mask_readings(masks: Sequence[UserMask]) -> tuple[MaskReading, ...]:
    """All readings of the masks, the likeliest first; OwnArraysError if they don't fit each other."""
    shapes = [each.value.shape for each in masks]
    try:
        size: float = math.prod(np.broadcast_shapes(*shapes))
    except ValueError:
        size = math.inf
    if len(masks) > 1 and size > _MOST_READ:
        raise OwnArraysError(f"The masks of a pass must fit each other; got {' and '.join(map(str, shapes[:8]))}.")
    options = [each.meanings for each in masks]
    are_few = math.prod(map(len, options)) * len(masks) ** 2 * size <= _MOST_READ
    ways = [*product(*options)] if are_few else [tuple(each[at] for each in options) for at in (0, -1)]
    combined = {meanings: _combined(masks, meanings) for meanings in ways}
    usual = combined[ways[0]]  # follows all conventions
    readings = []
    for meanings, each in combined.items():
        sensible = combined.get(tuple(map(_sensible, masks, meanings)), each)
        expected = usual if any(mask.contradicts for mask in each.chosen) else sensible
        readings.append(each if expected is each else replace(each, by_convention=expected))
    return tuple(sorted(readings, key=lambda each: each.unlikelihood))


def _sensible(mask: UserMask, meaning: Meaning | None) -> Meaning | None:
    """The other meaning of True if by this one queries see later keys and not themselves, and by the other they do."""
    if not mask.is_ambiguous or mask.value.ndim < 2 or mask.value.shape[-2] < 2:
        return meaning
    visible, apart = mask.value ^ (meaning == "hidden"), distances_back(*mask.value.shape[-2:])
    of_others = (~visible & (apart != 0)).any()
    is_inside_out = not (visible & (apart == 0)).any() and (visible & (apart < 0)).any() and of_others
    return MEANINGS[meaning == "visible"] if is_inside_out else meaning


def wrong_masks(mask: np.ndarray) -> tuple[WrongMask, ...]:
    """The wrong masks that someone may have applied instead of an unambiguous one."""
    inverted = (WrongMask("mask inverted", "", ~mask),) if mask.dtype == bool else ()
    return (*inverted, WrongMask("mask not applied", "", np.ones(mask.shape, dtype=bool)))


def _combined(masks: Sequence[UserMask], meanings: Sequence[Meaning | None]) -> MaskReading:
    pairs = [*zip(masks, meanings, strict=True)]
    visible = [~mask.value if meaning == "hidden" else mask.value for mask, meaning in pairs]
    value, wrong = reduce(_both, visible), []
    for at, mask in enumerate(masks if len(masks) * value.size <= _MOST_READ else ()):
        for each in wrong_masks(visible[at]):
            if mask.true_is or each.id != "mask inverted":
                instead = reduce(_both, [*visible[:at], each.value, *visible[at + 1 :]])
                wrong.append(WrongMask(each.id, mask.name if len(masks) > 1 else "", instead))
    if len(masks) > 1:
        wrong.append(WrongMask("mask not applied", "", np.ones(value.shape, dtype=bool)))
    chosen = (replace(mask, true_is=meaning) for mask, meaning in pairs if mask.is_ambiguous)
    return MaskReading(value, tuple(wrong), tuple(chosen), true_hides=set(meanings) == {"hidden"})


def as_added(mask: np.ndarray) -> np.ndarray:
    """A mask as numbers to add to scores."""
    return np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask


def _both(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a & b if a.dtype == b.dtype == bool else as_added(a) + as_added(b)


def seen_in(mask: np.ndarray) -> np.ndarray:
    """Which keys a mask leaves visible."""
    return mask if mask.dtype == bool else mask > HIDES


@dataclass(frozen=True, eq=False)
class Window:
    """A sliding window: how many positions it reaches back, and which keys are no padding."""

    size: int
    is_both: bool  # whether it reaches forward, too
    keys: np.ndarray


def band(shape: Sequence[int], size: int, is_both: bool = False) -> np.ndarray:
    """The keys less than `size` positions before a query, or on both sides of it."""
    apart = distances_back(*shape[-2:])
    return (np.abs(apart) if is_both else np.where(apart < 0, size, apart)) < size


def window_of(seen: np.ndarray) -> Window | None:
    """The window that a mask of visible keys is; None if it is none, or as long as the text."""
    apart, keys = distances_back(*seen.shape[-2:]), np.asarray(seen.any(axis=-2, keepdims=True))
    near = np.broadcast_to(apart, seen.shape)[seen]
    if not near.size:
        return None
    is_both = bool(near.min() < 0)
    size = int(np.abs(near).max()) + 1
    is_window = np.array_equal(seen, band(seen.shape, size, is_both) & keys)
    is_short = not np.array_equal(seen, band(seen.shape, seen.shape[-1], is_both) & keys)
    return Window(size, is_both, keys) if is_window and is_short else None


def distances_back(n_queries: int, n_keys: int) -> np.ndarray:
    """How many positions each key is before each query, the last ones being of the same token."""
    return np.subtract.outer(np.arange(n_keys - n_queries, n_keys), np.arange(n_keys))


def inferred_masks(
    reading: MaskReading | None, n_queries: int, n_keys: int, zeros: np.ndarray | None
) -> Iterator[MaskReading]:
    """A reading (or None without masks) extended by what else may hide keys: later keys, or zeros of the attention."""
    before = reading or MaskReading(np.ones((n_queries, n_keys), dtype=bool))
    seen = seen_in(before.value)
    if n_queries == 1 or (seen != seen[..., :1, :]).any():
        return
    shift = max(n_keys - n_queries, 0)
    causal = np.tri(n_queries, n_keys, shift, dtype=bool)
    more = before.with_mask(causal, "causal")
    sees = seen_in(more.value).any(axis=-1, keepdims=True)
    # such zeros come from a mistake with a causal mask or along the batch, not from an intended mask
    near = [np.tri(n_queries, n_keys, each, dtype=bool) for each in (shift - 1, shift + 1, 0) if each != shift]
    near.append(np.eye(n_queries, n_keys, dtype=bool))
    is_near = reading is None and zeros is not None and any((zeros == ~each).all() for each in near)
    if zeros is None or is_near or (zeros | causal | ~sees).all():
        yield more
    if reading is None and zeros is not None and zeros.any() and not is_near:
        yield before.with_mask(~zeros, "zeros")


def patterned_masks(reading: MaskReading | None, n_heads: int, n_queries: int, n_keys: int) -> Iterator[MaskReading]:
    """A reading (or None) extended by what models compute themselves.

    ALiBi's biases (Press et al. 2022, "Train Short, Test Long") or sliding windows (Beltagy et al. 2020, "Longformer").
    """
    before = reading or MaskReading(np.ones((n_queries, n_keys), dtype=bool))
    apart = distances_back(n_queries, n_keys)
    is_causal = not before.differs_between_queries
    if before.value.dtype == bool or alibi_slopes(before.value, n_heads) is None:  # don't add ALiBi twice
        biases = -np.array(slopes(n_heads))[:, None, None] * np.abs(apart)
        yield before.with_mask(biases, "ALiBi, causal" if before.inferred else "ALiBi")
        if is_causal:
            yield before.with_mask(np.where(apart >= 0, biases, -np.inf), "ALiBi, causal")
    if not is_causal:
        return
    for size in range(2, min(n_keys, _MAX_WINDOW)):
        yield before.with_mask((apart >= 0) & (apart < size), "window", size)
        yield before.with_mask(np.abs(apart) < size, "window on both sides", size)


def alibi_slopes(mask: np.ndarray, n_heads: int) -> np.ndarray | None:
    """How fast the numbers of an additive mask fall for each head, if evenly; None if they do otherwise."""
    if mask.dtype == bool or mask.shape[0] != n_heads or mask.ndim != 3 or mask.shape[-1] < 2:
        return None
    earlier = distances_back(*mask.shape[-2:])[:, :-1] > 0
    steps = np.diff(np.where(seen_in(mask), mask, 0), axis=-1)
    known = seen_in(mask[..., 1:]) & seen_in(mask[..., :-1]) & (earlier | (mask.shape[-2] == 1))
    if not known.any(axis=(-2, -1)).all():
        return None
    steps = np.where(known, steps, np.nan)
    least, most = np.nanmin(steps, axis=(-2, -1)), np.nanmax(steps, axis=(-2, -1))
    rounding = _EVEN * np.abs(mask[seen_in(mask)]).max()
    return (least + most) / 2 if ((most - least) <= rounding).all() and (least > 0).all() else None


def are_slopes(steepness: np.ndarray | None, n_heads: int) -> bool:
    """Whether these are ALiBi's slopes."""
    return steepness is not None and np.allclose(steepness, slopes(n_heads), rtol=_NEAR)
