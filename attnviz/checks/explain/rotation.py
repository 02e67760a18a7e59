"""Rotation: queries and keys rotated by their positions (RoPE), which a user's arrays may be without saying so.

Su et al. 2021. Of the pairs of dimensions the i-th is turned by position * base^(-2 i / n), n being how many dimensions
are turned: all d_k, or the first ones, as in GPT-NeoX. Pairs are neighbours, or, as in Hugging Face, dimensions that
are half of n apart. For longer texts than a model was trained on positions are divided (Chen et al. 2023), or, in
Llama 3.1, the slowest angles alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from attnviz.checks.explain.nodes import Node, Nodes
from attnviz.checks.read.budget import spend
from attnviz.checks.read.formats import FLOAT32
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.checks.read.stages import ROTATED
from attnviz.core.operations import rotation as operations
from attnviz.core.operations.linear import DotProducts

# Rotated parts of d_k: GPT-NeoX, Pythia, GPT-J; GLM, Phi 1.5; Phi 2; Phi 4 mini; DeepSeek
_PARTS = (0.25, 0.5, 0.4, 0.75, 1 / 3)
_FACTORS = (2, 4, 8)
_LLAMA3 = (8, 32)  # divisors in Llama 3.1 and 3.2 of angles below one turn in 8,192 positions
_TRAINED_FOR = 8_192


@dataclass(frozen=True)
class Rotation:
    """How queries and keys are rotated.

    Attributes
    ----------
    is_in_halves : bool
        Whether the two dimensions of a pair are half of the rotated ones apart; else they are neighbours.
    n_rotated : int
        How many dimensions are rotated, from the first on.
    factor : float
        What positions are divided by.
    is_llama3 : bool
        Whether only slow angles are divided.
    """

    is_in_halves: bool
    base: float
    n_rotated: int
    factor: float = 1
    is_llama3: bool = False

    @classmethod
    def like(cls, operation: operations.Rotation, d_k: int) -> Rotation:
        """The rotation that an operation of attnviz does."""
        return cls(operation.pairs == "halves", operation.base, operation.of(d_k).dims)

    @property
    def angles(self) -> np.ndarray:
        """The angle of each pair per position."""
        angles = float(self.base) ** (-np.arange(0, self.n_rotated, 2) / self.n_rotated)
        if not self.is_llama3:
            return angles / self.factor
        is_rotation_table = _TRAINED_FOR * angles / (2 * np.pi)
        kept = np.clip((is_rotation_table - 1) / (4 - 1), 0, 1)
        return angles * (kept + (1 - kept) / self.factor)

    @property
    def operation(self) -> operations.Rotation | None:
        """The operation that does this; None if angles are divided."""
        if self.factor != 1:
            return None
        return operations.Rotation(float(self.base), "halves" if self.is_in_halves else "neighbours", self.n_rotated)

    def nodes(self, nodes: Nodes) -> Nodes:
        """The stages of a pass with rotated queries and keys."""
        return _with_turned(nodes, self._turned)

    def _turned(self, given: list[Rounded], precision: Precision) -> Rounded:
        (rows,) = given
        n, d = rows.value.shape[-2:]
        cos, sin = _turns(self, n, d)
        partners = self._partners(rows.value)
        value = rows.value * cos + partners * sin
        spend(value.size)
        if precision.is_rough:
            return Rounded.unrounded(value)
        error = np.hypot(rows.error * cos, self._partners(rows.error) * sin)
        # angles are in float32 wherever a pass is
        error = error + (2 * precision.unit + 3 * n * FLOAT32.epsilon) * np.hypot(rows.value, partners)
        return Rounded(value, error)

    def _partners(self, rows: np.ndarray) -> np.ndarray:
        """The vectors that are added to each dimension, times the sine of its angle."""
        rotated, rest = rows[..., : self.n_rotated], rows[..., self.n_rotated :]
        if self.is_in_halves:
            first, second = np.split(rotated, 2, axis=-1)
        else:
            first, second = rotated[..., ::2], rotated[..., 1::2]
        return np.concatenate([self.of_pairs(-second, first), rest], axis=-1)

    def of_pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        if self.is_in_halves:
            return np.concatenate([first, second], axis=-1)
        return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


def nodes_of_each(rotations: Sequence[Rotation], nodes: Nodes) -> Nodes:
    """The stages of several rotated passes, stacked on a leading axis, without rounding errors."""
    tables: dict[tuple[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def rotated(given: list[Rounded], precision: Precision) -> Rounded:
        rows = given[0].value
        n, d = rows.shape[-2:]
        if (n, d) not in tables:
            tables[n, d] = _tables(rotations, n, d)
        cos, sin, partners = (each.astype(rows.dtype) if each.dtype.kind == "f" else each for each in tables[n, d])
        of_partners = np.moveaxis(rows[..., partners], -2, 0)
        spend(of_partners.size)
        return Rounded.unrounded(rows * cos[:, None] + of_partners * sin[:, None])

    return _with_turned(nodes, rotated)


def _tables(rotations: Sequence[Rotation], n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each rotation its cosines and sines, and the partner of each dimension."""
    is_rotation_table, places = [_turns(each, n, d) for each in rotations], np.arange(1.0, d + 1)
    partners = np.stack([each._partners(places) for each in rotations])
    cos, sin = map(np.stack, zip(*is_rotation_table, strict=True))
    return cos, sin * np.sign(partners)[:, None], np.abs(partners).astype(int) - 1


