"""Nodes: the stages of a pass, which can be changed one by one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from attnviz.checks.read.formats import FLOAT64
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.core.operations.operation import Operation, Source
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

_MOST_CACHED = 2**17  # larger results aren't cached, as a search has many nodes
_EXACT = Precision(FLOAT64, is_rough=True)
Change = Callable[[np.ndarray], np.ndarray]
Make = Callable[[Sequence[Rounded], Precision], Rounded]


@dataclass(frozen=True, eq=False)
class Node:
    """How one stage is computed from others; `operation` if it is a single unmodified one."""

    inputs: tuple[str, ...]
    make: Make
    operation: Operation | None = None
    is_filled: bool = False  # attention with its fully masked rows filled in
    _last: list = field(default_factory=list, repr=False)

    @property
    def is_by_rows(self) -> bool:
        """Whether it can compute some rows alone, if its operation can."""
        return self.operation is not None or self.is_filled

    def evaluate(self, inputs: Sequence[Rounded], precision: Precision) -> Rounded:
        if self._last:
            before, last_inputs, value = self._last
            if (before is precision or before == precision) and all(map(operator.is_, last_inputs, inputs)):
                return value
        value = self.make(inputs, precision)
        self._last[:] = (precision, list(inputs), value) if value.value.size <= _MOST_CACHED else ()
        return value

    @classmethod
    def constant(cls, value: Rounded) -> Node:
        return cls((), lambda inputs, precision: value.single if precision.is_single else value)

    @classmethod
    def of(cls, operation: Operation, inputs: tuple[str, ...]) -> Node:
        return cls(inputs, partial(applied, operation), operation)

    @classmethod
    def identity(cls, inputs: tuple[str, ...]) -> Node:
        return cls(inputs, lambda values, precision: values[0])

    def with_input(self, name: str, change: Change) -> Node:
        """The node with one input permuted or scaled exactly before it is read."""
        return self._reading(name, lambda value, precision: value.map(change))

    def with_numbers(self, name: str, change: Change) -> Node:
        """The node with other numbers in one input, which keeps its rounding error."""
        return self._reading(name, lambda value, precision: Rounded(change(value.value), value.error))

    def with_constant(self, name: str, constant: Node) -> Node:
        return self._reading(name, lambda value, precision: constant.make([], precision))

    def after(self, operation: Operation) -> Node:
        """The node with an operation applied to its first input."""
        return self._reading(self.inputs[0], lambda value, precision: applied(operation, [value], precision))

    def _reading(self, name: str, read: Callable[[Rounded, Precision], Rounded]) -> Node:
        at = self.inputs.index(name)

        def make(inputs: Sequence[Rounded], precision: Precision) -> Rounded:
            return self.make([*inputs[:at], read(inputs[at], precision), *inputs[at + 1 :]], precision)

        return Node(self.inputs, make)

    def without_input(self, name: str) -> Node:
        return Node(tuple(each for each in self.inputs if each != name), self.make)

    def then(self, change: Change) -> Node:
        return Node(self.inputs, lambda inputs, precision: self.evaluate(inputs, precision).map(change))

    def followed_by(self, operation: Operation) -> Node:
        def make(inputs: Sequence[Rounded], precision: Precision) -> Rounded:
            return applied(operation, [self.evaluate(inputs, precision)], precision)

        return Node(self.inputs, make)


Nodes = Mapping[str, Node]


def nodes_of(trace: Trace, read: Callable[[Stage], Rounded] = lambda stage: Rounded(stage.value)) -> dict[str, Node]:
    """The stages of a pass as nodes; `read` returns a given stage with its rounding error, by default none."""
    return {
        stage.name: Node.constant(read(stage))
        if isinstance(stage.operation, Source)
        else Node.of(stage.operation, stage.inputs)
        for stage in trace.stages
    }


def needed(nodes: Nodes, wanted: set[str], known: Container[str] = ()) -> set[str]:
    """The wanted stages and everything they are computed from, up to known stages."""
    read = set(wanted)
    for name in reversed([*nodes]):
        if name in read:
            inputs = nodes[name].inputs
            read.update([each for each in inputs if each not in known] if known else inputs)
    return read


def evaluated(
    nodes: Nodes, precision: Precision, wanted: set[str], before: tuple[Nodes, Mapping[str, Rounded]] | None = None
) -> dict[str, Rounded]:
    """Compute the stages that the wanted ones need; unchanged ones are taken from `before`."""
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
            values[name] = node.evaluate([values[each] for each in node.inputs], precision)
            changed.add(name)
    return values


def values_of(nodes: Nodes, wanted: set[str]) -> dict[str, np.ndarray]:
    """The arrays of the wanted stages."""
    return {name: made.value for name, made in evaluated(nodes, _EXACT, wanted).items() if name in wanted}


FULLY_MASKED = ("zeros", "a uniform row", "no numbers", "the row as if nothing were hidden", "numbers of its own")
"""What a query that sees no key gets: in attnviz, ONNX and PyTorch's scaled_dot_product_attention; in JAX; in PyTorch's
softmax; where -1e9 is added to float64; where two masks are added and one number is no longer as small as the other."""

ANYTHING = 1e9  # an error that allows any number
_MASKED_WEIGHT_ERROR = 1e-6  # relative error of a weight whose score lost all but seven digits to −1e9


def filled(attention: Node, filling: str, unmasked: str) -> Node:
    """Attention with its fully masked rows filled in; `unmasked` is the stage that the mask is applied to."""

    def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
        *inputs, scores = values
        weights = attention.evaluate(inputs, precision)
        rows = np.asarray(np.isneginf(inputs[0].value).all(axis=-1, keepdims=True))
        if filling == FULLY_MASKED[3]:
            other = applied(Softmax(), [scores], precision)
            other = Rounded(other.value, other.error + _MASKED_WEIGHT_ERROR * other.value)
        elif filling == FULLY_MASKED[4]:
            other = Rounded(np.zeros(weights.value.shape), np.full(weights.value.shape, ANYTHING))
        else:
            number = 1 / weights.value.shape[-1] if filling == FULLY_MASKED[1] else np.nan
            other = Rounded(np.full(weights.value.shape, number), weights.error)
        return other.where(rows, weights)

    return Node((*attention.inputs, unmasked), make, is_filled=attention.is_by_rows)
