"""Question: what was asked in a room, and everybody's answers to it, round by round."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from attnviz.classroom.commands import Place, Value

LARGEST = 1e12
"""The largest number that an answer may be."""


@dataclass
class Question:
    """A question of a room.

    Attributes
    ----------
    place : Place
        Where it was asked.
    rounds : list of dict of str to Value
        The answer of each seat, in each round.
    is_open : bool
        Whether answers are taken.
    """

    place: Place
    rounds: list[dict[str, Value]] = field(default_factory=lambda: [{}])
    is_open: bool = True

    def takes(self, value: Value) -> bool:
        """Whether an answer is one that the question takes."""
        takes = self.place.takes
        if takes.n_choices:
            return type(value) is int and 0 <= value < takes.n_choices
        if not (type(value) in (int, float) and math.isfinite(value)):
            return False
        return 0 <= value <= 1 if takes.is_share else abs(value) <= LARGEST

    @property
    def counts(self) -> list[list[tuple[Value, int]]]:
        """How many gave each answer, in each round, in the answers' order."""
        return [sorted(Counter(answers.values()).items()) for answers in self.rounds]
