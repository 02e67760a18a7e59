"""Sink share: what the sink of a head takes of each row, so that its shares add up to less than 1."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads, added_up
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.operations.softmax import Share, row_parts
from attnviz.core.terms import Terms


@dataclass(frozen=True)
class SinkShare(Operation):
    """exp(sink) / (exp(sink) + the sum of the row's): 1 less the row's shares; all of a row that sees no key.

    It has no value, so nothing is collected for it (gpt-oss, OpenAI 2025, drops it after the softmax).
    """

    operands = (Operand("row", "sink’s share"), Operand("cell", "sink"))

    def compute(self, masked: np.ndarray, sinks: np.ndarray) -> np.ndarray:
        _, _, sums, of_sinks = row_parts(masked, sinks)
        return (of_sinks / sums)[..., 0]

    def vjp(self, upstream: np.ndarray, masked: np.ndarray, sinks: np.ndarray) -> Derivatives:
        # d s / d z_j = -s a_j, and d s / d sink = s (1 - s)
        _, exponentials, sums, of_sinks = row_parts(masked, sinks)
        moved = upstream[..., None] * of_sinks / sums
        visible = exponentials.sum(axis=-1, keepdims=True) / sums
        return -moved * exponentials / sums, added_up((moved * visible).sum(axis=(-2, -1)), sinks)

    def extent(self, masked: Input, sinks: Input) -> AxesAndShape:
        return masked.axes[:-1], masked.shape[:-1]

    def bound(self, masked: Input, sinks: Input) -> float:
        return 1.0

    def rule(self, masked: Input, sinks: Input) -> Rule:
        largest, exponentials, sums, of_sinks = row_parts(masked.value, sinks.value)
        slots = {
            "z": Slot(0, "h q i"),
            "e": Slot("#exp", "h q i"),
            "sink": Slot(1, "h"),
            "sink_e": Slot("#sink", "h q"),
            "max": Slot("#max", "h q"),
            "sum": Slot("#sum", "h q"),
        }
        lines = (
            Line(("z",), "exp({z} − {max:b})", "e"),
            Line(("sink",), "exp({sink} − {max:b}), the sink", "sink_e"),
        )
        share = r"\frac{e^{{sink:t} - {max:bt}}}{{terms} + e^{{sink:t} - {max:bt}}}"
        of_rows = {"#sink": of_sinks, "#max": largest, "#sum": sums}
        return Rule.of(
            (masked, sinks),
            "h q",
            slots,
            Variant(lines, "{sink_e} ÷ {sum}, the sum of {n}", share, "{e:t}"),
            arrays={"#exp": exponentials} | {name: array[..., 0] for name, array in of_rows.items()},
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        *row, sink = (cell for (cell,) in reads)
        return Share(tuple(row), len(row), (sink,))

    def latex(self, result: str, masked: str, sinks: str) -> str:
        t, z = result[0].lower(), masked[0].lower()
        return rf"{result}: \quad {t}_n = \frac{{1}}{{1 + \sum_j \exp({z}_{{nj}} - {sinks})}}, \quad z = {masked}"

    def numpy(self, result: str, masked: str, sinks: str) -> tuple[str, ...]:
        return (
            f"lowest = np.finfo({masked}.dtype).min",
            f"largest = np.maximum({masked}.max(axis=-1, keepdims=True, initial=lowest), {sinks}[..., None, None])",
            f"of_sinks = np.exp({sinks}[..., None, None] - largest)",
            f"sums = np.exp({masked} - largest).sum(axis=-1, keepdims=True) + of_sinks",
            f"{result} = (of_sinks / sums)[..., 0]",
        )
