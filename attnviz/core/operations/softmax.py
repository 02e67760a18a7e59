"""From scores to attention weights: softmax, with or without a sink, and plain division by the sum."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.operations.operation import Derivatives, Index, Lines, Operand, Operation, Recomputed, sum_broadcast
from attnviz.core.operations.rule import AxesAndShape, Input, Line, Rule, Slot, Variant
from attnviz.core.terms import exact_sum, rounding_of


@dataclass(frozen=True)
class Softmax(Operation):
    """exp(score - max) / sum along the keys (or answers); a query that sees no key gets a row of zeros.

    Without the shift by the row's maximum exp overflows from 710 on. A second input is the sink of each head: a score
    of no key, whose weight is dropped, so that a row sums to less than 1. A sink of 0 is "softmax plus one".

    References
    ----------
    Sinks: OpenAI 2025, "gpt-oss-120b & gpt-oss-20b Model Card". A sink of 0: Miller 2023, "Attention Is Off By One".

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import Softmax
    >>> rows = np.log([[[1.0, 3.0, 4.0]]]) + [0.0, 0.0, -np.inf]  # the third key is hidden
    >>> Softmax().compute(rows).round(2)
    array([[[0.25, 0.75, 0.  ]]])
    >>> Softmax().compute(rows, np.array([0.0])).round(2)  # with a sink of 0
    array([[[0.2, 0.6, 0. ]]])
    """

    operands = (Operand("row", "softmax"), Operand("cell", "sink"))
    in_multihead = True

    def compute(self, masked: np.ndarray, sinks: np.ndarray | None = None) -> np.ndarray:
        _, exponentials, sums, _ = row_parts(masked, sinks)
        exponentials /= np.maximum(sums, 1.0)
        return exponentials

    def vjp(self, upstream: np.ndarray, masked: np.ndarray, sinks: np.ndarray | None = None) -> Derivatives:
        # d a_m / d z_j = a_m (delta_mj - a_j): 0 for a hidden key, and for all keys of a query that sees none
        weights = self.compute(masked, sinks)
        along = (upstream * weights).sum(axis=-1, keepdims=True)
        of_masked = weights * (upstream - along)
        if sinks is None:
            return (of_masked,)
        _, _, sums, of_sinks = row_parts(masked, sinks)
        return of_masked, sum_broadcast((-of_sinks / sums * along).sum(axis=(-2, -1)), sinks)

    def bound(self, masked: Input, sinks: Input | None = None) -> float:
        return 1.0

    def rule(self, masked: Input, sinks: Input | None = None) -> Rule:
        largest, exponentials, sums, sunk = row_parts(masked.value, None if sinks is None else sinks.value)
        fully_masked = np.isneginf(masked.value).all(axis=-1)
        row = "h q" if len(masked.shape) == 3 else "q"
        lines: tuple[Line, ...] = (Line(("z",), "exp({z} − {max:b})", "e"),)
        sink_term = ""
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
            sink_term = " + e^{{sink:t} - {max:bt}}"
        formula = r"\frac{e^{{own:t} - {max:bt}}}{{terms}" + sink_term + "}"
        return Rule.of(
            (masked,) if sinks is None else (masked, sinks),
            f"{row} k",
            slots,
            Variant(lines, "{own_e} ÷ {sum}, the sum of the terms above", formula, "{e:t}"),
            Variant(lines, "no key is visible, so the share is 0", r"0 \quad\text{(no key is visible)}"),
            case=Slot("#unseeing", row),
            arrays={
                "#max": np.where(fully_masked & (sinks is None), 0, largest[..., 0]),
                "#exp": exponentials,
                "#sum": sums[..., 0],
                "#unseeing": fully_masked.astype(int),
                **arrays,
            },
        )

    def recomputed(self, index: Index, row: Lines, sink: Lines = ()) -> Recomputed:
        return _weight([z for (z,) in (*row, *sink)], index[-1])

    def latex(self, result: str, masked: str, sinks: str | None = None) -> str:
        a, z = result[0].lower(), masked[0].lower()
        row, sink_term = rf"\max_j {z}_{{nj}}", ""
        if sinks is not None:
            row, sink_term = rf"\max({row}, {sinks})", rf" + \exp({sinks} - c_n)"
        weight = rf"{a}_{{nm}} = \frac{{\exp({z}_{{nm}} - c_n)}}{{\sum_j \exp({z}_{{nj}} - c_n){sink_term}}}"
        return rf"{result} = \mathrm{{softmax}}({masked}): \quad {weight}, \quad c_n = {row}"

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
    """Each row's maximum, exponentials and their sum, which count the sink; and the sink's exponential, or 0."""
    largest = masked.max(axis=-1, keepdims=True, initial=-sys.float_info.max)
    if sinks is not None:
        largest = np.maximum(largest, sinks[..., None, None])
    with np.errstate(over="ignore"):  # two scores may be further apart than float64 reaches: exp(-inf) is 0
        exponentials = masked - largest
        of_sinks = np.zeros(()) if sinks is None else np.exp(sinks[..., None, None] - largest)
    np.exp(exponentials, out=exponentials)
    sums = exponentials.sum(axis=-1, keepdims=True)
    return largest, exponentials, sums if sinks is None else sums + of_sinks, of_sinks


def _weight(scores: Sequence[float], place: int) -> Recomputed:
    """The softmax of one score among all of its row."""
    largest = max(scores)
    shift = 0.0 if largest == -math.inf else largest
    exponentials = [math.exp(score - shift) for score in scores]
    divisor = math.fsum(exponentials)
    total = exponentials[place] / divisor if divisor else 0.0
    return total, rounding_of(total)


@dataclass(frozen=True)
class SinkShare(Operation):
    """The weight of the sink: 1 minus the attention weights of the row, so 1 for a query that sees no key.

    The sink has no value, so the weight goes nowhere (gpt-oss, OpenAI 2025, drops it after the softmax).
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
        return -moved * exponentials / sums, sum_broadcast((moved * visible).sum(axis=(-2, -1)), sinks)

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
        lines = (Line(("z",), "exp({z} − {max:b})", "e"), Line(("sink",), "exp({sink} − {max:b}), the sink", "sink_e"))
        formula = r"\frac{e^{{sink:t} - {max:bt}}}{{terms} + e^{{sink:t} - {max:bt}}}"
        of_rows = {"#sink": of_sinks, "#max": largest, "#sum": sums}
        return Rule.of(
            (masked, sinks),
            "h q",
            slots,
            Variant(lines, "{sink_e} ÷ {sum}, the sum of the terms above", formula, "{e:t}"),
            arrays={"#exp": exponentials} | {name: array[..., 0] for name, array in of_rows.items()},
        )

    def recomputed(self, index: Index, row: Lines, sink: Lines) -> Recomputed:
        return _weight([z for (z,) in (*row, *sink)], len(row))

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


