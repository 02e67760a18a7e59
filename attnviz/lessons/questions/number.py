"""Number: what a cell's number is, to be worked out; others are told what they are the answer to."""

from __future__ import annotations

from attnviz.lessons.misreadings import misreadings
from attnviz.lessons.naming import noun
from attnviz.lessons.questions.ask import Ask, giving_away
from attnviz.lessons.reference import Passes, Reference, find
from attnviz.lessons.slots import filled, told, written
from attnviz.scene.contract.lesson import Fill, Near


class Number(Ask, tag="number", frozen=True):
    """A number to fill in.

    Attributes
    ----------
    of
        Its cell.
    """

    of: str

    def question(self, passes: Passes) -> Fill:
        of = find(self.of, passes)
        right = float(of.cell.value)
        text = written(right)
        return Fill(
            prompt=filled(self.prompt, passes),
            right=right,
            text=text,
            tolerance=half_a_digit(text),
            is_share=False,
            nears=nears(of, half_a_digit(text)),
            told=told(f"The {noun(of.stage.name)} is {{number}}.", number=of),
        )

    def covers(self, passes: Passes) -> set[str]:
        return giving_away(find(self.of, passes), is_order_asked=False)


def half_a_digit(text: str) -> float:
    """Half of the last digit of a number as it is written, and a little for rounding."""
    decimals = len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals + 1e-9


def nears(of: Reference, tolerance: float) -> list[Near]:
    """Wrong numbers that somebody may find, each with what it is; none that counts as right, and none twice."""
    taken, found = [float(of.cell.value)], []
    for value, text in misreadings(of):
        if all(abs(value - each) > 2 * tolerance for each in taken):
            taken.append(value)
            found.append(Near(value=value, tolerance=tolerance, told=told(text)))
    return found
