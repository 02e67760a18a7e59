"""Adam: how far each parameter moves in a step of training (Kingma and Ba 2015, algorithm 1)."""

from typing import Literal

import numpy as np

from attnviz.core.graph import Arrays

Decay = Literal["late", "linear"]

WARM_UP_STEPS = 20  # steps until the full rate: the first means are of few slopes
SLOWING_DOWN_SHARE = 0.25  # of all steps, at the end: late leaps would undo what has been learnt


class Adam:
    """Steps along the mean of the last slopes, over the root of the mean of their squares.

    Parameters
    ----------
    rate : float
        How far a parameter moves whose slopes are always the same, once warm; towards the last step it falls to
        nearly 0.
    last : int
        How many steps there are.
    betas : pair of float
        How much is kept of the mean of the slopes, and of that of their squares, from step to step.
    decay : {"late", "linear"}
        Whether the rate rises in the first 20 steps and falls in the last quarter, or falls from the first step on.
    """

    def __init__(self, rate: float, last: int, betas: tuple[float, float] = (0.9, 0.999), decay: Decay = "late"):
        self.rate, self.last, self.betas, self.decay = rate, last, betas, decay
        self.steps = 0
        self._means: Arrays = {}
        self._squares: Arrays = {}

    def moved(self, parameters: Arrays, slopes: Arrays) -> Arrays:
        """The parameters after one more step."""
        self.steps += 1
        rate = self.rate * self._part()
        return {name: array - rate * self._direction(name, slopes[name]) for name, array in parameters.items()}

    def _part(self) -> float:
        """The part of the full rate that this step has."""
        left = (self.last + 1 - self.steps) / self.last
        return left if self.decay == "linear" else min(1, self.steps / WARM_UP_STEPS, left / SLOWING_DOWN_SHARE)

    def _direction(self, name: str, slope: np.ndarray) -> np.ndarray:
        of_mean, of_square = self.betas
        mean = of_mean * self._means.get(name, 0) + (1 - of_mean) * slope
        square = of_square * self._squares.get(name, 0) + (1 - of_square) * slope**2
        self._means[name], self._squares[name] = mean, square
        mean, square = mean / (1 - of_mean**self.steps), square / (1 - of_square**self.steps)
        return mean / (np.sqrt(square) + 1e-8)