@dataclass(frozen=True)
class SumNormalise(Operation):
    """Each score over the sum of its row, which is sometimes taught before softmax, or in its place.

    The rows sum to 1, but a negative score gets a negative weight, adding a constant to all scores changes the weights,
    and a row that sums to 0 has none. A hidden key counts 0; a query that sees no key gets a row of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import Softmax, SumNormalise
    >>> row = np.array([[[1.0, 4.0, -1.0]]])
    >>> SumNormalise().compute(row)
    array([[[ 0.25,  1.  , -0.25]]])
    >>> Softmax().compute(row).round(2)
    array([[[0.05, 0.95, 0.01]]])
    """

    operands = (Operand("row", "÷ row sum"),)

    def compute(self, masked: np.ndarray) -> np.ndarray:
        counted, divisor = self._fraction(masked)
        return counted / divisor

    def vjp(self, upstream: np.ndarray, masked: np.ndarray) -> Derivatives:
        # d a_m / d z_j = (delta_mj - a_m) / sum of z
        counted, divisor = self._fraction(masked)
        moves = (upstream - (upstream * counted / divisor).sum(axis=-1, keepdims=True)) / divisor
        return (np.where(np.isneginf(masked), 0, moves),)

    def _fraction(self, masked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scores, with 0 for hidden keys, and their divisor: the sum of the row, or 1 if no key is visible."""
        hidden = np.isneginf(masked)
        counted = np.where(hidden, 0, masked)
        divisor = np.where(hidden.all(axis=-1, keepdims=True), 1, counted.sum(axis=-1, keepdims=True))
        # the sum is within this of the exact one, which may be 0 where the rounded one is not
        rounding = (np.abs(counted) * np.finfo(float).eps).sum(axis=-1, keepdims=True) * counted.shape[-1]
        if not (np.isfinite(divisor) & (np.abs(divisor) > rounding)).all():
            raise ArrayError(
                "A row divided by its sum must add up to a finite number other than 0, and not to one so near 0 "
                "that it may be what rounding left. Use softmax."
            )
        return counted, divisor

    def bound(self, masked: Input) -> float:
        return math.inf  # a row that adds up to almost 0 is found by looking

    def rule(self, masked: Input) -> Rule:
        counted, divisor = self._fraction(masked.value)
        hidden = np.isneginf(masked.value)
        lines = (Line(("z",), "{z}", "counted"),)
        conclusion = "{own} ÷ {sum:b}, the sum of the terms above" + ", where hidden keys count 0" * bool(hidden.any())
        return Rule.of(
            (masked,),
            "h q k",
            {
                "z": Slot(0, "h q i"),
                "counted": Slot("#counted", "h q i"),
                "own": Slot("#counted", "h q k"),
                "sum": Slot("#sum", "h q"),
            },
            Variant(lines, conclusion, r"\frac{{own:bt}}{{terms}}", "{counted:bt}"),
            Variant(lines, "no key is visible, so the share is 0", r"0 \quad\text{(no key is visible)}"),
            case=Slot("#unseeing", "h q"),
            arrays={"#counted": counted, "#sum": divisor[..., 0], "#unseeing": hidden.all(axis=-1).astype(int)},
        )

    def recomputed(self, index: Index, row: Lines) -> Recomputed:
        counted = [0.0 if z == -math.inf else z for (z,) in row]
        divisor = exact_sum((z,) for z in counted)
        if not divisor:
            return 0.0, 0.0
        total = counted[index[-1]] / divisor
        # numbers of both signs may nearly cancel in the divisor, and the remainder is rounded as they were
        return total, abs(total) * rounding_of(*counted) / abs(divisor)

    def latex(self, result: str, masked: str) -> str:
        return rf"{result}: \quad a_{{nm}} = \frac{{z_{{nm}}}}{{\sum_j z_{{nj}}}}, \quad z = {masked}"

    def numpy(self, result: str, masked: str) -> tuple[str, ...]:
        return (
            f"hidden = np.isneginf({masked})",
            f"counted = np.where(hidden, 0, {masked})",
            "sums = counted.sum(axis=-1, keepdims=True)",
            f"{result} = counted / np.where(hidden.all(axis=-1, keepdims=True), 1, sums)",
        )
