"""Number: what a cell's number is, to be worked out; others are told what they are the answer to."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from attnviz.contract.lesson import Fill, LessonRuns, Near
from attnviz.lessons.expression import value
from attnviz.lessons.misreadings import Misread, misreadings
from attnviz.lessons.questions.ask import Ask, cell_of, covers_of
from attnviz.lessons.reference import PATTERN, Passes, find
from attnviz.lessons.slots import filled, format_number, sentence


class Wrong(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A wrong number that somebody may work out.

    Attributes
    ----------
    of
        The expression that it is.
    feedback
        What that is.
    """

    of: str
    feedback: str = field(name="told")


class Number(Ask, tag="number", frozen=True):
    """A number to fill in.

    Attributes
    ----------
    of
        Its cell, or an expression.
    form
        How it is written, as in a slot.
    tolerance
        How far off an answer may be; 0 for half of the last digit that is written. The prompt says a larger one.
    parts
        How many numbers on the screen one adds up: each may be off by half of its last digit, and so may their sum.
    wrong
        Other expressions that somebody may work out.
    beside
        A cell of the picture that is computed in the same way, where it shows none of what is asked.
    """

    of: str
    form: str = ""
    tolerance: float = 0.0
    parts: int = 1
    wrong: tuple[Wrong, ...] = ()
    beside: str = ""

    def question(self, passes: Passes) -> Fill:
        right = value(self.of, passes)
        text = format_number(right, self.form)
        tolerance = self.tolerance or self.parts * half_a_digit(text)
        return Fill(
            prompt=[*filled(self.prompt, passes), *(leeway(tolerance) if self.tolerance > half_a_digit(text) else ())],
            right=right,
            text=text,
            tolerance=tolerance,
            is_share=False,
            nears=nears(right, tolerance, [*computed(self.wrong, passes), *self._misread(passes)]),
        )

    def covers(self, passes: Passes) -> set[str]:
        return covers_of(self.of, passes)

    def asked_cell(self, passes: Passes) -> str | None:
        return cell_of(self.beside or self.of, passes)

    def _misread(self, passes: Passes) -> list[Misread]:
        return misreadings(find(self.of, passes)) if PATTERN.fullmatch(self.of) else []


def half_a_digit(text: str) -> float:
    """Half of the last digit of a number as it is written, and a little for rounding."""
    decimals = len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals + 1e-9


def computed(wrong: Sequence[Wrong], passes: Passes) -> list[Misread]:
    """The numbers that a lesson's file itself has as wrong ones."""
    return [(float(value(each.of, passes)), each.feedback) for each in wrong]


def leeway(tolerance: float, unit: str = "") -> LessonRuns:
    """The part of a prompt that says how far off an answer may be."""
    return sentence(f" Up to {f'{tolerance:g} {unit}'.strip()} off counts as right.")


def nears(right: float, tolerance: float, misread: Sequence[Misread]) -> list[Near]:
    """Wrong numbers that somebody may find, each with what it is; none that counts as right, and none twice."""
    taken, wrong = [right], []
    for number, text in misread:
        if all(abs(number - each) > 2 * tolerance for each in taken):
            taken.append(number)
            wrong.append(Near(value=number, tolerance=tolerance, feedback=sentence(text)))
    return wrong
