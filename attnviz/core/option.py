"""Option: one thing besides the words that a person can set of a pass."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """The values of a setting, and its name.

    Attributes
    ----------
    default : int, str or bool
    allowed : range or tuple
        A number of heads divides `d_model` besides.
    label : str
        Its name for a person.
    help : str
        What it does, where the name doesn't say it.
    """

    default: int | str | bool
    allowed: Sequence[int | str | bool]
    label: str
    help: str = ""

    @property
    def rule(self) -> str:
        """The values, in words."""
        if isinstance(self.allowed, range):
            return f"a whole number from {self.allowed[0]} to {self.allowed[-1]}"
        return "True or False" if self.is_switch else f"one of {', '.join(self.allowed)}"

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return isinstance(self.default, bool)

    def allows(self, value: object) -> bool:
        """Whether it may be this very value: 1 is not True."""
        is_a_kind = isinstance(value, type(self.default)) and isinstance(value, bool) == self.is_switch
        return is_a_kind and value in self.allowed

    def nearest(self, text: str) -> int | str | bool:
        """The allowed value that a text stands for, in upper or lower case, or comes nearest to; else the default."""
        if isinstance(self.allowed, range):
            return _nearest_number(text, self.allowed, self.default)
        return next((each for each in self.allowed if str(each).lower() == text.strip().lower()), self.default)


def _nearest_number(text: str, allowed: range, default: int) -> int:
    try:
        # at most 20 digits: int() of a megabyte of them is refused by Python, float() is not needed for fewer
        number = int(text) if len(text) <= 20 else float(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            return default
    if math.isnan(number):
        return default
    return round(min(max(number, allowed[0]), allowed[-1]))
