"""Activations of the MLP: ReLU, its square, and GELU."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.operations.operation import Derivatives, Index, Lines, Operand, Operation, Recomputed
from attnviz.core.operations.rule import Input, Line, Rule, Slot, Variant
from attnviz.core.terms import rounding_of


@dataclass(frozen=True)
class ReLU(Operation):
    """max(0, x), the usual function between the two matrices of an MLP.

    Parameters
    ----------
    squared : bool
        Whether the result is squared.

    References
    ----------
    Squared: So et al. 2021, "Primer: Searching for Efficient Transformers for Language Modeling".

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import ReLU
    >>> ReLU().compute(np.array([-2.0, 0.5, 3.0]))
    array([0. , 0.5, 3. ])
    >>> ReLU(squared=True).compute(np.array([-2.0, 0.5, 3.0]))
    array([0.  , 0.25, 9.  ])
    """

    squared: bool = False

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (Operand("cell", "relu²" if self.squared else "relu"),)

    def compute(self, x: np.ndarray) -> np.ndarray:
        positive = np.maximum(x, 0)
        return positive * positive if self.squared else positive

    def vjp(self, upstream: np.ndarray, x: np.ndarray) -> Derivatives:
        # the derivative at 0 is taken to be 0, as everywhere
        return (upstream * (2 * np.maximum(x, 0)) if self.squared else np.where(x > 0, upstream, 0),)

    def bound(self, x: Input) -> float:
        return x.bound * x.bound if self.squared else x.bound

    def rule(self, x: Input) -> Rule:
        letters = "q f"
        kept, formula = "stays", r"\max(0, {a:t})"
        if self.squared:
            kept, formula = "is squared", r"\max(0, {a:t})^{2}"
        return Rule.of(
            (x,),
            letters,
            {"a": Slot(0, letters), "result": Slot("", letters)},
            Variant((Line(("a",), f"{{a}} is positive, so it {kept}", "result"),), formula=formula),
            Variant((Line(("a",), "{a} is not positive, so 0", "result"),), formula=formula),
            case=Slot("#silent", letters),
            arrays={"#silent": (x.value <= 0).astype(int)},
        )

    def recomputed(self, index: Index, numbers: Lines) -> Recomputed:
        ((x,),) = numbers
        total = max(x, 0.0) * (max(x, 0.0) if self.squared else 1.0)
        return total, rounding_of(total)

    def latex(self, result: str, x: str) -> str:
        return rf"{result} = \max(0, {x})" + "^{2}" * self.squared

    def numpy(self, result: str, x: str) -> tuple[str, ...]:
        return (f"{result} = np.maximum({x}, 0)", *([f"{result} = {result} * {result}"] * self.squared))


CUBED = 0.044715
SLOPE = (2 / math.pi) ** 0.5
FAR = 40.0
"""Beyond this Φ is 0 or 1 in float64."""

_erf = np.vectorize(math.erf, otypes=[float])  # NumPy has none


@dataclass(frozen=True)
class GELU(Operation):
    """x Φ(x), where Φ is the distribution function of the standard normal distribution.

    Parameters
    ----------
    tanh : bool
        Whether Φ is approximated, as in GPT-2: 1/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x³))).

    References
    ----------
    Hendrycks and Gimpel 2016, "Gaussian Error Linear Units (GELUs)".

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import GELU
    >>> GELU().compute(np.array([-2.0, 0.5, 3.0])).round(4)
    array([-0.0455,  0.3457,  2.996 ])
    >>> GELU(tanh=True).compute(np.array([-2.0, 0.5, 3.0])).round(4)
    array([-0.0454,  0.3457,  2.9964])
    """

    tanh: bool = False

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (Operand("cell", "gelu"),)

    def compute(self, x: np.ndarray) -> np.ndarray:
        return x * self._below(x)

    def vjp(self, upstream: np.ndarray, x: np.ndarray) -> Derivatives:
        near = np.clip(x, -FAR, FAR)  # further out the density is 0, and the squares may overflow
        return (upstream * (self._below(x) + near * self._density(near)),)

    def _below(self, x: np.ndarray) -> np.ndarray:
        """Φ at each number."""
        if not self.tanh:
            return (1 + _erf(x / 2**0.5)) / 2
        with np.errstate(over="ignore"):  # tanh of an infinity is 1
            return (1 + np.tanh(SLOPE * (x + CUBED * x**3))) / 2

    def _density(self, x: np.ndarray) -> np.ndarray:
        if not self.tanh:
            return np.exp(-x * x / 2) / (2 * math.pi) ** 0.5
        slope = SLOPE * (1 + 3 * CUBED * x * x)
        return slope * (1 - np.tanh(SLOPE * (x + CUBED * x**3)) ** 2) / 2

    def rule(self, x: Input) -> Rule:
        slots = {"a": Slot(0, "q f"), "below": Slot("#below", "q f"), "result": Slot("", "q f")}
        line = Line(("a",), "{a} × {below}, the part of a normal distribution below it", "result")
        variant = Variant((line,), formula=r"{a:bt} \cdot {below:bt}")
        return Rule.of((x,), "q f", slots, variant, arrays={"#below": self._below(x.value)})

    def recomputed(self, index: Index, numbers: Lines) -> Recomputed:
        ((x,),) = numbers
        if not self.tanh:
            below = 1 + math.erf(x / math.sqrt(2))
        else:
            near = min(max(x, -FAR), FAR)
            below = 1 + math.tanh(math.sqrt(2 / math.pi) * (near + CUBED * near**3))
        return x * below / 2, rounding_of(x)  # far below 0, the remainder of 1 - 1 has the rounding of 1

    def latex(self, result: str, x: str) -> str:
        inner = rf"\mathrm{{erf}}(\frac{{{x}}}{{\sqrt{{2}}}})"
        if self.tanh:
            inner = rf"\tanh(\sqrt{{\frac{{2}}{{π}}}} \cdot ({x} + {CUBED} \cdot {x}^{{3}}))"
        return rf"{result} = \frac{{{x}}}{{2}} \cdot (1 + {inner})"

    def numpy(self, result: str, x: str) -> tuple[str, ...]:
        if self.tanh:
            return (f"{result} = {x} * ((1 + np.tanh((2 / np.pi) ** 0.5 * ({x} + {CUBED} * {x}**3))) / 2)",)
        return (
            "from math import erf",
            f"{result} = {x} * ((1 + np.vectorize(erf, otypes=[{x}.dtype])({x} / 2**0.5)) / 2)",
        )
