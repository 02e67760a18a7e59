"""Slots: in a lesson's text `{scaled[tired, animal]}` becomes that number of the pass; expressions too."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from attnviz.analysis.sweep import sweep
from attnviz.contract.lesson import LessonRuns, NumberLink
from attnviz.core.numerals import digits, short
from attnviz.explain.styled_text import runs
from attnviz.explain.wording import percent
from attnviz.lessons.cell_reference import PATTERN, LessonError, Passes, Reference, find
from attnviz.lessons.figures import figure

Value = float | int | str | bool | np.ndarray
SAME = 1e-12  # relative tolerance within which two numbers are equal


# what a user's expression may raise: a LessonError, or an arithmetic error
EXPRESSION_ERRORS = (ValueError, ArithmeticError, TypeError, AttributeError, LookupError, RecursionError, MemoryError)


def evaluate(text: str, passes: Passes) -> Value:
    """The value of an expression in the passes of a moment; a LessonError if it is none or they lack a part of it."""
    cells: dict[str, Value] = {}

    def named(match: re.Match[str]) -> str:
        reference = find(match[0], passes)
        name = f"cell_{len(cells)}"
        cells[name] = float(reference.cell.value) if reference.is_cell else reference.values
        return name

    def value(node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=constant) if isinstance(constant, int | float | str):
                return constant
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                one, other = value(left), value(right)
                if isinstance(one, str) or isinstance(other, str):
                    raise LessonError(f"Numbers are computed with, not texts; got {text!r}.")
                return _ARITHMETIC[type(op)](one, other)
            case ast.Compare(left=first, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
                values = [value(each) for each in (first, *others)]
                pairs = zip(values, ops, values[1:], strict=False)
                return all(_COMPARISONS[type(op)](one, other) for one, op, other in pairs)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(value, args))
            case ast.Name(id=name) if name in cells:
                return cells[name]
            case ast.Name() | ast.Attribute():
                return figure(ast.unparse(node), passes)
        raise LessonError(f"An expression is arithmetic of cells and figures; got {text!r}.")

    try:
        tree = ast.parse(PATTERN.sub(named, text).strip(), mode="eval").body
    except SyntaxError:
        raise LessonError(f"An expression is arithmetic of cells and figures; got {text!r}.") from None
    return value(tree)


def holds(claim: str, passes: Passes) -> bool:
    """Whether a claim, an expression that compares, is true of the passes of a moment."""
    truth = evaluate(claim, passes)
    if not isinstance(truth, bool):
        raise LessonError(f"A claim compares, as in attention[a, b] > 0.5; got {claim!r}.")
    return truth


def is_equal(one: Value, other: Value) -> bool:
    """Whether two values are the same but for rounding."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)


def _rank(ref: float, among: np.ndarray) -> int:
    return int((among > ref).sum()) + 1


def _is_less(one: Value, other: Value) -> bool:
    return bool(one < other) and not math.isclose(one, other, rel_tol=SAME)


_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_COMPARISONS: dict[type, Callable[[Value, Value], bool]] = {
    ast.Lt: _is_less,
    ast.Gt: lambda one, other: _is_less(other, one),
    ast.Eq: is_equal,
    ast.NotEq: lambda one, other: not is_equal(one, other),
}


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """The softmax of scores."""
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _spread(row: np.ndarray) -> float:
    """The entropy of a row of attention weights, relative to that of an even row."""
    seen = row[row > 0]
    return float(-(seen * np.log(seen)).sum() / math.log(len(seen))) if len(seen) > 1 else 0.0


def _back(row: np.ndarray) -> float:
    """How many positions before the last one a row of attention weights looks, on average."""
    return float((row * np.arange(len(row))[::-1]).sum())


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
    "max": lambda row: float(np.max(row)),
    "mean": lambda row: float(np.mean(row)),
    "min": lambda row: float(np.min(row)),
    "percent": lambda fraction: math.floor(100 * fraction + 0.5),
    "rank": _rank,
    "overlap": lambda one, other: float(np.minimum(one, other).sum()),
    "round": round,
    "softmax": softmax,
    "spread": _spread,
    "sqrt": math.sqrt,
    "sweep": _swept,
    "sum": lambda row: float(np.sum(row)),
}


