"""Adam: how far each parameter moves in a step of training (Kingma and Ba 2015, algorithm 1)."""

import numpy as np

from attnviz.core.graph import Arrays

KEPT_OF_MEAN, KEPT_OF_SQUARE = 0.9, 0.999
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
    """

    def __init__(self, rate: float, last: int):
        self.rate, self.last = rate, last
        self.steps = 0
        self._means: Arrays = {}
        self._squares: Arrays = {}

    def moved(self, parameters: Arrays, slopes: Arrays) -> Arrays:
        """The parameters after one more step."""
        self.steps += 1
        rate = self.rate * min(
            1, self.steps / WARM_UP_STEPS, (self.last + 1 - self.steps) / (self.last * SLOWING_DOWN_SHARE)
        )
        return {name: array - rate * self._direction(name, slopes[name]) for name, array in parameters.items()}

    def _direction(self, name: str, slope: np.ndarray) -> np.ndarray:
        mean = KEPT_OF_MEAN * self._means.get(name, 0) + (1 - KEPT_OF_MEAN) * slope
        square = KEPT_OF_SQUARE * self._squares.get(name, 0) + (1 - KEPT_OF_SQUARE) * slope**2
        self._means[name], self._squares[name] = mean, square
        mean, square = mean / (1 - KEPT_OF_MEAN**self.steps), square / (1 - KEPT_OF_SQUARE**self.steps)
        return mean / (np.sqrt(square) + 1e-8)
