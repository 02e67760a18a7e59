"""RoPE variants: rotations of queries and keys by their positions, which users' arrays may contain unannounced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from attnviz.checks.passes.nodes import Make, Node, Nodes
from attnviz.checks.read.formats import FLOAT32
from attnviz.checks.read.limits import spend
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.checks.read.table_rotation import OTHER_PAIRS, Positions
from attnviz.core.operations import rotation as operations
from attnviz.core.operations.linear import DotProducts
from attnviz.core.operations.rotation import Pairs

# Rotated parts of d_k: GPT-NeoX, Pythia, GPT-J; GLM, Phi 1.5; Phi 2; Phi 4 mini; DeepSeek
_PARTS = (0.25, 0.5, 0.4, 0.75, 1 / 3)
_FACTORS = (2, 4, 8)
_LLAMA3 = (8, 32)  # divisors in Llama 3.1 and 3.2 of angles below one turn in 8,192 positions
_TRAINED_FOR = 8_192


@dataclass(frozen=True)
class RopeVariant:
    """A rotation of queries and keys by their positions (RoPE, Su et al. 2021) that names may not mention.

    The i-th pair is turned by position * base^(-2 i / n_rotated).
    """

    pairs: Pairs  # "halves" as in Hugging Face, or "neighbours"
    base: float
    n_rotated: int  # how many dimensions, the first ones
    factor: float = 1  # a divisor of positions in texts longer than those of training (Chen et al. 2023)
    is_llama3: bool = False  # whether it divides the slowest angles alone
    positions: Positions | None = None  # of the keys, the last of which are the queries'; by default 0, 1, 2, ...
    n_kept: int = 0  # keys that a cache kept, which are rotated already

    @classmethod
    def like(cls, operation: operations.Rotation, d_k: int) -> RopeVariant:
        return cls(operation.pairs, operation.base, operation.for_length(d_k).n_rotated)

    @property
    def angles(self) -> np.ndarray:
        """The angle of each pair per position."""
        angles = float(self.base) ** (-np.arange(0, self.n_rotated, 2) / self.n_rotated)
        if not self.is_llama3:
            return angles / self.factor
        turns = _TRAINED_FOR * angles / (2 * np.pi)
        kept = np.clip((turns - 1) / (4 - 1), 0, 1)
        return angles * (kept + (1 - kept) / self.factor)

    @property
    def operation(self) -> operations.Rotation | None:
        if self.factor != 1 or self.positions:
            return None
        return operations.Rotation(float(self.base), self.pairs, self.n_rotated)

    def nodes(self, nodes: Nodes) -> dict[str, Node]:
        def rotate(inputs: Sequence[Rounded], precision: Precision) -> Rounded:
            (rows,) = inputs
            n, d = rows.value.shape[-2:]
            cos, sin, partner = _tables(self, n, d)
            partners = rows.value[..., partner]
            value = rows.value * cos + partners * sin
            spend(value.size)
            if precision.is_rough:
                return Rounded(value)
            error = np.hypot(rows.error * cos, rows.error[..., partner] * sin)
            # angles are in float32 wherever a pass is
            furthest = max((n, *map(abs, self.positions or ())))
            angle_error = 2 * precision.unit + 3 * furthest * FLOAT32.epsilon
            return Rounded(value, error + angle_error * np.hypot(rows.value, partners))

        return _with_rotated(nodes, rotate)


def nodes_of_each(rotations: Sequence[RopeVariant], nodes: Nodes) -> dict[str, Node]:
    """The stages of several rotated passes, stacked on a leading axis, without rounding errors."""
    tables: dict[tuple[int, int], list[np.ndarray]] = {}

    def rotate(inputs: Sequence[Rounded], precision: Precision) -> Rounded:
        rows = inputs[0].value
        n, d = rows.shape[-2:]
        if (n, d) not in tables:
            tables[n, d] = [np.stack(each) for each in zip(*(_tables(each, n, d) for each in rotations), strict=True)]
        cos, sin, partner = tables[n, d]
        partners = np.moveaxis(rows[..., partner], -2, 0)
        spend(partners.size)
        return Rounded(rows * cos[:, None].astype(rows.dtype) + partners * sin[:, None].astype(rows.dtype))

    return _with_rotated(nodes, rotate)


@lru_cache(maxsize=4)  # queries and keys are turned alike
def _tables(rotation: RopeVariant, n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cosine and the signed sine of each position and dimension, and the partner of each dimension."""
    n_pairs = rotation.n_rotated // 2
    are_halves = rotation.pairs == "halves"
    first = np.arange(n_pairs) if are_halves else 2 * np.arange(n_pairs)
    second = first + (n_pairs if are_halves else 1)
    positions = np.arange(n) if rotation.positions is None else np.array(rotation.positions[-n:])
    angles = positions[:, None] * rotation.angles
    angles[: max(rotation.n_kept + n - len(rotation.positions or positions), 0)] = 0
    cos, sin, partner = np.ones((n, d)), np.zeros((n, d)), np.arange(d)
    cos[:, first] = cos[:, second] = np.cos(angles)
    sin[:, second] = np.sin(angles)
    sin[:, first] = -sin[:, second]
    partner[first], partner[second] = second, first
    return cos, sin, partner


def _with_rotated(nodes: Nodes, rotate: Make) -> dict[str, Node]:
    rows = (nodes[each].inputs[0] if each.endswith("_rotated") else each for each in nodes["scores"].inputs)
    rotated = {f"{each[0]}_rotated": Node((each,), rotate) for each in rows}  # instead of another rotation
    scores = Node(tuple(rotated), partial(applied, DotProducts()))
    before = [*nodes][: [*nodes].index("scores")]
    return {each: nodes[each] for each in before} | rotated | {**nodes, **rotated, "scores": scores}


def usual_rotations(d_k: int) -> list[RopeVariant]:
    """The most common rotations: of all d_k dimensions, without division."""
    return [RopeVariant(pairs, base, d_k) for pairs in OTHER_PAIRS for base in operations.BASES if d_k % 2 == 0]


def known_rotations(d_k: int) -> Iterator[RopeVariant]:
    """The rotations of known models, the usual ones first."""
    yield from usual_rotations(d_k)
    for pairs in OTHER_PAIRS:
        for n_rotated in _even_parts(d_k, _PARTS):
            yield from (RopeVariant(pairs, base, n_rotated) for base in operations.BASES)
        if d_k % 2 == 0:
            for base in operations.BASES:
                yield from (RopeVariant(pairs, base, d_k, factor) for factor in _FACTORS)
            yield from (RopeVariant(pairs, 500_000, d_k, factor, is_llama3=True) for factor in _LLAMA3)


def rotations_to_fit(d_k: int) -> Iterator[tuple[RopeVariant, Literal["base", "factor"]]]:
    """A rotation of each kind, and whether its base or its factor is to be searched."""
    for n_rotated in _even_parts(d_k, (1, *_PARTS[:2])):
        for pairs in OTHER_PAIRS:
            if n_rotated > 2:
                yield RopeVariant(pairs, operations.BASES[0], n_rotated), "base"
            if n_rotated == d_k:
                yield RopeVariant(pairs, operations.BASES[0], n_rotated), "factor"


def _even_parts(d_k: int, parts: tuple[float, ...]) -> list[int]:
    return [n for n in dict.fromkeys(int(d_k * part) for part in parts) if n and n % 2 == 0]