def _with_turned(nodes: Nodes, rotated: Callable[[list[Rounded], Precision], Rounded]) -> Nodes:
    """The stages of a pass with queries and keys that are turned before they are multiplied."""
    of_both = {f"{each[0]}{ROTATED}": Node((each,), rotated) for each in nodes["scores"].inputs}
    scores = Node(tuple(of_both), partial(applied, DotProducts()))
    before = list(nodes)[: list(nodes).index("scores")]
    return {each: nodes[each] for each in before} | of_both | {**nodes, "scores": scores}


@lru_cache(maxsize=4)  # queries and keys are turned alike
def _turns(rotation: Rotation, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The cosine and the sine for each number of n rows of d."""
    angles = np.arange(n)[:, None] * rotation.angles
    still = np.zeros((n, d - rotation.n_rotated))
    cos, sin = (
        np.concatenate([rotation.of_pairs(each, each), rest], axis=-1)
        for each, rest in ((np.cos(angles), still + 1), (np.sin(angles), still))
    )
    return cos, sin


def may_be_rotated(nodes: Nodes, d_k: int) -> bool:
    """Whether a pass has unrotated queries and keys of even length."""
    return "scores" in nodes and nodes["scores"].inputs in (("q", "k"), ("q_normed", "k_normed")) and d_k > 1


def usual_rotations(d_k: int) -> Iterator[Rotation]:
    """The most common rotations: of all d_k dimensions, without division."""
    for is_in_halves in (True, False) if d_k % 2 == 0 else ():
        yield from (Rotation(is_in_halves, base, d_k) for base in operations.BASES)


def known_rotations(d_k: int) -> Iterator[Rotation]:
    """The rotations of known models, the usual ones first."""
    yield from usual_rotations(d_k)
    for is_in_halves in (True, False):
        for n_rotated in _even_parts(d_k, _PARTS):
            yield from (Rotation(is_in_halves, base, n_rotated) for base in operations.BASES)
        if d_k % 2 == 0:
            yield from (Rotation(is_in_halves, base, d_k, factor) for base in operations.BASES for factor in _FACTORS)
            yield from (Rotation(is_in_halves, 500_000, d_k, factor, is_llama3=True) for factor in _LLAMA3)


def shapes_of_rotations(d_k: int) -> Iterator[tuple[Rotation, Literal["base", "factor"]]]:
    """A rotation of each kind, and whether its base or its factor is to be searched."""
    for n_rotated in _even_parts(d_k, (1, *_PARTS[:2])):
        for is_in_halves in (True, False):
            if n_rotated > 2:
                yield Rotation(is_in_halves, operations.BASES[0], n_rotated), "base"
            if n_rotated == d_k:
                yield Rotation(is_in_halves, operations.BASES[0], n_rotated), "factor"


def _even_parts(d_k: int, parts: tuple[float, ...]) -> list[int]:
    return [n for n in dict.fromkeys(int(d_k * part) for part in parts) if n and n % 2 == 0]
