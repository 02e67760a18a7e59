"""Shared nodes: the stages of several passes as nodes, of which each is made a single time, whichever pass it is of."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from attnviz.checks.arrays import OwnArrays
from attnviz.checks.batches import made
from attnviz.checks.candidates import Candidate
from attnviz.checks.nodes import Node, Nodes, nodes_of
from attnviz.checks.rounding import Precision, Rounded
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace


@dataclass(frozen=True, eq=False)
class SharedNodes:
    """The stages of passes, before any of them is turned or mistaken, in one precision.

    Attributes
    ----------
    own : mapping of stages to OwnArray
    precision : Precision
    """

    own: OwnArrays
    precision: Precision
    _of_traces: dict[Trace, Nodes] = field(default_factory=dict, repr=False)
    _known: dict[Hashable, Node] = field(default_factory=dict, repr=False)

    def of(self, candidate: Candidate) -> Nodes:
        """Those of a pass; those that it has in common with others are the same nodes, unless it is large."""
        if candidate.is_large:
            return nodes_of(candidate.trace, self.given)
        if candidate.trace not in self._of_traces:
            nodes, read = {}, candidate.reading.arrays if candidate.reading else {}
            for name, node in nodes_of(candidate.trace, self.given).items():
                inputs = tuple(id(nodes[each]) for each in node.inputs)
                own = node.operation or id(read.get(name, candidate.trace))
                nodes[name] = self._known.setdefault((name, own, inputs), node)
            self._of_traces[candidate.trace] = nodes
        return self._of_traces[candidate.trace]

    def given(self, stage: Stage) -> Rounded:
        """A stage that was given, with what it may have lost when it was written."""
        made(stage.size)
        own, fewest = self.own.get(stage.name), self.precision.digits
        digits = own.digits if own and fewest and own.digits and own.digits.n >= fewest.n else None
        return Rounded.given(stage.value, self.precision, digits)
