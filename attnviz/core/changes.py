"""Changes: numbers set by hand, and how they are written in an address, as in `scores[0,1,2]=1.5;heads[1]=0`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from attnviz.core.errors import ChangeError
from attnviz.core.layers import split_layer
from attnviz.core.operations.input import Input
from attnviz.core.settings import MAX_CHANGES
from attnviz.core.terms import CELL

HIDEABLE = ("masked", "mask")
"""The stages where -inf means something: a hidden key."""

_WRITTEN = re.compile(CELL + r"=(?P<value>-?(?:inf|[0-9]{1,20}(?:\.[0-9]{1,20})?(?:e-?[0-9]{1,3})?))")


@dataclass(frozen=True)
class Change:
    """A number put in place of a stage's own.

    Parameters
    ----------
    stage : str
    index : tuple of int
        A cell, counted from 0; or the beginning of an index, for all cells below
        it: `Change("heads", (1,), 0.0)` mutes the second head.
    value : float
        Finite, or -inf where it hides a key; 1 (visible) or 0 in a boolean mask.

    Raises
    ------
    ChangeError
        If the value is NaN or infinity, or the index is not of whole numbers from 0.
    """

    stage: str
    index: tuple[int, ...]
    value: float

    def __post_init__(self):
        try:
            value, index = float(self.value), tuple(map(operator.index, self.index))
        except (TypeError, ValueError, OverflowError):
            raise ChangeError(
                f"A change is a stage, an index of whole numbers and a number; "
                f"got {self.stage!r}, {self.index!r}, {self.value!r}."
            ) from None
        if not index or min(index) < 0:
            raise ChangeError(f"An index counts from 0 and has at least one number; got {index} for {self.stage}.")
        if math.isnan(value) or value == math.inf:
            raise ChangeError(f"A number set by hand is finite, or -inf to hide a key; got {value} for {self.stage}.")
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "value", value)

    def check(self, stage: Input) -> None:
        """Raise ChangeError unless the change fits its stage: the index the axes, the number the kind."""
        if len(self.index) > len(stage.shape) or any(i >= n for i, n in zip(self.index, stage.shape, strict=False)):
            raise ChangeError(
                f"{self.stage} has axes {stage.axes} of lengths {stage.shape}, counted from 0; "
                f"got the index {self.index}."
            )
        if stage.value.dtype == bool and self.value not in (0, 1):
            raise ChangeError(f"A cell of this {self.stage} is 1 (visible) or 0 (hidden); got {self.value}.")
        if self.value == -math.inf and split_layer(self.stage)[0] not in HIDEABLE:
            raise ChangeError(
                f"-inf hides a key, so it may stand in {' and '.join(HIDEABLE)} alone; got it for {self.stage}. "
                "Give a finite number."
            )

    def numpy(self) -> str:
        """The change as a line of NumPy."""
        value = "-np.inf" if self.value == -math.inf else repr(self.value)
        return f"{self.stage}[{', '.join(map(str, self.index))}] = {value}  # set by hand"

    def __str__(self) -> str:
        # every digit, so that a link gives the same number; "+" means a space in an address
        number = repr(self.value).removesuffix(".0").replace("e+", "e")
        return f"{self.stage}[{','.join(map(str, self.index))}]={number}"


def format_changes(changes: Iterable[Change]) -> str:
    """The changes as an address has them; `fitting` reads them back, bit for bit."""
    return ";".join(map(str, changes))


def split_changes(text: str) -> list[str]:
    """The texts of the single changes, at most 16."""
    if text.count(";") >= MAX_CHANGES:
        raise ChangeError(
            f"There may be at most {MAX_CHANGES} changes at once; got {text.count(';') + 1:,}. Undo some."
        )
    return text.split(";") if text else []


def parse_change(text: str) -> Change:
    """Read one change, such as `scores[0,1,2]=1.5`."""
    written = _WRITTEN.fullmatch(text)
    if not written:
        raise ChangeError(f"A change is written stage[index]=number, as in scores[0,1,2]=1.5; got {text[:40]!r}.")
    return Change(written["stage"], tuple(map(int, written["index"].split(","))), float(written["value"]))


def muted(head: int, heads: str = "heads") -> Change:
    """The change that silences a head, counted from 0, of one layer's `heads`: its output is set to zeros."""
    return Change(heads, (head,), 0.0)


def toggled(mask: np.ndarray, index: tuple[int, ...]) -> Change:
    """The change that hides a visible cell of the mask, and shows a hidden one."""
    if mask.dtype == bool:
        return Change("mask", index, not mask[index])
    return Change("mask", index, 0.0 if np.isneginf(mask[index]) else -np.inf)


def replaced(changes: tuple[Change, ...], change: Change) -> tuple[Change, ...]:
    """The changes with `change` at the end, in place of an earlier one of the same cells."""
    return (*(each for each in changes if (each.stage, each.index) != (change.stage, change.index)), change)
