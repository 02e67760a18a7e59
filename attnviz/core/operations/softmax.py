"""Softmax: a row of scores becomes shares that add up to 1, or to less where a sink takes one, too."""

import math
import sys
from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads, added_up
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import Cell, FromRow, Terms


@dataclass(frozen=True)
class Softmax(Operation):
    """exp(score - max) / sum along the keys, or the answers; a query that sees no key gets a row of zeros.

    Without the shift by the row's maximum exp overflows from 710 on. `initial`
    keeps the maximum of a row of -inf finite, as -inf - -inf would be NaN; and
    as the largest exponential of any other row is exp(0) = 1, its sum is at
    least 1, so that `np.maximum` only ever touches a row of zeros.

    A second input is the sink of each head: a score that belongs to no key and takes a share that is dropped, so that
    a row adds up to less than 1 (gpt-oss, OpenAI 2025). A sink of 0 is "softmax plus one" (Miller 2023, "Attention Is
    Off By One").
    """

    operands = (Operand("row", "softmax"), Operand("cell", "sink"))
    in_multihead = True

    def compute(self, masked: np.ndarray, sinks: np.ndarray | None = None) -> np.ndarray:
        _, shares, sums, _ = row_parts(masked, sinks)
        shares /= np.maximum(sums, 1.0)
        return shares

    def vjp(self, upstream: np.ndarray, masked: np.ndarray, sinks: np.ndarray | None = None) -> Derivatives:
        # d a_m / d z_j = a_m (delta_mj - a_j): 0 for a hidden key, and for all keys of a query that sees none
        shares = self.compute(masked, sinks)
        along = (upstream * shares).sum(axis=-1, keepdims=True)
        of_masked = shares * (upstream - along)
        if sinks is None:
            return (of_masked,)
        _, _, sums, of_sinks = row_parts(masked, sinks)
        return of_masked, added_up((-of_sinks / sums * along).sum(axis=(-2, -1)), sinks)

    def extent(self, masked: Input, sinks: Input | None = None) -> AxesAndShape:
        return masked.axes, masked.shape

    def bound(self, masked: Input, sinks: Input | None = None) -> float:
        largest = max(masked.bound, 0.0 if sinks is None else sinks.bound)
        return 1.0 if largest * 2 < math.inf else math.inf  # twice as far may one be from the largest

    def rule(self, masked: Input, sinks: Input | None = None) -> Rule:
        largest, exponentials, sums, sunk = row_parts(masked.value, None if sinks is None else sinks.value)
        unseeing = np.isneginf(masked.value).all(axis=-1)
        row = "h q" if len(masked.shape) == 3 else "q"
        lines: tuple[Line, ...] = (Line(("z",), "exp({z} − {max:b})", "e"),)
        beside = ""
        slots = {
            "z": Slot(0, f"{row} i"),
            "e": Slot("#exp", f"{row} i"),
            "own": Slot(0, f"{row} k"),
            "own_e": Slot("#exp", f"{row} k"),
            "max": Slot("#max", row),
            "sum": Slot("#sum", row),
        }
        arrays = {}
        if sinks is not None:
            slots |= {"sink": Slot(1, "h"), "sink_e": Slot("#sink", row)}
            arrays["#sink"] = sunk[..., 0]
            lines = (*lines, Line(("sink",), "exp({sink} − {max:b}), the sink", "sink_e"))
            beside = " + e^{{sink:t} - {max:bt}}"
        share = r"\frac{e^{{own:t} - {max:bt}}}{{terms}" + beside + "}"
        return Rule.of(
            (masked,) if sinks is None else (masked, sinks),
            f"{row} k",
            slots,
            Variant(lines, "{own_e} ÷ {sum}, the sum of {n}", share, "{e:t}"),
            Variant(lines, "no key is visible, so the share is 0", r"0 \quad\text{(no key is visible)}"),
            case=Slot("#unseeing", row),
            arrays={
                "#max": np.where(unseeing, 0, largest[..., 0]),
                "#exp": exponentials,
                "#sum": sums[..., 0],
                "#unseeing": unseeing.astype(int),
                **arrays,
            },
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        cells = tuple(cell for (cell,) in reads)
        length = sum(cell.stage == cells[0].stage for cell in cells)
        return Share(cells[:length], index[-1], cells[length:])

    def latex(self, result: str, masked: str, sinks: str | None = None) -> str:
        a, z = result[0].lower(), masked[0].lower()
        row, beside = rf"\max_j {z}_{{nj}}", ""
        if sinks is not None:
            row, beside = rf"\max({row}, {sinks})", rf" + \exp({sinks} - c_n)"
        share = rf"{a}_{{nm}} = \frac{{\exp({z}_{{nm}} - c_n)}}{{\sum_j \exp({z}_{{nj}} - c_n){beside}}}"
        return rf"{result} = \mathrm{{softmax}}({masked}): \quad {share}, \quad c_n = {row}"

    def numpy(self, result: str, masked: str, sinks: str | None = None) -> tuple[str, ...]:
        with_sinks = () if sinks is None else (f"largest = np.maximum(largest, {sinks}[..., None, None])",)
        of_sinks = "" if sinks is None else f" + np.exp({sinks}[..., None, None] - largest)"
        return (
            f"lowest = np.finfo({masked}.dtype).min  # finite, as is the largest of any row then",
            f"largest = {masked}.max(axis=-1, keepdims=True, initial=lowest)",
            *with_sinks,
            f"exponentials = np.exp({masked} - largest)",
            f"sums = exponentials.sum(axis=-1, keepdims=True){of_sinks}",
            f"{result} = exponentials / np.maximum(sums, 1)  # at least exp(0) = 1, or 0 where no key is visible",
        )


def row_parts(
    masked: np.ndarray, sinks: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each row's maximum, its exponentials, their sum, and the sink's exponential, 0 without one; a sink counts in all."""
    largest = masked.max(axis=-1, keepdims=True, initial=-sys.float_info.max)
    if sinks is not None:
        largest = np.maximum(largest, sinks[..., None, None])
    with np.errstate(over="ignore"):  # two scores may be further apart than float64 reaches: exp(-inf) is 0
        exponentials = masked - largest
        of_sinks = np.zeros(()) if sinks is None else np.exp(sinks[..., None, None] - largest)
    np.exp(exponentials, out=exponentials)
    sums = exponentials.sum(axis=-1, keepdims=True)
    return largest, exponentials, sums if sinks is None else sums + of_sinks, of_sinks


@dataclass(frozen=True)
class Share(FromRow):
    """The softmax of one row at one place: exp(score - shift) over the sum of all of the row's.

    The shift is the row's largest score, which changes no share and keeps exp
    from overflowing. A row that sees no key has shares of 0.

    Attributes
    ----------
    sink : tuple of Cell
        The sink, a score of no key, if there is one.
    """

    sink: tuple[Cell, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.row + self.sink

    @property
    def shift(self) -> float:
        largest = max(cell.value for cell in self.cells)
        return 0.0 if largest == -math.inf else largest

    @property
    def exponentials(self) -> tuple[float, ...]:
        shift = self.shift
        return tuple(math.exp(cell.value - shift) for cell in self.cells)

    @property
    def divisor(self) -> float:
        return math.fsum(self.exponentials)

    def total(self) -> float:
        exponentials = self.exponentials
        divisor = math.fsum(exponentials)
        return exponentials[self.place] / divisor if divisor else 0.0
