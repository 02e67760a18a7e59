"""Softcap: no score gets beyond a limit, however far."""

import math
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.numerals import bracketed_tex, digits
from attnviz.core.operations.input import AxesAndShape, Input
from attnviz.core.operations.operation import Derivatives, Index, Operand, Operation, Reads
from attnviz.core.operations.rule import Line, Rule, Slot, Variant
from attnviz.core.terms import FromOne, Terms, rounding_of

LIMITS = (50.0, 30.0)
"""Of Gemma 2, and of Grok 1 and Gemma's answers."""


@dataclass(frozen=True)
class Softcap(Operation):
    """limit · tanh(score / limit) (Gemma 2, Gemma Team 2024, section 2): small scores stay, none gets beyond the limit.

    Raises
    ------
    ArrayError
        If the limit is not above 0 and finite.
    """

    limit: float

    def __post_init__(self):
        if not (isinstance(self.limit, int | float) and 0 < self.limit < math.inf):
            raise ArrayError(f"softcap must be a finite number above 0, as 50 is; got {self.limit!r}.")

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (Operand("cell", after=f"cap ±{self.limit:g}"),)

    def compute(self, scores: np.ndarray) -> np.ndarray:
        return float(self.limit) * self._tanh(scores)

    def vjp(self, upstream: np.ndarray, scores: np.ndarray) -> Derivatives:
        return (upstream * (1 - self._tanh(scores) ** 2),)

    def _tanh(self, scores: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # tanh of an infinity is 1
            return np.tanh(scores / float(self.limit))

    def extent(self, scores: Input) -> AxesAndShape:
        return scores.axes, scores.shape

    def bound(self, scores: Input) -> float:
        return float(self.limit)

    def rule(self, scores: Input) -> Rule:
        slots = {"a": Slot(0, "h q k"), "result": Slot("", "h q k")}
        limit, written = digits(self.limit), bracketed_tex(self.limit)
        line = Line(("a",), f"{limit} × tanh({{a}} ÷ {limit})", "result")
        formula = rf"{written} \cdot \tanh(\frac{{{{a:t}}}}{{{written}}})"
        return Rule.of((scores,), "h q k", slots, Variant((line,), formula=formula))

    def terms(self, index: Index, reads: Reads) -> Terms:
        return Capped(reads[0][0], float(self.limit))

    def latex(self, result: str, scores: str) -> str:
        return rf"{result} = {self.limit:g} \cdot \tanh(\frac{{{scores}}}{{{self.limit:g}}})"

    def numpy(self, result: str, scores: str) -> tuple[str, ...]:
        return (f"{result} = {float(self.limit)!r} * np.tanh({scores} / {float(self.limit)!r})",)


@dataclass(frozen=True)
class Capped(FromOne):
    """A number that nears a limit and never gets beyond."""

    limit: float = 1.0

    def total(self) -> float:
        return self.limit * math.tanh(self.cell.value / self.limit)

    def rounding(self) -> float:
        return rounding_of(self.total(), self.cell.value)
