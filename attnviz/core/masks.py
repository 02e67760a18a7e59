"""Masks: which keys a query sees. True is visible; queries are rows, keys are columns."""

from collections.abc import Callable

import numpy as np


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
"""The fewest keys of a causal window in which a word sees another, so the fewest with which one begins."""

SIZED = ("padding", "window", "causal window")
"""The masks that look at `size`."""

WITHOUT_WINDOW = {"causal window": "causal", "window": "none"}
"""The windows, and what is left of each in a global layer, which sees keys however far away they are."""

GLOBAL_LAYERS: dict[str, int | None] = {
    "every layer": None,
    "every second layer": 2,
    "all but every sixth layer": 6,
}
"""Which layers have a window: all, or all but every n-th. Gemma 2 and gpt-oss have 2 of n, Gemma 3 has 6."""


def mask_in_layer(mask: str, window_in: str, layer: int) -> str:
    """The name of the mask in a layer, counted from 1.

    >>> [mask_in_layer("causal window", "every second layer", layer) for layer in (1, 2, 3)]
    ['causal window', 'causal', 'causal window']
    """
    every = GLOBAL_LAYERS[window_in]
    return WITHOUT_WINDOW.get(mask, mask) if every and layer % every == 0 else mask


def has_global_layer(mask: str, window_in: str, n_layers: int) -> bool:
    """Whether one of so many layers lacks the window of the others.

    >>> [has_global_layer("causal window", "all but every sixth layer", n_layers) for n_layers in (5, 6)]
    [False, True]
    """
    return any(mask_in_layer(mask, window_in, layer) != mask for layer in range(1, n_layers + 1))
