"""Claims: what stories say of a number and its row, read back and held against the arrays alone."""

import math
import re

import numpy as np
from numerals import short

from attnviz.core.layers import split_layer

ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBER = r"(−?\d+(?:\.\d+)?(?:e−?\d+)?)"
RANKED = rf"{NUMBER}(?: with “[^”]*”)?(?: is|,) (tied for )?(highest|lowest|\w+) of (\w+)"


def check(trace, name, index, story):
    """Check each claim that the story of a cell makes."""
    for claim, is_so in CLAIMS.items():
        for found in re.finditer(claim, story):
            assert is_so(Cell(trace, name, index), *found.groups()), (name, index, story)


class Cell:
    """A cell, and what stands at its place in other stages of its layer."""

    def __init__(self, trace, name, index):
        self.trace, self.own, self.index = trace.layer_of(name).trace, split_layer(name)[0], index

    def row(self, stage=""):
        return self.trace[stage or self.own].value[self.index[:-1]]

    def number(self, stage=""):
        return float(self.row(stage)[self.index[-1]])

    def seen(self):
        return self.row("masked") != -np.inf


def is_ranked(cell, value, tied, place, count):
    """Two numbers tie if nine digits of them are the same, however large others of their row may be."""
    stage = {"attention": "masked", "probabilities": "logits"}.get(cell.own, cell.own)
    row, own = [each for each in cell.row(stage) if each != -np.inf], cell.number(stage)
    others = [each for each in row if not math.isclose(each, own, rel_tol=1e-9)]
    higher, lower = (sum(test(each, own) for each in others) for test in (float.__gt__, float.__lt__))
    ordinal = ORDINALS[higher - 1] if 0 < higher <= len(ORDINALS) else f"{higher + 1}{place[-2:]}"
    return (
        value == short(own)
        and place == ("highest" if not higher else "lowest" if not lower else ordinal)
        and bool(tied) == (len(row) - len(others) > 1)
        and count == (COUNTS[len(row) - 2] if len(row) - 2 < len(COUNTS) else str(len(row)))
    )


def is_percent(cell, bound, sign, hundredths):
    """A half is the larger of its two neighbours."""
    share = abs(100 * cell.number())
    if bound:
        return 0 < share < 1 if bound == "under " else 99 < share < 100
    return int(hundredths) - 0.5 <= share * (1 + 1e-12) < int(hundredths) + 0.5 and (not sign or cell.number() < 0)


CLAIMS = {
    rf"row now adds up to {NUMBER}\.": lambda cell, said: said == short(math.fsum(cell.row())),
    "gives nothing to any": lambda cell: not cell.seen().any() and not cell.row("attention").any(),
    rf"collects nothing: {NUMBER}": lambda cell, said: not cell.row("attention").any() and said == short(cell.number()),
    "sees no key": lambda cell: not cell.seen().any(),
    "sees no other key": lambda cell: cell.seen().sum() == 1 and cell.seen()[cell.index[-1]] and cell.number() == 1,
    "its share is exactly 0": lambda cell: cell.number("attention") == 0,
    r"is hidden from|score is −∞": lambda cell: cell.number("masked") == -np.inf,
    rf"(?<! masked)(?<! scaled) score stays {NUMBER}": lambda cell, said: said == short(cell.number("scores")),
    rf"scaled score stays {NUMBER}": lambda cell, said: said == short(cell.number("scaled")),
    rf"its (scaled|masked) score {NUMBER}": lambda cell, stage, said: said == short(cell.number(stage)),
    rf"its score {NUMBER}": lambda cell, said: said == short(cell.number("scores")),
    rf"score of “[^”]*” with “[^”]*”, {NUMBER}, becomes a scaled score of {NUMBER}": lambda cell, before, after: (
        [before, after] == [short(cell.number("scores")), short(cell.number())]
    ),
    RANKED: is_ranked,
    r"(?:gives “[^”]*”|probability of) (under |over )?(−?)(\d+) %": is_percent,
    rf"Its dot product is {NUMBER}": lambda cell, said: said == short(cell.number("scores")),
    rf"(?:over) {NUMBER}, the sum of its row": lambda cell, said: (
        said == short(math.fsum(cell.row("masked")[cell.seen()]))
    ),
}
"""What each claim means, by the words that make it."""
