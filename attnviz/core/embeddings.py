"""Embeddings and positions: the vectors that enter attention."""

from collections.abc import Callable, Sequence

import numpy as np

from attnviz.core.streams import stream


def embed(tokens: Sequence[str], d_model: int, seed: int) -> np.ndarray:
    """One vector of N(0, 1) numbers for each token, shape (tokens, d_model).

    A row depends on its word and the seed alone: not on its place, nor on the
    other words; and a smaller `d_model` gives the beginning of the same vector.
    """
    return np.array([stream(f"token {token}", seed).standard_normal(d_model) for token in tokens])


def sinusoidal(n_tokens: int, d_model: int) -> np.ndarray:
    """Position vectors, shape (tokens, d_model).

    PE[p, 2i] = sin(p / 10000^(2i / d_model)) and PE[p, 2i + 1] the cosine of the
    same angle (Vaswani et al. 2017, section 3.5); an odd `d_model` ends on a sine.
    """
    place = np.arange(n_tokens)[:, None]
    feature = np.arange(d_model)[None, :]
    angle = place / 10000.0 ** (2 * (feature // 2) / d_model)
    return np.where(feature % 2 == 0, np.sin(angle), np.cos(angle))


POSITIONS: dict[str, Callable[[int, int], np.ndarray] | None] = {"none": None, "sinusoidal": sinusoidal}
"""Position encodings by name: `(n_tokens, d_model)` to an array (n_tokens, d_model), or None to add nothing."""
