"""Cause: what is said of a mistake, as a clause, and as a line of code that is wrong and one that is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attnviz.checks.wording.words import SYMBOLS, shortened
from attnviz.explain.wording import listed

ROWS = {"q": "queries", "k": "keys", "v": "values"}

Clause = Callable[[str], str]
Slots = Callable[[str], Mapping[str, str]]

SCALED = "scores = q @ k.transpose(-2, -1) / d_k ** 0.5"
HIDDEN = "scores = scores.masked_fill(~mask, -torch.inf)"
SOFTMAX = "attention = scores.softmax(dim=-1)"
JOINED = "out = heads.transpose(1, 2).reshape(n, t, d_model)"
"""Right lines that several mistakes get wrong."""


def last_word(about: str) -> Mapping[str, str]:
    """The last word of what a mistake was done to or by, as code has it."""
    return {"about": about.split()[-1].replace("−", "-") if about else ""}


@dataclass(frozen=True)
class Cause:
    """The sentences on a mistake.

    Attributes
    ----------
    clause : callable
        A clause, of what it was done to or by.
    wrong, right : str
        A line of code each, with slots.
    on_purpose : str
        A sentence on the models that do so on purpose.
    slots : callable
        What the slots hold, of what it was done to or by.
    """

    clause: Clause
    wrong: str
    right: str
    on_purpose: str = ""
    slots: Slots = last_word

    def code(self, about: str) -> tuple[str, str]:
        """The wrong line of code, and the right one."""
        filled = self.slots(about)
        return self.wrong.format(**filled), self.right.format(**filled)


def plain(text: str) -> Clause:
    """A clause with a slot for what it was done to or by."""
    return lambda about: text.format(about)


def of(predicate: str) -> Clause:
    """A clause about symbols, which were or was something."""

    def clause(about: str) -> str:
        names = about.split()
        return f"{listed([SYMBOLS.get(each, each) for each in names])} {'were' if names[1:] else 'was'} {predicate}"

    return clause


def of_rows(predicate: str) -> Clause:
    """A clause about queries, keys or both, which were something; with what follows their letters."""

    def clause(about: str) -> str:
        words = about.split()
        rows = listed([ROWS[each] for each in words if each in ROWS])
        rest = " ".join(each for each in words if each not in ROWS)
        return f"{rows} were {predicate.format(rest)}"

    return clause


def of_a_mask(predicate: str) -> Clause:
    """A clause about a mask, by its name where there are several."""
    return lambda about: f"{f'the mask {shortened(about)}'.strip()} {predicate}"


def of_letters(about: str) -> Mapping[str, str]:
    """The first and the last of the queries, keys and values that it was done to."""
    letters = [each[-1] for each in about.split() if each[-1:] in ("q", "k", "v", "o")] or ["q"]
    return {"letter": letters[0], "other": letters[-1]}
