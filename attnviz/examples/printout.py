"""Print-outs: the numbers that a notebook printed, compared with those computed here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from importlib.resources import files
from itertools import cycle
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Kind = Literal["computed", "input", "label"]
"""A published number is a result; an input, which agrees by construction; or a label, as the 1 of "Element 1"."""


@dataclass(frozen=True)
class Number:
    """A published number and the computed one."""

    published: str  # as it was printed
    computed: float
    last_place: int  # the power of ten of the last digit that was printed, or left out as a zero
    slack: float  # what is allowed beyond half a unit of it; 0 but for the print-outs that say why
    kind: Kind = "computed"  # one of `Kind`

    @property
    def agrees(self) -> bool:
        """Whether the computed number is the published one, to the last digit printed or within the slack."""
        return self._within(self.slack)

    @property
    def to_the_digit(self) -> bool:
        """Whether it agrees to the last digit printed."""
        return self._within(0)

    @property
    def shown(self) -> str:
        """The computed number with one digit more than was printed, or all it has."""
        _, _, power = self.published.partition("e")
        last = self.last_place - int(power or 0) - 1
        return min(f"{self.computed:.{-last}{'e' if power else 'f'}}", repr(self.computed), key=len)

    def _within(self, slack: float) -> bool:
        published = float(self.published)
        return self.computed == published or abs(self.computed - published) <= 0.5 * 10.0**self.last_place + slack


@dataclass(frozen=True)
class PrintOut:
    """A print-out of a notebook, and what it is checked against."""

    name: str  # what it is, in the words of this project
    where: str  # the cell of the notebook, and the notebook's own name for it
    published: tuple[str, ...]  # the numbers as printed
    decimals: int | None  # of all numbers; None where each shows its own digits, as in 8.32207466e-07
    computed: Callable[
        [], ArrayLike
    ]  # the same numbers in order, perhaps more of them than the notebook's export holds
    note: str = ""
    slack: float = 0.0  # what is allowed beyond half a unit of the last digit
    why: str = ""  # the reason for it
    kinds: tuple[Kind, ...] = ("computed",)  # the kinds of its numbers, repeated if there are more numbers
    of: str = ""  # the print-out that counts these numbers, if they check it in a second way

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Each published number beside the computed one, computed once."""
        computed = np.ravel(self.computed())[: len(self.published)].tolist()
        pairs = zip(self.published, computed, strict=True)
        return tuple(
            Number(text, float(value), self._last_place(text), self.slack, kind)
            for (text, value), kind in zip(pairs, cycle(self.kinds), strict=False)
        )

    @property
    def agrees(self) -> bool:
        """Whether all of its numbers do."""
        return all(number.agrees for number in self.numbers)

    def _last_place(self, text: str) -> int:
        return int(Decimal(text).as_tuple().exponent) if self.decimals is None else -self.decimals


@dataclass(frozen=True)
class Agreement:
    """The agreement of some published numbers with the computed ones, as counts."""

    n_numbers: int
    n_to_the_digit: int  # those that agree to the last digit printed
    n_within_slack: int  # those that agree within the slack
    n_inputs: int  # those of each kind, which agree to the last digit
    n_labels: int  # those of each kind, which agree to the last digit

    @classmethod
    def of(cls, numbers: Iterable[Number]) -> Agreement:
        """Count them."""
        numbers = tuple(numbers)
        n_to_the_digit = sum(number.to_the_digit for number in numbers)
        n_agree = sum(number.agrees for number in numbers)
        kinds = Counter(number.kind for number in numbers)
        return cls(len(numbers), n_to_the_digit, n_agree - n_to_the_digit, kinds["input"], kinds["label"])

    @property
    def n_agree(self) -> int:
        """Those that agree to the digit or within the slack."""
        return self.n_to_the_digit + self.n_within_slack

    @property
    def n_apart(self) -> int:
        """Those that disagree: they can't come from the code that the notebook shows."""
        return self.n_numbers - self.n_agree


@cache
def recorded(example: str) -> tuple[dict, ...]:
    """The content of data/<example>.json: a dict for each print-out."""
    return tuple(json.loads((files(__package__) / "data" / f"{example}.json").read_text(encoding="utf-8")))


def published(example: str, name: str) -> np.ndarray:
    """The published numbers of a print-out that serves as an input."""
    return np.array(next(each["published"] for each in recorded(example) if each["name"] == name).split(), dtype=float)


def print_outs(example: str, computed: Mapping[str, Callable[[], ArrayLike]]) -> tuple[PrintOut, ...]:
    """The recorded print-outs of an example, each with what computes it."""
    return tuple(
        PrintOut(
            computed=computed[each["name"]],
            **each
            | {"published": tuple(each["published"].split()), "kinds": tuple(each.get("kinds", "computed").split())},
        )
        for each in recorded(example)
    )
