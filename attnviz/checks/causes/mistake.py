"""Mistake: one thing that went wrong, as other steps of a pass; and the pass in which it is looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from attnviz.checks.agreement import Agreement
from attnviz.checks.layouts import Sizes
from attnviz.checks.masks import OtherMask
from attnviz.checks.nodes import Node, Nodes
from attnviz.checks.rounding import Precision, Rounded, applied
from attnviz.core.operations.operation import Operation
from attnviz.core.trace import Trace


@dataclass(frozen=True)
class Mistake:
    """One thing that went wrong.

    Attributes
    ----------
    id : str
        Such as "unscaled".
    stage : str
        The first stage that it changes.
    about : str
        What it was done to, or by: the parameters, or a number.
    nodes : mapping of stages to Node
        The stages that are made otherwise.
    """

    id: str
    stage: str
    about: str
    nodes: Nodes


@dataclass(frozen=True, eq=False)
class Setting:
    """The pass in which a mistake is looked for.

    Attributes
    ----------
    trace : Trace
    nodes : mapping of stages to Node
        Those of the pass, perhaps with mistakes already: another one is made on top.
    masks : sequence of OtherMask
        What the mask may have been taken for.
    compared : set of stages
        What there is to tell mistakes from each other.
    sizes : mapping of letters to int
        How long each axis is.
    first : Agreement, optional
        The first stage that differs.
    values : mapping of stages to Rounded
        Those that were made.
    """

    trace: Trace
    nodes: Nodes
    masks: Sequence[OtherMask]
    compared: set[str]
    sizes: Sizes
    first: Agreement | None = None
    values: Mapping[str, Rounded] = field(default_factory=dict)

    def makes(self, stage: str) -> bool:
        """Whether the pass makes a stage of others."""
        return stage in self.nodes and bool(self.nodes[stage].inputs)

    def is_as_it_is(self, stage: str) -> bool:
        """Whether no mistake changed what a stage of the pass reads."""
        return self.makes(stage) and self.nodes[stage].inputs == self.trace[stage].inputs

    def operation(self, stage: str) -> Operation | None:
        """The operation that makes a stage; None where it is given, or turned without one."""
        return self.trace[stage].operation if self.makes(stage) and stage in self.trace else None

    def made_of(self, *stages: str) -> Iterator[str]:
        """Those of some stages that the pass makes of others."""
        return (each for each in stages if self.makes(each))


def each_and_all(present: tuple[str, ...], *together: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each alone, and each of the groups as far as it is there, no two alike.

    >>> each_and_all(("q", "v"), ("q", "k", "v"))
    [('q',), ('v',), ('q', 'v')]
    """
    groups = [(each,) for each in present]
    groups += [tuple(each for each in group if each in present) for group in together]
    return [group for group in dict.fromkeys(groups) if group]


def passed_on(given: list[Rounded], precision: Precision) -> Rounded:
    """The first of the stages that are read, as it is."""
    return given[0]


def followed_by(node: Node, operation: Operation) -> Node:
    """A node whose array an operation reads."""
    return Node(node.inputs, lambda given, precision: applied(operation, [node.made(given, precision)], precision))


def after(node: Node, operation: Operation) -> Node:
    """A node that reads what an operation makes of the first of its inputs."""
    return Node(
        node.inputs,
        lambda given, precision: node.make([applied(operation, given[:1], precision), *given[1:]], precision),
    )
