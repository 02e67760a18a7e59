"""Expressions: what a lesson computes of a pass, `scaled[tired, animal] - scaled[tired, was]`, and what it claims.

Cells are named as in `reference`, other figures as in `figures`; between them stands arithmetic as in Python.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

import numpy as np

from attnviz.analysis.sweep import sweep
from attnviz.lessons.figures import figure
from attnviz.lessons.reference import PATTERN, LessonError, Passes, find

Value = float | int | str | bool | np.ndarray

SAME = 1e-12
"""Of the larger of two numbers: no further apart, they are equal."""


EXPRESSION_ERRORS = (ValueError, ArithmeticError, TypeError, AttributeError, LookupError, RecursionError, MemoryError)
"""All that an expression of somebody's own may raise: a LessonError, or what it computes fails."""


def value(text: str, passes: Passes) -> Value:
    """The value of an expression in the passes of a moment.

    Raises
    ------
    LessonError
        If it names what the passes have not, or is no expression.
    """
    cells: dict[str, Value] = {}

    def named(match) -> str:
        reference = find(match[0], passes)
        name = f"cell_{len(cells)}"
        cells[name] = float(reference.cell.value) if reference.is_cell else reference.values
        return name

    try:
        tree = ast.parse(PATTERN.sub(named, text).strip(), mode="eval").body
    except SyntaxError:
        raise LessonError(f"An expression is arithmetic of cells and figures; got {text!r}.") from None
    return _Evaluated(text, passes, cells)(tree)


def is_so(claim: str, passes: Passes) -> bool:
    """Whether a claim, an expression that compares, is true of the passes of a moment."""
    truth = value(claim, passes)
    if not isinstance(truth, bool):
        raise LessonError(f"A claim compares, as in attention[a, b] > 0.5; got {claim!r}.")
    return truth


def is_equal(one: Value, other: Value) -> bool:
    """Whether two values are the same but for rounding."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)


def _rank(of: float, among: np.ndarray) -> int:
    """Which of some numbers one is, the largest first, counted from 1."""
    return int((among > of).sum()) + 1


_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_COMPARISONS: dict[type, Callable[[Value, Value], bool]] = {
    ast.Gt: lambda one, other: bool(one > other) and not math.isclose(one, other, rel_tol=SAME),
    ast.Lt: lambda one, other: bool(one < other) and not math.isclose(one, other, rel_tol=SAME),
    ast.Eq: is_equal,
    ast.NotEq: lambda one, other: not is_equal(one, other),
}


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Shares of some scores."""
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _spread(shares: np.ndarray) -> float:
    """The entropy of a row of shares, as a part of the largest that so many could have."""
    seen = shares[shares > 0]
    return float(-(seen * np.log(seen)).sum() / math.log(len(seen))) if len(seen) > 1 else 0.0


def _back(shares: np.ndarray) -> float:
    """How many places before the last one a row of shares looks, on average."""
    return float((shares * np.arange(len(shares))[::-1]).sum())


def _swept(divisor: str, d_k: int, what: str) -> float:
    """A number of the sweep of d_k: its spread, the expected one, largest or slope."""
    rows = [each for each in sweep()[divisor] if each.d_k == d_k]
    if not rows or what not in ("spread", "expected", "largest", "slope"):
        raise LessonError(f"A sweep has spread, expected, largest or slope of one of its d_k; got {what!r} of {d_k!r}.")
    return getattr(rows[0], what)


_FUNCTIONS = {
    "abs": abs,
    "back": _back,
    "exp": math.exp,
    "log": math.log,
    "max": lambda many: float(np.max(many)),
    "mean": lambda many: float(np.mean(many)),
    "min": lambda many: float(np.min(many)),
    "percent": lambda share: math.floor(100 * share + 0.5),
    "rank": _rank,
    "overlap": lambda one, other: float(np.minimum(one, other).sum()),
    "round": round,
    "softmax": softmax,
    "spread": _spread,
    "sqrt": math.sqrt,
    "sweep": _swept,
    "sum": lambda many: float(np.sum(many)),
}


class _Evaluated:
    """An expression's value, from its tree."""

    def __init__(self, text: str, passes: Passes, cells: dict[str, Value]) -> None:
        self._text, self._passes, self._cells = text, passes, cells

    def __call__(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=constant) if isinstance(constant, int | float | str):
                return constant
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return self._computed(type(op), self(left), self(right))
            case ast.Compare(left=first, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
                values = [self(each) for each in (first, *others)]
                pairs = zip(values, ops, values[1:], strict=False)
                return all(_COMPARISONS[type(op)](one, other) for one, op, other in pairs)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(self, args))
            case ast.Name(id=name) if name in self._cells:
                return self._cells[name]
            case ast.Name() | ast.Attribute():
                return figure(ast.unparse(node), self._passes)
        raise LessonError(f"An expression is arithmetic of cells and figures; got {self._text!r}.")

    def _computed(self, op: type[ast.operator], one: Value, other: Value) -> Value:
        if isinstance(one, str) or isinstance(other, str):
            raise LessonError(f"Numbers are computed with, not texts; got {self._text!r}.")
        return _ARITHMETIC[op](one, other)
