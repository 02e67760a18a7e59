"""LayerNorm: a row less its mean, over the root of its variance, with a gain and a bias."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.numbers import MAX_SQUARED_NUMBER
from attnviz.core.numerals import digits, tex
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads, added_up
from attnviz.core.operations.rmsnorm import RMSNorm, check_epsilon
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import Cell, Terms, rounding_of


@dataclass(frozen=True)
class LayerNorm(Operation):
    """(x - mean(x)) (var(x) + epsilon)^-½ for each row, times a gain, plus a bias (Ba, Kiros and Hinton 2016).

    It is the RMSNorm of what a row has beside its mean. There may be no gain, or a gain and no bias.
    """

    epsilon: float = 1e-5
    operands = (Operand("row", "layernorm"), Operand("cell", "×"), Operand("cell", "+"))

    def __post_init__(self):
        check_epsilon(self.epsilon)

    @property
    def _norm(self) -> RMSNorm:
        return RMSNorm(self.epsilon)

    def compute(self, x: np.ndarray, gain: np.ndarray | None = None, bias: np.ndarray | None = None) -> np.ndarray:
        normed = self._norm.compute(_centred(x))
        if gain is not None:
            normed = normed * gain
        return normed if bias is None else normed + bias

    def vjp(
        self, upstream: np.ndarray, x: np.ndarray, gain: np.ndarray | None = None, bias: np.ndarray | None = None
    ) -> Derivatives:
        centred = _centred(x)
        (of_centred,) = self._norm.vjp(upstream if gain is None else upstream * gain, centred)
        gradients = [_centred(of_centred)]  # as any step along all places alike is taken away with the mean
        if gain is not None:
            gradients.append(added_up(upstream * self._norm.compute(centred), gain))
        if bias is not None:
            gradients.append(added_up(upstream, bias))
        return tuple(gradients)

    def extent(self, x: Input, *affine: Input) -> AxesAndShape:
        return x.axes, x.shape

    def bound(self, x: Input, gain: Input | None = None, bias: Input | None = None) -> float:
        if not x.bound < MAX_SQUARED_NUMBER:
            return math.inf
        return math.sqrt(x.shape[-1]) * (1.0 if gain is None else gain.bound) + (0.0 if bias is None else bias.bound)

    def rule(self, x: Input, *affine: Input) -> Rule:
        squares = np.square(_centred(x.value))
        total, length = squares.sum(axis=-1), x.shape[-1]
        own, formula = "({own} − {mean:b}) ÷ {root}", r"\frac{{own:t} - {mean:bt}}"
        formula += rf"{{\sqrt{{\frac{{{{terms}}}}{{{length}}} + {tex(self.epsilon)}}}}}"
        lines = [Line(("z",), "({z} − {mean:b})²", "square")]
        slots = {"z": Slot(0, "q i"), "own": Slot(0, "q f"), "square": Slot("#square", "q i")}
        slots |= {name: Slot(f"#{name}", "q") for name in ("mean", "squares", "root")}
        for place, (name, line, text, after) in enumerate(_AFFINE[: len(affine)], start=1):
            slots[name] = Slot(place, "f")
            lines.append(Line((name,), f"{line}, the {name}"))
            own, formula = f"{own} {text}", formula + after
        return Rule.of(
            (x, *affine),
            "q f",
            slots,
            Variant(
                tuple(lines),
                f"{own}: the mean is {{mean}}, the squares add up to {{squares}}, and {{root}} is the root of "
                f"{{squares}} ÷ {length} + {digits(self.epsilon)}",
                formula,
                "({z:t} - {mean:bt})^{2}",
            ),
            arrays={
                "#mean": x.value.mean(axis=-1),
                "#square": squares,
                "#squares": total,
                "#root": np.sqrt(total / length + self.epsilon),
            },
        )

    def terms(self, index: Index, reads: Reads) -> Terms:
        cells = tuple(cell for (cell,) in reads)
        length = sum(cell.stage == cells[0].stage for cell in cells)
        return Standardised(cells[:length], cells[length:], index[-1], self.epsilon)

    def latex(self, result: str, x: str, gain: str | None = None, bias: str | None = None) -> str:
        y = rf"\frac{{x_{{nm}} - c_n}}{{\sqrt{{\frac{{\sum_j (x_{{nj}} - c_n)^{{2}}}}{{d}} + {tex(self.epsilon)}}}}}"
        y += ("" if gain is None else r" \cdot g_m") + ("" if bias is None else " + b_m")
        named = ", ".join(f"{letter} = {of}" for letter, of in (("g", gain), ("b", bias)) if of is not None)
        mean = r"c_n = \frac{\sum_j x_{nj}}{d}"
        return rf"{result} = \mathrm{{LayerNorm}}({x}): \quad y_{{nm}} = {y}, \quad {mean}" + (
            rf", \quad {named}" if named else ""
        )

    def numpy(self, result: str, x: str, gain: str | None = None, bias: str | None = None) -> tuple[str, ...]:
        affine = ("" if gain is None else f" * {gain}") + ("" if bias is None else f" + {bias}")
        return (
            f"centred = {x} - {x}.mean(axis=-1, keepdims=True)",
            "variances = np.square(centred).mean(axis=-1, keepdims=True)",
            f"{result} = centred * (variances + {self.epsilon!r}) ** -0.5{affine}",
        )


_AFFINE = (
    ("gain", "× {gain}", "× {gain}", r" \cdot {gain:bt}"),
    ("bias", "{bias}", "+ {bias:b}", " + {bias:bt}"),
)
"""Their names, and how a line, a sentence and LaTeX write them."""


def _centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(axis=-1, keepdims=True)


@dataclass(frozen=True)
class Standardised(Terms):
    """One row's number at one place, less the row's mean, over the root of its variance; times a gain, plus a bias.

    Attributes
    ----------
    row : tuple of Cell
    affine : tuple of Cell
        The gain and the bias, if there are any.
    """

    row: tuple[Cell, ...]
    affine: tuple[Cell, ...]
    place: int
    epsilon: float

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.row + self.affine

    def total(self) -> float:
        number, _, gain, bias = self._parts()
        return number * gain + bias

    def rounding(self) -> float:
        # a mean may cancel most of every number, and what is left is rounded as these were, in the root too
        number, root, gain, bias = self._parts()
        of_row = rounding_of(*(cell.value for cell in self.row))
        return of_row / root * (1 + abs(number)) * abs(gain) + rounding_of(number * gain, bias)

    def _parts(self) -> tuple[float, float, float, float]:
        """The number before gain and bias, the root of the variance, the gain and the bias."""
        row = [cell.value for cell in self.row]
        mean = math.fsum(row) / len(row)
        root = math.sqrt(math.fsum((value - mean) ** 2 for value in row) / len(row) + self.epsilon)
        gain = self.affine[0].value if self.affine else 1.0
        bias = self.affine[1].value if len(self.affine) > 1 else 0.0
        return (row[self.place] - mean) / root, root, gain, bias
