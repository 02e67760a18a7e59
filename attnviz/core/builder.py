"""Builder: stages being made, one after the other."""

from collections.abc import Mapping
from dataclasses import replace

from attnviz.core.layers import layered
from attnviz.core.operations.operation import Operation
from attnviz.core.stage import Stage


class Builder:
    """The stages so far, in order.

    In a layer they are asked for by the names that they would have alone:
    `build["q"]` is the stage q_2 in the second of several layers.
    """

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}
        self._here: dict[str, Stage] = {}
        self._layer = 0

    def __getitem__(self, name: str) -> Stage:
        return self._here[name]

    @property
    def here(self) -> Mapping[str, Stage]:
        """The stages that there are, by the names that they would have alone; those to come will be among them."""
        return self._here

    def begin_layer(self, number: int, x: str) -> None:
        """Number the stages that follow, and have `x` stand for the stage of that full name; 0 follows all layers."""
        shared = {name: stage for name, stage in self._here.items() if name == stage.name}
        self._here, self._layer = {**shared, "x": self.stages[x]}, number

    def give(self, stage: Stage, *, shared: bool = False) -> None:
        """Add a stage that comes from nothing; one that is shared belongs to all layers."""
        name = stage.name
        if not shared and self._layer:
            stage = replace(stage, name=layered(name, self._layer))
        self.stages[stage.name] = self._here[name] = stage

    def apply(self, name: str, operation: Operation, *inputs: Stage) -> Stage:
        """Add the stage that `operation` makes of earlier ones.

        Raises
        ------
        ArrayError
            If a number is too large for float64.
        """
        full_name = layered(name, self._layer) if self._layer else name
        stage = Stage.computed(full_name, operation, inputs)
        self.stages[stage.name] = self._here[name] = stage
        return stage
