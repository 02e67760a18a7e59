"""Running maximum: the largest score of a query so far, block after block of keys (see `running`)."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads, added_up
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.operations.running import Running
from attnviz.core.terms import Cell, Terms


@dataclass(frozen=True)
class RunningMaximum(Running, Operation):
    """m: the largest score so far, or the sink where none is larger."""

    operands = (Operand("row", after="max so far"), Operand("cell", "sink"))
    hides = True

    def compute(self, masked: np.ndarray, sinks: np.ndarray | None = None) -> np.ndarray:
        largest = np.maximum.accumulate(masked, axis=-1)[..., self.ends(masked.shape[-1]) - 1]
        return largest if sinks is None else np.maximum(largest, sinks[..., None, None])

    def vjp(self, upstream: np.ndarray, masked: np.ndarray, sinks: np.ndarray | None = None) -> Derivatives:
        of_masked, largest = np.zeros_like(upstream), self.compute(masked, sinks)
        of_sinks = np.zeros_like(upstream[..., :1])
        for block in self.blocks(masked.shape[-1]):
            last = slice(block.stop - 1, block.stop)
            moved = upstream[..., block].sum(axis=-1, keepdims=True)
            is_largest = (masked[..., : block.stop] == largest[..., last]) & np.isfinite(largest[..., last])
            first = is_largest & (np.cumsum(is_largest, axis=-1) == 1)
            of_masked[..., : block.stop] += first * moved
            of_sinks += ~is_largest.any(axis=-1, keepdims=True) * moved
        return (of_masked,) if sinks is None else (of_masked, added_up(of_sinks.sum(axis=(-2, -1)), sinks))

    def extent(self, masked: Input, sinks: Input | None = None) -> AxesAndShape:
        return masked.axes, masked.shape

    def bound(self, masked: Input, sinks: Input | None = None) -> float:
        return masked.bound if sinks is None else max(masked.bound, sinks.bound)

    def rule(self, masked: Input, sinks: Input | None = None) -> Rule:
        inputs = (masked,) if sinks is None else (masked, sinks)
        slots, lines = {}, [Line(("z",), "{z}")]
        if sinks is not None:
            slots["sink"] = Slot(1, "h")
            lines.append(Line(("sink",), "{sink}, the sink"))
        largest = self.compute(*(each.value for each in inputs))
        return self.rule_of(
            inputs,
            "h q k",
            slots,
            Variant(
                tuple(lines),
                "the largest of {n}: the keys up to the end of this block" + _WITH_SINK * (sinks is not None),
            ),
            Variant(tuple(lines), "no key is visible so far, so it is −∞"),
            case=np.isneginf(largest).astype(int),
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Largest(tuple(cell for (cell,) in reads))

    def latex(self, result: str, masked: str, sinks: str | None = None) -> str:
        first = r"-\infty" if sinks is None else sinks
        return rf"{result}: \quad m_b = \max(m_{{b-1}}, \max_{{j \in b}} z_j), \quad m_0 = {first}, \quad z = {masked}"

    def numpy(self, result: str, masked: str, sinks: str | None = None) -> tuple[str, ...]:
        with_sinks = () if sinks is None else (f"{result} = np.maximum({result}, {sinks}[..., None, None])",)
        return (
            *_ends(self.block_size, masked),
            f"{result} = np.maximum.accumulate({masked}, axis=-1)[..., ends - 1]",
            *with_sinks,
        )


_WITH_SINK = " and the sink"


def _ends(block_size: int, masked: str) -> tuple[str, str]:
    """`Running.ends` in NumPy."""
    return (
        f"n_keys = {masked}.shape[-1]",
        f"ends = np.minimum((np.arange(n_keys) // {block_size} + 1) * {block_size}, n_keys)",
    )


@dataclass(frozen=True)
class Largest(Terms):
    """The largest of some numbers."""

    row: tuple[Cell, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.row

    def total(self) -> float:
        return max(cell.value for cell in self.row)
