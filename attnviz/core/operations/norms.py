"""RMSNorm and LayerNorm: a row divided by its root mean square, or centred and divided by its standard deviation."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.numerals import digits, tex
from attnviz.core.operations.operation import Derivatives, Index, Lines, Operand, Operation, Recomputed, sum_broadcast
from attnviz.core.operations.rule import Input, Line, Rule, Slot, Variant
from attnviz.core.terms import rounding_of


def check_epsilon(epsilon: float) -> None:
    """Raise ArrayError unless epsilon keeps the root above 0."""
    if not (isinstance(epsilon, int | float) and 0 < epsilon < math.inf):
        raise ArrayError(f"epsilon must be a finite number above 0, as 1e-5 is; got {epsilon!r}.")


@dataclass(frozen=True)
class RMSNorm(Operation):
    """x (mean(x²) + epsilon)^-½ for each row, times a gain if there is one.

    Parameters
    ----------
    epsilon : float
        It keeps a row of zeros finite: it stays a row of zeros.

    Raises
    ------
    ArrayError
        If `epsilon` is not above 0 and finite.

    References
    ----------
    Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", equation 4.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import RMSNorm
    >>> RMSNorm().compute(np.array([[3.0, 4.0], [0.0, 0.0]])).round(2)
    array([[0.85, 1.13],
           [0.  , 0.  ]])
    """

    epsilon: float = 1e-5
    operands = (Operand("row", "rmsnorm"), Operand("cell", "×"))

    def __post_init__(self):
        check_epsilon(self.epsilon)

    def compute(self, x: np.ndarray, gain: np.ndarray | None = None) -> np.ndarray:
        normed = x * self.factor(x)
        return normed if gain is None else normed * gain

    def vjp(self, upstream: np.ndarray, x: np.ndarray, gain: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        # d y_m / d x_j = f (delta_mj - y_m y_j / d): a step along the row itself has no effect
        factor = self.factor(x)
        y = x * factor
        of_y = upstream if gain is None else upstream * gain
        of_x = factor * (of_y - y * (of_y * y).mean(axis=-1, keepdims=True))
        return (of_x,) if gain is None else (of_x, sum_broadcast(upstream * y, gain))

    def factor(self, x: np.ndarray) -> np.ndarray:
        """The factor of each row."""
        means = np.square(x).mean(axis=-1, keepdims=True)
        if not np.isfinite(means).all():
            raise ArrayError(
                "The squares of a row that is normed must add up to a number of float64. Use smaller ones."
            )
        return (means + self.epsilon) ** -0.5

    def rule(self, x: Input, gain: Input | None = None) -> Rule:
        squares = np.square(x.value)
        total, length = squares.sum(axis=-1), x.shape[-1]
        row = "h q" if len(x.shape) == 3 else "q"
        slots = {
            "z": Slot(0, f"{row} i"),
            "square": Slot("#square", f"{row} i"),
            "own": Slot(0, f"{row} f"),
            "squares": Slot("#squares", row),
            "root": Slot("#root", row),
        }
        own, formula = (
            "{own} ÷ {root}",
            rf"\frac{{{{own:t}}}}{{\sqrt{{\frac{{{{terms}}}}{{{length}}} + {tex(self.epsilon)}}}}}",
        )
        lines = [Line(("z",), "{z:b}²", "square")]
        if gain is not None:
            slots["gain"] = Slot(1, "f")
            lines.append(Line(("gain",), "× {gain}, the gain"))
            own, formula = f"{own} × {{gain}}", formula + r" \cdot {gain:bt}"
        return Rule.of(
            (x,) if gain is None else (x, gain),
            f"{row} f",
            slots,
            Variant(
                tuple(lines),
                f"{own}: the squares add up to {{squares}}, and {{root}} is the root of {{squares}} ÷ "
                f"{length} + {digits(self.epsilon)}",
                formula,
                "({z:t})^{2}",
            ),
            arrays={"#square": squares, "#squares": total, "#root": np.sqrt(total / length + self.epsilon)},
        )

    def recomputed(self, index: Index, row: Lines, gain: Lines = ()) -> Recomputed:
        mean = math.fsum(x**2 for (x,) in row) / len(row)
        total = math.prod((row[index[-1]][0] / math.sqrt(mean + self.epsilon), *(x for (x,) in gain)))
        return total, rounding_of(total)

    def latex(self, result: str, x: str, gain: str | None = None) -> str:
        y = rf"y_{{nm}} = \frac{{x_{{nm}}}}{{\sqrt{{\frac{{\sum_j x_{{nj}}^{{2}}}}{{d}} + {tex(self.epsilon)}}}}}"
        y += "" if gain is None else rf" \cdot g_m, \quad g = {gain}"
        return rf"{result} = \mathrm{{RMSNorm}}({x}): \quad {y}"

    def numpy(self, result: str, x: str, gain: str | None = None) -> tuple[str, ...]:
        return (
            f"means = np.square({x}).mean(axis=-1, keepdims=True)",
            f"{result} = {x} * (means + {self.epsilon!r}) ** -0.5" + ("" if gain is None else f" * {gain}"),
        )


@dataclass(frozen=True)
class LayerNorm(Operation):
    """(x - mean(x)) (var(x) + epsilon)^-½ for each row, times a gain, plus a bias.

    It is the RMSNorm of the centred row. The gain and the bias are optional; a bias needs a gain.

    Parameters
    ----------
    epsilon : float
        It keeps a row of equal numbers finite: it becomes a row of zeros.

    Raises
    ------
    ArrayError
        If `epsilon` is not above 0 and finite.

    References
    ----------
    Ba, Kiros and Hinton 2016, "Layer Normalization".

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import LayerNorm
    >>> LayerNorm().compute(np.array([[3.0, 4.0, 8.0], [5.0, 5.0, 5.0]])).round(2)
    array([[-0.93, -0.46,  1.39],
           [ 0.  ,  0.  ,  0.  ]])
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
        gradients = [_centred(of_centred)]  # a step that is equal at all places is removed with the mean
        if gain is not None:
            gradients.append(sum_broadcast(upstream * self._norm.compute(centred), gain))
        if bias is not None:
            gradients.append(sum_broadcast(upstream, bias))
        return tuple(gradients)

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

    def recomputed(self, index: Index, row: Lines, gain: Lines = ((1.0,),), bias: Lines = ((0.0,),)) -> Recomputed:
        mean = math.fsum(x for (x,) in row) / len(row)
        root = math.sqrt(math.fsum((x - mean) ** 2 for (x,) in row) / len(row) + self.epsilon)
        (factor,), (added,) = gain[0], bias[0]
        number = (row[index[-1]][0] - mean) / root
        # the mean may cancel most of each number, and the rest has the rounding of the original numbers
        of_row = rounding_of(*(x for (x,) in row)) / root * (1 + abs(number)) * abs(factor)
        return number * factor + added, of_row + rounding_of(number * factor, added)

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


_AFFINE = (("gain", "× {gain}", "× {gain}", r" \cdot {gain:bt}"), ("bias", "{bias}", "+ {bias:b}", " + {bias:bt}"))
"""Names of gain and bias, and how lines, sentences and LaTeX write them."""


def _centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(axis=-1, keepdims=True)
