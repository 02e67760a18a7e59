"""Rotation: queries and keys turned by their positions (RoPE), which attnviz's own passes don't have.

Su et al. 2021. Of the pairs of dimensions the i-th is turned by position * base^(-2 i / d_k); pairs are neighbours, or,
as in Hugging Face, dimensions that are half of d_k apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from attnviz.analysis.agreement import ROTATED
from attnviz.analysis.formats import FLOAT32
from attnviz.analysis.mistakes import Node, Nodes
from attnviz.analysis.rounding import Precision, Rounded, applied
from attnviz.core.operations.dotproducts import DotProducts

_BASES = (10_000, 500_000, 1_000_000)
"""Those of Llama 2 and most others, of Llama 3, and of Qwen and Mixtral."""


@dataclass(frozen=True)
class Rotation:
    """How queries and keys are turned.

    Attributes
    ----------
    is_in_halves : bool
        Whether dimensions of a pair are half of d_k apart.
    base : int
    """

    is_in_halves: bool
    base: int

    def nodes(self, nodes: Nodes) -> Nodes:
        """The stages of a pass with queries and keys that are turned before they are multiplied."""
        turned = {f"{each}{ROTATED}": Node((each,), partial(self._turned, each)) for each in "qk"}
        scores = Node(tuple(turned), partial(applied, DotProducts()))
        before = list(nodes)[: list(nodes).index("scores")]
        return {each: nodes[each] for each in before} | turned | {**nodes, "scores": scores}

    def _turned(self, which: str, given: list[Rounded], precision: Precision) -> Rounded:
        (rows,) = given
        n, d = rows.value.shape[-2:]
        angles = np.arange(n)[:, None] * self.base ** (-np.arange(0, d, 2) / d)
        cos, sin = (self._of_pairs(each, each) for each in (np.cos(angles), np.sin(angles)))
        value = rows.value * cos + self._partners(rows.value) * sin
        error = np.hypot(rows.error * cos, self._partners(rows.error) * sin)
        if not precision.is_rough:  # angles are in float32 wherever a pass is
            size = np.hypot(rows.value, self._partners(rows.value))
            error = error + (2 * precision.unit + 3 * n * FLOAT32.epsilon) * size
        return Rounded(value, error)

    def _partners(self, rows: np.ndarray) -> np.ndarray:
        """What is added to each dimension, times the sine of its angle."""
        if self.is_in_halves:
            first, second = np.split(rows, 2, axis=-1)
        else:
            first, second = rows[..., ::2], rows[..., 1::2]
        return self._of_pairs(-second, first)

    def _of_pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        if self.is_in_halves:
            return np.concatenate([first, second], axis=-1)
        return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


def rotations(nodes: Nodes, d_k: int) -> Iterator[Rotation]:
    """Those that a pass may have."""
    if "scores" in nodes and set(nodes["scores"].inputs) == {"q", "k"} and d_k % 2 == 0:
        for is_in_halves in (True, False):
            yield from (Rotation(is_in_halves, base) for base in _BASES)
