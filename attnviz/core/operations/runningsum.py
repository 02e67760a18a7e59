"""Running sum: what a query divides by, summed up block after block of keys (see `running`)."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads, added_up
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.operations.running import MOST_IN_EXP, Exponentials, Running, finite, own_factor
from attnviz.core.terms import Terms

_CARRIED = "or {before} × exp({old} − {max:b}), what the blocks before had, and {block} of this one"


@dataclass(frozen=True)
class RunningSum(Running, Operation):
    """l: the sum of exp(score - m) so far, and of exp(sink - m)."""

    operands = (Operand("row", after="sum so far"), Operand("cell", "less"), Operand("cell", "sink"))

    def compute(self, masked: np.ndarray, largest: np.ndarray, sinks: np.ndarray | None = None) -> np.ndarray:
        # of a batch any of the three may be the same for all
        sunk = () if sinks is None else (sinks[..., None, None].shape,)
        made = np.empty(np.broadcast_shapes(masked.shape, largest.shape, *sunk))
        # the sink is a block before the first, with a sum of exp(sink - sink)
        total = 0.0 if sinks is None else 1.0
        before = np.array(-np.inf) if sinks is None else sinks[..., None, None]
        for block in self.blocks(masked.shape[-1]):
            m = finite(largest[..., block.stop - 1 : block.stop])
            with np.errstate(over="ignore"):
                total = total * np.exp(before - m) + np.exp(masked[..., block] - m).sum(axis=-1, keepdims=True)
            made[..., block], before = total * own_factor(m, largest[..., block]), m
        return made

    def vjp(
        self, upstream: np.ndarray, masked: np.ndarray, largest: np.ndarray, sinks: np.ndarray | None = None
    ) -> Derivatives:
        # l = sum of exp(z - m): d l / d z = exp(z - m), d l / d m = -l
        of_masked, of_sinks = np.zeros_like(upstream), np.zeros_like(upstream[..., :1])
        for block in self.blocks(masked.shape[-1]):
            m = finite(largest[..., block.stop - 1 : block.stop])
            moved = (upstream[..., block] * own_factor(m, largest[..., block])).sum(axis=-1, keepdims=True)
            of_masked[..., : block.stop] += np.exp(masked[..., : block.stop] - m) * moved
            if sinks is not None:
                of_sinks += np.exp(sinks[..., None, None] - m) * moved
        of_largest = -upstream * self.compute(masked, largest, sinks)
        if sinks is None:
            return of_masked, of_largest
        return of_masked, of_largest, added_up(of_sinks.sum(axis=(-2, -1)), sinks)

    def extent(self, masked: Input, largest: Input, sinks: Input | None = None) -> AxesAndShape:
        return masked.axes, masked.shape

    def bound(self, masked: Input, largest: Input, sinks: Input | None = None) -> float:
        reach = max(masked.bound, 0.0 if sinks is None else sinks.bound) + largest.bound
        return (masked.shape[-1] + 1) * math.exp(reach) if reach < MOST_IN_EXP else math.inf

    def rule(self, masked: Input, largest: Input, sinks: Input | None = None) -> Rule:
        inputs = (masked, largest) if sinks is None else (masked, largest, sinks)
        made = self.compute(*(each.value for each in inputs))
        slots = {"max": Slot(1, "h q k")}
        lines: tuple[Line, ...] = (Line(("z", "max"), "exp({z} − {max:b})", is_exponential=True),)
        if sinks is not None:
            slots["sink"] = Slot(2, "h")
            lines = (*lines, Line(("sink", "max"), "exp({sink} − {max:b}), the sink", is_exponential=True))
        old, before, block = self._parts(masked.value, largest.value, made)
        slots |= {name: Slot(f"#{name}", "h q k") for name in ("old", "before", "block")}
        return self.rule_of(
            inputs,
            "h q k",
            slots,
            Variant(lines, "the sum of {n}, " + _CARRIED, r"{before:t} \cdot e^{{old:t} - {max:bt}} + {block:t}"),
            Variant(lines, "the sum of {n}"),
            Variant((Line(("z",), "{z}, hidden", "result"),), "no key is visible so far, so it is 0"),
            case=np.where(np.isneginf(largest.value), 2, np.where(np.isneginf(old), 1, 0)),
            old=np.where(np.isneginf(old), 0, old),
            before=before,
            block=block,
        )

    def _parts(
        self, masked: np.ndarray, largest: np.ndarray, made: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The maximum and the sum before the block of each key, -inf and 0 before the first, and what it adds."""
        old, before, added = np.full(largest.shape, -np.inf), np.zeros(made.shape), np.empty(made.shape)
        for block in self.blocks(largest.shape[-1]):
            if block.start:
                old[..., block] = largest[..., block.start - 1 : block.start]
                before[..., block] = made[..., block.start - 1 : block.start]
            m = finite(largest[..., block.stop - 1 : block.stop])
            added[..., block] = np.exp(masked[..., block] - m).sum(axis=-1, keepdims=True)
        return old, before, added

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Exponentials(reads)

    def latex(self, result: str, masked: str, largest: str, sinks: str | None = None) -> str:
        total = r"l_b = l_{b-1} e^{m_{b-1} - m_b} + \sum_{j \in b} e^{z_j - m_b}"
        return rf"{result}: \quad {total}, \quad l_0 = {int(sinks is not None)}"

    def numpy(self, result: str, masked: str, largest: str, sinks: str | None = None) -> tuple[str, ...]:
        start = "0.0, -np.inf" if sinks is None else f"1.0, {sinks}[..., None, None]"
        return (
            f"{result} = np.empty_like({masked})",
            f"total, before = {start}",
            f"for start in range(0, {masked}.shape[-1], {self.block_size}):\n"
            f"    block = slice(start, start + {self.block_size})\n"
            f"    m = {largest}[..., block][..., -1:]\n"
            "    m = np.where(np.isneginf(m), 0, m)  # no key is visible so far\n"
            f"    total = total * np.exp(before - m) + np.exp({masked}[..., block] - m).sum(axis=-1, keepdims=True)\n"
            f"    own = np.where(np.isneginf({largest}[..., block]), 0, {largest}[..., block])\n"
            f"    {result}[..., block], before = total * np.exp(m - own), m  # own is m, unless set by hand",
        )
