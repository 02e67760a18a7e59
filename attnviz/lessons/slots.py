"""Slots: a lesson's text, in which `{scaled[tired, animal]}` is that number of the pass, and leads to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from attnviz.contract.lesson import LessonRuns, NumberLink
from attnviz.core.numerals import digits, short
from attnviz.explain.markup import runs
from attnviz.explain.wording import percent
from attnviz.lessons.expression import EXPRESSION_ERRORS, SAME, Value, value
from attnviz.lessons.reference import PATTERN, LessonError, Passes, Reference, find

SLOT = re.compile(r"\{(?P<of>[^{}:]+)(?::(?P<form>[^{}]+))?\}")
_OURS = re.compile(r"\{slot_(\d+)\}")
"""A slot within a strong text, which is one run."""
_IN_WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def in_words(n: float) -> str:
    """A small number in words, a larger one in digits."""
    return _IN_WORDS[int(n)] if n in range(len(_IN_WORDS)) else f"{n:,}"


_MOST_BELOW = 99


def _fraction(number: float) -> str:
    """The fraction of small numbers that a number is, as 3/7.

    Raises
    ------
    LessonError
        If it is none.
    """
    fraction = Fraction(number).limit_denominator(_MOST_BELOW)
    if abs(number - fraction) > SAME:
        raise LessonError(f"A fraction has a denominator of at most {_MOST_BELOW}; {number} is none.")
    return str(fraction).replace("-", "−")


_FORMS: dict[str, Callable[[float], str]] = {
    "": lambda number: f"{number:,}" if isinstance(number, int) else short(number),
    "%": percent,
    "digits": digits,
    "fraction": _fraction,
    "word": in_words,
    "Word": lambda n: in_words(n).capitalize(),
    "nats": lambda number: f"{number:.3f}",
}
"""How a number is written, by what follows the colon of its slot."""


def filled(text: str, passes: Passes) -> LessonRuns:
    """A text of a lesson as runs; a slot that names one cell leads to it, another is text.

    Raises
    ------
    LessonError
        If the passes have nothing for a slot.
    """
    quantities: dict[str, list] = {}

    def named(slot: re.Match[str]) -> str:
        name = f"slot_{len(quantities)}"
        quantities[name] = quantity(slot["of"].strip(), slot["form"] or "", passes)
        return f"{{{name}}}"

    return [tuple(run) for run in runs(SLOT.sub(named, text), **quantities)]


def filled_where_it_fits(text: str, passes: Passes) -> LessonRuns:
    """The same of a text of somebody's own: a slot for which the passes have nothing stands as it was typed."""
    quantities: list[list] = []

    def named(slot: re.Match[str]) -> str:
        try:
            quantities.append(quantity(slot["of"].strip(), slot["form"] or "", passes))
        except EXPRESSION_ERRORS:
            quantities.append(["", slot[0]])
        return f"{{slot_{len(quantities) - 1}}}"

    made = runs(SLOT.sub(named, text), **{f"slot_{nth}": run for nth, run in enumerate(quantities)})
    return [
        (style, _OURS.sub(lambda slot: _text_of(quantities[int(slot[1])]), run) if isinstance(run, str) else run)
        for style, run in made
    ]


def _text_of(run: list) -> str:
    return getattr(run[1], "text", run[1])


def format_number(number: Value, form: str = "") -> str:
    """A number as a slot writes it."""
    if form not in _FORMS:
        raise LessonError(f"A slot is written as one of {', '.join(map(repr, _FORMS))}; got {form!r}.")
    return number if isinstance(number, str) else _FORMS[form](number)


def link(of: Reference, form: str = "") -> list:
    """The number of a cell as a run, which leads to it."""
    cell = of.cell
    return ["number", NumberLink(text=format_number(float(cell.value), form), cell=str(cell), of=of.of)]


def sentence(text: str, **parts: Reference | str | list) -> LessonRuns:
    """A sentence of our own, in whose slots stand a person's words, the numbers of cells or other runs.

    A share is written in per cent.
    """
    numbers = {name: link(each, form_of(each)) for name, each in parts.items() if isinstance(each, Reference)}
    return [tuple(run) for run in runs(text, **parts | numbers)]


def form_of(of: Reference) -> str:
    """How a number of a stage is written: a share in per cent."""
    return "%" if of.stage.name.startswith(("attention", "probabilities")) else ""


def quantity(of: str, form: str, passes: Passes) -> list:
    """A cell or an expression as a run: a cell's leads to it."""
    if PATTERN.fullmatch(of):
        return link(find(of, passes), form)
    number = value(of, passes)
    return ["", format_number(number, form)]
