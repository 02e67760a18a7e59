"""Softmax: a row of scores becomes shares that add up to 1."""

import math
import sys
from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import FromRow, Terms


@dataclass(frozen=True)
class Softmax(Operation):
    """exp(score - max) / sum along the keys, or the answers; a query that sees no key gets a row of zeros.

    Without the shift by the row's maximum exp overflows from 710 on. `initial`
    keeps the maximum of a row of -inf finite, as -inf - -inf would be NaN; and
    as the largest exponential of any other row is exp(0) = 1, its sum is at
    least 1, so that `np.maximum` only ever touches a row of zeros.
    """

    operands = (Operand("row", "softmax"),)
    in_multihead = True

    def compute(self, masked: np.ndarray) -> np.ndarray:
        _, shares, sums = self._parts(masked)
        shares /= np.maximum(sums, 1.0)
        return shares

    def vjp(self, upstream: np.ndarray, masked: np.ndarray) -> Derivatives:
        # d a_m / d z_j = a_m (delta_mj - a_j): 0 for a hidden key, and for all keys of a query that sees none
        shares = self.compute(masked)
        return (shares * (upstream - (upstream * shares).sum(axis=-1, keepdims=True)),)

    def _parts(self, masked: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each row's maximum, its exponentials and their sum."""
        largest = masked.max(axis=-1, keepdims=True, initial=-sys.float_info.max)
        with np.errstate(over="ignore"):  # two scores may be further apart than float64 reaches: exp(-inf) is 0
            exponentials = masked - largest
        np.exp(exponentials, out=exponentials)
        return largest, exponentials, exponentials.sum(axis=-1, keepdims=True)

    def extent(self, masked: Input) -> AxesAndShape:
        return masked.axes, masked.shape

    def bound(self, masked: Input) -> float:
        return 1.0 if masked.bound * 2 < math.inf else math.inf  # twice as far may one be from the largest

    def rule(self, masked: Input) -> Rule:
        largest, exponentials, sums = self._parts(masked.value)
        unseeing = np.isneginf(masked.value).all(axis=-1)
        row = "h q" if len(masked.shape) == 3 else "q"
        lines = (Line(("z",), "exp({z} − {max:b})", "e"),)
        share = r"\frac{e^{{own:t} - {max:bt}}}{{terms}}"
        return Rule.of(
            (masked,),
            f"{row} k",
            {
                "z": Slot(0, f"{row} i"),
                "e": Slot("#exp", f"{row} i"),
                "own": Slot(0, f"{row} k"),
                "own_e": Slot("#exp", f"{row} k"),
                "max": Slot("#max", row),
                "sum": Slot("#sum", row),
            },
            Variant(lines, "{own_e} ÷ {sum}, the sum of {n}", share, "{e:t}"),
            Variant(lines, "no key is visible, so the share is 0", r"0 \quad\text{(no key is visible)}"),
            case=Slot("#unseeing", row),
            arrays={
                "#max": np.where(unseeing, 0, largest[..., 0]),
                "#exp": exponentials,
                "#sum": sums[..., 0],
                "#unseeing": unseeing.astype(int),
            },
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Share(tuple(cell for (cell,) in reads), index[-1])

    def latex(self, result: str, masked: str) -> str:
        a, z = result[0].lower(), masked[0].lower()
        row = rf"c_n = \max_j {z}_{{nj}}"
        share = rf"{a}_{{nm}} = \frac{{\exp({z}_{{nm}} - c_n)}}{{\sum_j \exp({z}_{{nj}} - c_n)}}"
        return rf"{result} = \mathrm{{softmax}}({masked}): \quad {share}, \quad {row}"

    def numpy(self, result: str, masked: str) -> tuple[str, ...]:
        return (
            f"lowest = np.finfo({masked}.dtype).min  # finite, as is the largest of any row then",
            f"largest = {masked}.max(axis=-1, keepdims=True, initial=lowest)",
            f"exponentials = np.exp({masked} - largest)",
            "sums = exponentials.sum(axis=-1, keepdims=True)",
            f"{result} = exponentials / np.maximum(sums, 1)  # at least exp(0) = 1, or 0 where no key is visible",
        )


@dataclass(frozen=True)
class Share(FromRow):
    """The softmax of one row at one place: exp(score - shift) over the sum of all of the row's.

    The shift is the row's largest score, which changes no share and keeps exp
    from overflowing. A row that sees no key has shares of 0.
    """

    @property
    def shift(self) -> float:
        largest = max(cell.value for cell in self.row)
        return 0.0 if largest == -math.inf else largest

    @property
    def exponentials(self) -> tuple[float, ...]:
        shift = self.shift
        return tuple(math.exp(cell.value - shift) for cell in self.row)

    @property
    def divisor(self) -> float:
        return math.fsum(self.exponentials)

    def total(self) -> float:
        exponentials = self.exponentials
        divisor = math.fsum(exponentials)
        return exponentials[self.place] / divisor if divisor else 0.0
