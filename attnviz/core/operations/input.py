"""Input: what an operation needs to know of a stage that it reads."""

from typing import Protocol

import numpy as np

AxesAndShape = tuple[tuple[str, ...], tuple[int, ...]]
"""The names of the axes, and their lengths."""


class Input(Protocol):
    """A stage, as an operation reads it."""

    axes: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def value(self) -> np.ndarray:
        """Its numbers; the rest is known without making them."""

    @property
    def bound(self) -> float:
        """The largest that a number but a hidden key's -inf can be, of either sign; inf where -inf was given or set."""
