"""Input: what an operation needs to know of a stage that it reads."""

from typing import Protocol

import numpy as np

Extent = tuple[tuple[str, int], ...]
"""The name of each axis and its length."""


class Input(Protocol):
    """A stage, as an operation reads it."""

    extent: Extent

    @property
    def value(self) -> np.ndarray:
        """Its numbers; the rest is known without making them."""

    @property
    def largest(self) -> float:
        """What none of its numbers is larger than, whatever its sign; inf where some hide keys."""

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
