"""Nodes: how each stage of a pass is made, so that some can be made otherwise, and all with their rounding."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from attnviz.checks.formats import FLOAT64
from attnviz.checks.rounding import Precision, Rounded, applied
from attnviz.core.operations.operation import Operation
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace


@dataclass(frozen=True, eq=False)
class Node:
    """How a stage is made: of which stages, and by what.

    Attributes
    ----------
    inputs : tuple of str
    make : callable
        The stage, of those that it is made of.
    operation : Operation, optional
        What makes it, if that is one operation as it is.
    """

    inputs: tuple[str, ...]
    make: Callable[[list[Rounded], Precision], Rounded]
    operation: Operation | None = None
    _last: list = field(default_factory=list, repr=False)

    def made(self, given: list[Rounded], precision: Precision) -> Rounded:
        """The stage; that of the last time, if it was made of the same, as mistakes have most stages in common."""
        if self._last:
            before, of, value = self._last
            if (before is precision or before == precision) and all(map(operator.is_, of, given)):
                return value
        value = self.make(given, precision)
        self._last[:] = (precision, list(given), value) if value.value.size <= _MOST_KEPT else ()
        return value

    @classmethod
    def constant(cls, value: Rounded) -> Node:
        """The node of a stage that was given."""
        return cls((), lambda given, precision: value.single if precision.is_single else value)

    @classmethod
    def of(cls, operation: Operation, inputs: tuple[str, ...]) -> Node:
        """The node of an operation."""
        return cls(inputs, partial(applied, operation), operation)

    def with_input(self, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Node:
        """The node with the places, or the size, of one of its inputs changed before it is read."""
        return self._with_read(name, lambda value, precision: value.map(change))

    def with_numbers(self, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Node:
        """The node with other numbers in one of its inputs, which are rounded as it was."""
        return self._with_read(name, lambda value, precision: Rounded(change(value.value), value.error))

    def reading(self, name: str, other: Node) -> Node:
        """The node that reads another constant in place of one of its inputs."""
        return self._with_read(name, lambda value, precision: other.make([], precision))

    def _with_read(self, name: str, read: Callable[[Rounded, Precision], Rounded]) -> Node:
        at = self.inputs.index(name)
        return Node(
            self.inputs,
            lambda given, precision: self.make([*given[:at], read(given[at], precision), *given[at + 1 :]], precision),
        )

    def without_input(self, name: str) -> Node:
        """The node without one of its inputs."""
        return Node(tuple(each for each in self.inputs if each != name), self.make)

    def then(self, change: Callable[[np.ndarray], np.ndarray]) -> Node:
        """The node whose array is changed after it is made."""
        return Node(self.inputs, lambda given, precision: self.made(given, precision).map(change))


Nodes = Mapping[str, Node]

_MOST_KEPT = 2**17
"""So many numbers a node keeps: a search has many nodes, and memory for few large arrays."""

_EXACT = Precision(FLOAT64, is_rough=True)


def nodes_of(trace: Trace, given: Callable[[Stage], Rounded]) -> Nodes:
    """The stages of a pass as nodes.

    Parameters
    ----------
    trace : Trace
    given : callable
        How far each given stage was rounded before it came to us.
    """
    return {
        stage.name: Node.constant(given(stage)) if stage.is_given else Node.of(stage.operation, stage.inputs)
        for stage in trace.stages
    }


def exact_nodes(trace: Trace) -> Nodes:
    """The stages of a pass as nodes, whose numbers were never rounded."""
    return nodes_of(trace, lambda stage: Rounded.unrounded(stage.value))


def needed(nodes: Nodes, wanted: set[str], known: Container[str] = ()) -> set[str]:
    """The wanted stages, and all that these are made of; of known ones neither they nor what they are made of."""
    read = set(wanted)
    for name in reversed(nodes):
        if name in read:
            inputs = nodes[name].inputs
            read.update([each for each in inputs if each not in known] if known else inputs)
    return read


def evaluated(
    nodes: Nodes, precision: Precision, wanted: set[str], before: tuple[Nodes, Mapping[str, Rounded]] | None = None
) -> dict[str, Rounded]:
    """The stages that the wanted ones need, in their order; those that nothing changed, from `before`."""
    read = needed(nodes, wanted)
    old_nodes, old = before or ({}, {})
    values: dict[str, Rounded] = {}
    changed: set[str] = set()
    for name, node in nodes.items():
        if name not in read:
            continue
        if node is old_nodes.get(name) and name in old and changed.isdisjoint(node.inputs):
            values[name] = old[name]
        else:
            values[name] = node.made([values[each] for each in node.inputs], precision)
            changed.add(name)
    return values


def values_of(nodes: Nodes, wanted: set[str]) -> dict[str, np.ndarray]:
    """The arrays of the wanted stages."""
    made = evaluated(nodes, _EXACT, wanted)
    return {name: made[name].value for name in made if name in wanted}


def attention_with(trace: Trace, nodes: Nodes) -> np.ndarray:
    """The attention of a pass some of whose stages are made otherwise."""
    return values_of({**exact_nodes(trace), **nodes}, {"attention"})["attention"]
