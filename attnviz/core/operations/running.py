"""Online softmax: block after block of keys, with a running maximum, sum and output; no row of shares is needed.

After each block a query keeps the largest score so far, m, the sum of exp(score - m), l, and the sum of these times the
values, o. Where a block brings a larger score, exp(m - m') makes the old l and o what they would have been with it. In
the end o / l is what softmax and weighted sum make at once (Milakov and Gimelshein 2018, "Online normalizer calculation
for softmax"; Dao et al. 2022, "FlashAttention", algorithm 1). A sink is what a row begins with: m = sink, l = 1.

A stage has a number for each key, that after the key's block. Until a query sees a key m is -inf, and l and o are 0.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.operations.input import Input
from attnviz.core.operations.operation import Reads
from attnviz.core.operations.rule import Rule, Slot, Variant
from attnviz.core.terms import Cell, Terms, rounding_of

MOST_IN_EXP = 700.0
"""From 710 on exp overflows."""


@dataclass(frozen=True)
class Running:
    """A running number of each query: as it is after the block of each key.

    Raises
    ------
    ArrayError
        If the block size is no whole number above 0.
    """

    block_size: int

    def __post_init__(self):
        if not isinstance(self.block_size, int) or isinstance(self.block_size, bool) or self.block_size < 1:
            raise ArrayError(f"block_size must be a whole number of keys, as 2 is; got {self.block_size!r}.")

    def blocks(self, n_keys: int) -> Iterator[slice]:
        """The keys of each block; the last may have fewer."""
        return (slice(at, min(at + self.block_size, n_keys)) for at in range(0, n_keys, self.block_size))

    def ends(self, n_keys: int) -> np.ndarray:
        """For each key, the number of keys up to the end of its block."""
        return np.minimum((np.arange(n_keys) // self.block_size + 1) * self.block_size, n_keys)

    def rule_of(
        self, inputs: tuple[Input, ...], result: str, slots: dict[str, Slot], *variants: Variant, **arrays: np.ndarray
    ) -> Rule:
        """The rule of numbers that read all keys up to the end of their block; the array `case` has their variants."""
        head = result.partition(" q")[0]
        return Rule.of(
            inputs,
            result,
            {"z": Slot(0, f"{head} q i"), "result": Slot("", result)} | slots,
            *variants,
            case=Slot("#case", f"{head} q k"),
            until=Slot("#until", "k"),
            arrays={"#until": self.ends(inputs[0].shape[-1])} | {f"#{name}": each for name, each in arrays.items()},
        )


def own_factor(m: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """The factor between a sum at the maximum of a block and at that of each key: 1, unless one is set by hand."""
    with np.errstate(over="ignore"):
        return np.exp(m - finite(largest))


def finite(largest: np.ndarray) -> np.ndarray:
    """A maximum that is subtracted: 0 where no key is visible so far, as -inf - -inf would be NaN."""
    return np.where(np.isneginf(largest), 0, largest)


@dataclass(frozen=True)
class Exponentials(Terms):
    """The sum of exp(a - b) of some numbers, some of them times a third; a single one, -inf, counts 0."""

    lines: Reads

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for line in self.lines for cell in line)

    def total(self) -> float:
        return math.fsum(map(_exponential, self.lines))

    def rounding(self) -> float:
        # a difference is rounded as its numbers are large, and its exponential by so much of itself
        return math.fsum(
            rounding_of(_exponential(line)) * (1 + abs(line[0].value) + abs(line[1].value))
            for line in self.lines
            if len(line) > 1 and math.isfinite(line[0].value)
        )


def _exponential(line: tuple[Cell, ...]) -> float:
    if len(line) == 1:
        return 0.0
    score, largest, *factors = (cell.value for cell in line)
    return math.exp(score - largest) * math.prod(factors)
