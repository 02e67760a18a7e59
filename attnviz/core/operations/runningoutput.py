"""Running output: what a query collects of the values, block after block, before it is divided (see `running`)."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.groups import by_group, of_groups, repeated, repeating
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.operations.running import MOST_IN_EXP, Exponentials, Running, finite, own_factor
from attnviz.core.terms import Terms


@dataclass(frozen=True)
class RunningOutput(Running, Operation):
    """o: the sum of exp(score - m) times the values so far."""

    shared_by: int = 1
    operands = (Operand("cell", after="collected"), Operand("cell", "less"), Operand("column", "×"))

    def compute(self, masked: np.ndarray, largest: np.ndarray, v: np.ndarray) -> np.ndarray:
        v = repeated(v, self.shared_by)
        # of a batch any of the three may be the same for all
        leading = np.broadcast_shapes(masked.shape[:-2], largest.shape[:-2], v.shape[:-2])
        made = np.empty((*leading, *masked.shape[-2:], v.shape[-1]))
        total, before = 0.0, np.array(-np.inf)
        for block in self.blocks(masked.shape[-1]):
            m = finite(largest[..., block.stop - 1 : block.stop])
            with np.errstate(over="ignore"):
                total = total * np.exp(before - m) + np.exp(masked[..., block] - m) @ v[..., block, :]
            made[..., block, :] = total[..., None, :] * own_factor(m, largest[..., block])[..., None]
            before = m
        return made

    def vjp(self, upstream: np.ndarray, masked: np.ndarray, largest: np.ndarray, v: np.ndarray) -> Derivatives:
        values = repeated(v, self.shared_by)
        of_masked, of_values = np.zeros(upstream.shape[:-1]), np.zeros((*upstream.shape[:-3], *values.shape[-2:]))
        for block in self.blocks(masked.shape[-1]):
            m = finite(largest[..., block.stop - 1 : block.stop])
            moved = (upstream[..., block, :] * own_factor(m, largest[..., block])[..., None]).sum(axis=-2)
            exponentials = np.exp(masked[..., : block.stop] - m)
            of_masked[..., : block.stop] += exponentials * (moved @ values[..., : block.stop, :].swapaxes(-1, -2))
            of_values[..., : block.stop, :] += exponentials.swapaxes(-1, -2) @ moved
        of_largest = -(upstream * self.compute(masked, largest, v)).sum(axis=-1)
        return of_masked, of_largest, by_group(of_values, self.shared_by)

    def extent(self, masked: Input, largest: Input, v: Input) -> AxesAndShape:
        return (*masked.axes, v.axes[-1]), (*masked.shape, v.shape[-1])

    def bound(self, masked: Input, largest: Input, v: Input) -> float:
        reach = masked.bound + largest.bound
        return masked.shape[-1] * math.exp(reach) * v.bound if reach < MOST_IN_EXP else math.inf

    def rule(self, masked: Input, largest: Input, v: Input) -> Rule:
        head, group = ("h", "h") if self.shared_by == 1 else ("(g r)", "g")
        slots = {"max": Slot(1, f"{head} q k"), "v": Slot(2, f"{group} i f")}
        lines = (Line(("z", "max", "v"), "exp({z} − {max:b}) × {v}", is_exponential=True),)
        rule = self.rule_of(
            (masked, largest, v),
            f"{head} q k f",
            slots,
            Variant(lines, "the sum of {n}: the keys up to the end of this block"),
            Variant((Line(("z",), "{z}, hidden", "result"),), "no key is visible so far, so it is 0"),
            case=np.isneginf(largest.value).astype(int),
        )
        return rule if self.shared_by == 1 else of_groups(rule, self.shared_by)

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Exponentials(reads)

    def latex(self, result: str, masked: str, largest: str, v: str) -> str:
        total = r"o_b = o_{b-1} e^{m_{b-1} - m_b} + \sum_{j \in b} e^{z_j - m_b} v_j"
        return rf"{result}: \quad {total}, \quad v = {v}"

    def numpy(self, result: str, masked: str, largest: str, v: str) -> tuple[str, ...]:
        return (
            f"values = {repeating(v, self.shared_by)}",
            f"{result} = np.empty((*{masked}.shape, values.shape[-1]), {masked}.dtype)",
            "total, before = 0.0, -np.inf",
            f"for start in range(0, {masked}.shape[-1], {self.block_size}):\n"
            f"    block = slice(start, start + {self.block_size})\n"
            f"    m = {largest}[..., block][..., -1:]\n"
            "    m = np.where(np.isneginf(m), 0, m)  # no key is visible so far\n"
            f"    total = total * np.exp(before - m) + np.exp({masked}[..., block] - m) @ values[..., block, :]\n"
            f"    own = np.where(np.isneginf({largest}[..., block]), 0, {largest}[..., block])\n"
            f"    {result}[..., block, :] = total[..., None, :] * np.exp(m - own)[..., None]  # 1, unless set by hand\n"
            "    before = m",
        )