SLOT = re.compile(r"\{(?P<of>[^{}:]+)(?::(?P<form>[^{}]+))?\}")
_NUMBERED_SLOT = re.compile(r"\{slot_(\d+)\}")
_IN_WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def in_words(n: float) -> str:
    """A small number in words, a larger one in digits."""
    return _IN_WORDS[int(n)] if n in range(len(_IN_WORDS)) else f"{n:,}"


_MOST_BELOW = 99


def _fraction(number: float) -> str:
    fraction = Fraction(number).limit_denominator(_MOST_BELOW)
    if abs(number - fraction) > SAME:
        raise LessonError(f"A fraction has a denominator of at most {_MOST_BELOW}; {number} is none.")
    return str(fraction).replace("-", "−")


_FORMS: dict[str, Callable[[float], str]] = {  # number formats, by what follows the colon in a slot
    "": lambda number: f"{number:,}" if isinstance(number, int) else short(number),
    "%": percent,
    "digits": digits,
    "fraction": _fraction,
    "word": in_words,
    "Word": lambda n: in_words(n).capitalize(),
    "nats": lambda number: f"{number:.3f}",
}


def fill_slots(text: str, passes: Passes) -> LessonRuns:
    """A lesson's text as runs; a slot that names one cell becomes a link to it."""
    return _filled(text, lambda slot: quantity(slot["of"].strip(), slot["form"] or "", passes))


def fill_known_slots(text: str, passes: Passes) -> LessonRuns:
    """A user's text as runs; a slot that doesn't fit the passes stays as typed."""

    def filling(slot: re.Match[str]) -> list:
        try:
            return quantity(slot["of"].strip(), slot["form"] or "", passes)
        except EXPRESSION_ERRORS:
            return ["", slot[0]]

    return _filled(text, filling)


def without_slots(text: str) -> LessonRuns:
    """A user's text as runs, where there is no pass: all slots stay as typed."""
    return _filled(text, lambda slot: ["", slot[0]])


def _filled(text: str, filling: Callable[[re.Match[str]], list]) -> LessonRuns:
    """A text as runs, each slot replaced by a run; within bold text, which is a single run, by that run's text."""
    slots: list[list] = []

    def named(slot: re.Match[str]) -> str:
        slots.append(filling(slot))
        return f"{{slot_{len(slots) - 1}}}"

    def bare(slot: re.Match[str]) -> str:
        text = slots[int(slot[1])][1]
        return getattr(text, "text", text)

    made = runs(SLOT.sub(named, text), **{f"slot_{nth}": run for nth, run in enumerate(slots)})
    return [(style, _NUMBERED_SLOT.sub(bare, run) if isinstance(run, str) else run) for style, run in made]


def format_number(number: Value, form: str = "") -> str:
    """A number as a slot writes it."""
    if form not in _FORMS:
        raise LessonError(f"A slot is written as one of {', '.join(map(repr, _FORMS))}; got {form!r}.")
    return number if isinstance(number, str) else _FORMS[form](number)


def link(ref: Reference, form: str = "") -> list:
    """The number of a cell as a run that links to it."""
    cell = ref.cell
    return ["number", NumberLink(text=format_number(float(cell.value), form), cell=str(cell), of=ref.side)]


def sentence(text: str, **parts: Reference | str | list) -> LessonRuns:
    """A fixed sentence whose slots take words, linked numbers of cells or other runs. Weights and probabilities are
    written in per cent.
    """
    numbers = {name: link(each, form_of(each)) for name, each in parts.items() if isinstance(each, Reference)}
    return [tuple(run) for run in runs(text, **parts | numbers)]


def form_of(ref: Reference) -> str:
    """The number format of a stage: weights and probabilities in per cent."""
    return "%" if ref.stage.name.startswith(("attention", "probabilities")) else ""


def quantity(ref: str, form: str, passes: Passes) -> list:
    """A cell or an expression as a run; a cell's number is linked."""
    if PATTERN.fullmatch(ref):
        return link(find(ref, passes), form)
    number = evaluate(ref, passes)
    return ["", format_number(number, form)]
