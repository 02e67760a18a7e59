"""Builder: stages being made, one after the other."""

import numpy as np

from attnviz.core.operations.operation import Operation
from attnviz.core.operations.source import Source
from attnviz.core.stage import Stage


class Builder:
    """The stages so far, by name and in order."""

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}

    def give(self, name: str, value: np.ndarray, axes: tuple[str, ...], recipe: str) -> str:
        """Add a stage that comes from nothing. Returns its name."""
        self.stages[name] = Stage(name, value, axes, Source(recipe))
        return name

    def apply(self, name: str, operation: Operation, *inputs: str) -> str:
        """Add the stage that `operation` makes of earlier ones. Returns its name.

        Raises
        ------
        ArrayError
            If a number is too large for float64.
        """
        self.stages[name] = Stage.computed(name, operation, [self.stages[each] for each in inputs])
        return name
