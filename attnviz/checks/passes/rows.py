"""Rows: a few queries' rows of a pass, which rule out most passes at a part of the work."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.checks.passes.nodes import Node, Nodes
from attnviz.checks.read.layouts import stages
from attnviz.checks.read.rounding import Precision, Rounded

ROWS = 8  # how many rows are compared
# Stages whose rows depend on the same query's rows alone, and on all keys
_ROW_BY_ROW = {"scores", "scaled", "capped", "masked", "attention", "heads", "concat", "output", "residual"}
_ROW_BY_ROW |= {"mlp_norm", "hidden", "active", "mlp", "mlp_residual"}


def has_queries(stage: str) -> bool:
    """Whether a stage has one row per query."""
    return stage == "mask" or stages().get(stage, ())[-2:-1] in (("query",), ("token",))


class Rows:
    """The compared rows of a pass, computed on demand; unchanged stages are taken from the pass `before`."""

    def __init__(
        self,
        nodes: Nodes,
        precision: Precision,
        n_tokens: int,
        before: Rows | None = None,
        known: Mapping[Node, Rounded] | None = None,
    ):
        self.nodes, self.precision, self.n_tokens, self._before = nodes, precision, n_tokens, before
        spaced = np.linspace(0, n_tokens - 1, min(n_tokens, ROWS)).astype(int)
        self._queries: np.ndarray = before._queries if before else np.unique(spaced)
        self.changed: set[str] = set()
        for name, node in nodes.items():
            if not before or node is not before.nodes.get(name) or not self.changed.isdisjoint(node.inputs):
                self.changed.add(name)
        self._sampled: dict[str, Rounded] = {}
        known = known or {}
        self.whole: dict[str, Rounded] = {name: known[node] for name, node in nodes.items() if node in known}

    def cut(self, array: np.ndarray) -> np.ndarray:
        """The compared rows of a stage that has one for each query."""
        return array[..., self._queries, :] if array.ndim > 1 and array.shape[-2] == self.n_tokens else array

    def sampled(self, name: str) -> Rounded:
        """The compared rows of a stage; of one that mixes rows, all are computed."""
        if name not in self._sampled:
            node = self.nodes[name]
            if self._before and name not in self.changed:
                self._sampled[name] = self._before.sampled(name)
            elif name in _ROW_BY_ROW and node.is_by_rows and "running_output" not in node.inputs:
                self._sampled[name] = node.evaluate([self.sampled(each) for each in node.inputs], self.precision)
            else:
                whole = self._evaluate_whole(name)
                self._sampled[name] = whole.map(self.cut) if has_queries(name) else whole
        return self._sampled[name]

    def _evaluate_whole(self, name: str) -> Rounded:
        if name not in self.whole:
            node = self.nodes[name]
            self.whole[name] = (
                self._before._evaluate_whole(name)
                if self._before and name not in self.changed
                else node.evaluate([self._evaluate_whole(each) for each in node.inputs], self.precision)
            )
        return self.whole[name]
