"""Nodes: how each stage of a pass is computed, so that single ones can be changed, with rounding errors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from attnviz.checks.read.formats import FLOAT64
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.softmax import Softmax
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace


@dataclass(frozen=True, eq=False)
class Node:
    """How one stage is computed.

    Attributes
    ----------
    inputs : tuple of str
        The stages that it reads.
    make : callable
        Computes it from these.
    operation : Operation, optional
        The operation, if the stage is a single unmodified one.
    """

    inputs: tuple[str, ...]
    make: Callable[[list[Rounded], Precision], Rounded]
    operation: Operation | None = None
    _last: list = field(default_factory=list, repr=False)

    def made(self, given: list[Rounded], precision: Precision) -> Rounded:
        """The stage; the last result if the inputs are unchanged, as mistakes share most stages."""
        if self._last:
            before, of, value = self._last
            if (before is precision or before == precision) and all(map(operator.is_, of, given)):
                return value
        value = self.make(given, precision)
        self._last[:] = (precision, list(given), value) if value.value.size <= _MOST_KEPT else ()
        return value

    @classmethod
    def constant(cls, value: Rounded) -> Node:
        """The node of a given stage."""
        return cls((), lambda given, precision: value.single if precision.is_single else value)

    @classmethod
    def of(cls, operation: Operation, inputs: tuple[str, ...]) -> Node:
        """The node of an operation."""
        return cls(inputs, partial(applied, operation), operation)

    def with_input(self, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Node:
        """The node with one input permuted or scaled exactly before it is read."""
        return self._with_read(name, lambda value, precision: value.map(change))

    def with_numbers(self, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Node:
        """The node with other numbers in one input, which keeps its rounding error."""
        return self._with_read(name, lambda value, precision: Rounded(change(value.value), value.error))

    def reading(self, name: str, other: Node) -> Node:
        """The node with one input replaced by a constant."""
        return self._with_read(name, lambda value, precision: other.make([], precision))

    def _with_read(self, name: str, read: Callable[[Rounded, Precision], Rounded]) -> Node:
        at = self.inputs.index(name)
        return Node(
            self.inputs,
            lambda given, precision: self.make([*given[:at], read(given[at], precision), *given[at + 1 :]], precision),
        )

    def without_input(self, name: str) -> Node:
        return Node(tuple(each for each in self.inputs if each != name), self.make)

    def then(self, change: Callable[[np.ndarray], np.ndarray]) -> Node:
        """The node with its result permuted or scaled exactly."""
        return Node(self.inputs, lambda given, precision: self.made(given, precision).map(change))


Nodes = Mapping[str, Node]

_MOST_KEPT = 2**17  # larger results aren't cached, as a search has many nodes
_EXACT = Precision(FLOAT64, is_rough=True)


def nodes_of(trace: Trace, given: Callable[[Stage], Rounded]) -> Nodes:
    """The stages of a pass as nodes; `given` returns a given stage with its rounding error."""
    return {
        stage.name: Node.constant(given(stage)) if stage.is_given else Node.of(stage.operation, stage.inputs)
        for stage in trace.stages
    }


def exact_nodes(trace: Trace) -> Nodes:
    """The stages of a pass as nodes, without rounding errors in the given ones."""
    return nodes_of(trace, lambda stage: Rounded.unrounded(stage.value))


def needed(nodes: Nodes, wanted: set[str], known: Container[str] = ()) -> set[str]:
    """The wanted stages and everything they are computed from, up to known stages."""
    read = set(wanted)
    for name in reversed(nodes):
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
            values[name] = node.made([values[each] for each in node.inputs], precision)
            changed.add(name)
    return values


def values_of(nodes: Nodes, wanted: set[str]) -> dict[str, np.ndarray]:
    """The arrays of the wanted stages."""
    made = evaluated(nodes, _EXACT, wanted)
    return {name: made[name].value for name in made if name in wanted}


def attention_with(trace: Trace, nodes: Nodes) -> np.ndarray:
    """The attention of a pass after some nodes are replaced."""
    return values_of({**exact_nodes(trace), **nodes}, {"attention"})["attention"]


FULLY_MASKED = ("zeros", "a uniform row", "no numbers", "the row as if nothing were hidden", "numbers of its own")
"""In attnviz, ONNX and PyTorch's scaled_dot_product_attention; in JAX; in PyTorch's softmax; where -1e9 is added to
float64; where two masks are added, one on top of the other, and one number is no longer as small as the other."""

_ANYTHING = 1e9  # an error that allows any number
_BESIDE_A_BILLION = 1e-6  # relative error of a weight whose score lost all but seven digits to −1e9


def filled(attention: Node, nature: str, before: str) -> Node:
    """Attention with its fully masked rows filled in; `before` is the stage that the mask is applied to."""

    def refilled(given: list[Rounded], precision: Precision) -> Rounded:
        *inputs, unhidden = given
        shares = attention.made(inputs, precision)
        fully_masked = np.isneginf(inputs[0].value).all(axis=-1, keepdims=True)
        if nature == FULLY_MASKED[3]:
            other = applied(Softmax(), [unhidden], precision)
            other = Rounded(other.value, other.error + _BESIDE_A_BILLION * other.value)
        elif nature == FULLY_MASKED[4]:
            other = Rounded(np.zeros(shares.value.shape), np.full(shares.value.shape, _ANYTHING))
        else:
            filling = 1 / shares.value.shape[-1] if nature == FULLY_MASKED[1] else np.nan
            other = Rounded(np.full(shares.value.shape, filling), shares.error)
        return Rounded(
            np.where(fully_masked, other.value, shares.value), np.where(fully_masked, other.error, shares.error)
        )

    return Node((*attention.inputs, before), refilled)
