"""Input: what an operation needs to know of a stage that it reads."""

from typing import Protocol

import numpy as np


class Input(Protocol):
    """A stage, as an operation reads it."""

    value: np.ndarray
    axes: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
