"""Masks: which keys a query sees, by name or set cell by cell. True is visible; queries are rows, keys are columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import SettingsError
from attnviz.core.limits import MAX_CHARACTERS


def none(n_queries: int, n_keys: int, size: int) -> np.ndarray:
    """Every query sees every key."""
    return np.ones((n_queries, n_keys), dtype=bool)


def causal(n_queries: int, n_keys: int, size: int) -> np.ndarray:
    """Query i sees the keys 0 to i (Vaswani et al. 2017, section 3.2.3)."""
    return np.tri(n_queries, n_keys, dtype=bool)


def padding(n_queries: int, n_keys: int, size: int) -> np.ndarray:
    """The last `size` keys are hidden from every query."""
    return np.broadcast_to(np.arange(n_keys) < n_keys - size, (n_queries, n_keys)).copy()


def window(n_queries: int, n_keys: int, size: int) -> np.ndarray:
    """Query i sees the keys at most `size` places before or after it (Beltagy et al. 2020)."""
    distance = np.arange(n_keys)[None, :] - np.arange(n_queries)[:, None]
    return np.abs(distance) <= size


def causal_window(n_queries: int, n_keys: int, size: int) -> np.ndarray:
    """Query i sees `size` keys, itself counted: i and those right before it (Jiang et al. 2023, "Mistral 7B")."""
    return np.tri(n_queries, n_keys, dtype=bool) & ~np.tri(n_queries, n_keys, -size, dtype=bool)


MASKS: dict[str, Callable[[int, int, int], np.ndarray]] = {
    "none": none,
    "causal": causal,
    "causal window": causal_window,
    "padding": padding,
    "window": window,
}
"""Masks by name: `(n_queries, n_keys, size)` to booleans (queries, keys)."""

REASONS = {
    "none": "nothing is hidden",
    "causal": "no query sees a later key",
    "padding": "the last {size} keys are fillers",
    "window": "a query sees no key more than {size} places away",
    "causal window": "a query sees {size} keys, itself and those right before it",
}
"""Why each mask hides a key."""

LEAST_WINDOW = 2
"""The fewest keys of a causal window in which a word sees another one; the default."""

SIZED = ("padding", "window", "causal window")
"""The masks that look at `size`."""

WITHOUT_WINDOW = {"causal window": "causal", "window": "none"}
"""The windows, and the mask of a global layer in place of each."""

GLOBAL_LAYERS: dict[str, int | None] = {"every layer": None, "every second layer": 2, "all but every sixth layer": 6}
"""Every n-th layer is global, or none. n is 2 in Gemma 2 and gpt-oss, 6 in Gemma 3."""


def mask_in_layer(mask: str, window_in: str, layer: int) -> str:
    """The name of the mask in a layer, counted from 1.

    >>> [mask_in_layer("causal window", "every second layer", layer) for layer in (1, 2, 3)]
    ['causal window', 'causal', 'causal window']
    """
    every = GLOBAL_LAYERS[window_in]
    return WITHOUT_WINDOW.get(mask, mask) if every and layer % every == 0 else mask


def has_global_layer(mask: str, window_in: str, n_layers: int) -> bool:
    """Whether one of `n_layers` layers lacks the window of the others.

    >>> [has_global_layer("causal window", "all but every sixth layer", n_layers) for n_layers in (5, 6)]
    [False, True]
    """
    return any(mask_in_layer(mask, window_in, layer) != mask for layer in range(1, n_layers + 1))


MAX_CUSTOM_MASK = MAX_CHARACTERS
"""Characters of a custom mask as text."""

CUSTOM_MASK_RECIPE = "painted: 1 is visible, 0 hidden"
"""The source of a custom mask, as its stage states it."""

_NOTHING = "0"
_TEXT = re.compile(r"[01.|]+")
_RULE = (
    "hidden is rows of 0 and 1, 1 where a key is hidden, “.” between rows and “|” between heads, "
    f"in at most {MAX_CUSTOM_MASK:,} characters"
)


@dataclass(frozen=True)
class CustomMask:
    """A mask set cell by cell, which replaces that of the settings or the model."""

    # one for all heads, or one each: for each query a string in which 1 hides a key; missing cells are visible
    heads: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, hidden: np.ndarray) -> CustomMask:
        """The mask of an array (queries, keys) or (heads, queries, keys), True where a key is hidden."""
        each = hidden if hidden.ndim == 3 else hidden[None]
        if (each == each[:1]).all():
            each = each[:1]
        return cls(tuple(_trimmed("".join(map(str, row.astype(int))) for row in head) for head in each))

    @classmethod
    def parse(cls, text: str) -> CustomMask:
        """Read a mask from an address."""
        if len(text) > MAX_CUSTOM_MASK:
            raise SettingsError(f"{_RULE}; got {len(text):,}. Hide fewer keys, or shorten the sentence.")
        if not _TEXT.fullmatch(text):
            raise SettingsError(f"{_RULE}; got {text[:40]!r}.")
        return cls(tuple(_trimmed(head.split(".")) for head in text.split("|")))

    def __str__(self) -> str:
        return "|".join(".".join(rows) or _NOTHING for rows in self.heads)

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> bool:
        """Whether all hidden cells exist in a pass of these sizes."""
        rows = [row for head in self.heads for row in head]
        return (
            len(self.heads) <= n_heads
            and all(len(head) <= n_queries for head in self.heads)
            and all(len(row) <= n_keys for row in rows)
        )

    def hidden(self, n_heads: int, n_queries: int, n_keys: int) -> np.ndarray:
        """Where keys are hidden in a pass: (queries, keys), or (heads, queries, keys) where heads have their own.

        Cells beyond the pass are ignored; cells that are not set are visible.
        """
        painted = np.zeros((len(self.heads), n_queries, n_keys), dtype=bool)
        for head, rows in enumerate(self.heads):
            for query, row in enumerate(rows[:n_queries]):
                bits = row[:n_keys]
                painted[head, query, : len(bits)] = [bit == "1" for bit in bits]
        if len(painted) == 1:
            return painted[0]
        more = np.zeros((max(n_heads - len(painted), 0), n_queries, n_keys), dtype=bool)
        return np.concatenate([painted, more])[:n_heads]


def _trimmed(rows: Iterable[str]) -> tuple[str, ...]:
    """Rows without trailing visible cells, and without trailing rows of only such cells."""
    cut = [row.rstrip("0") for row in rows]
    while cut and not cut[-1]:
        cut.pop()
    return tuple(cut)
