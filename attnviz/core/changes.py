"""Changes: numbers set by hand, and how they are written in an address, as in `scores[0,1,2]=1.5;active[:,5]=0`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from attnviz.core.errors import ChangeError
from attnviz.core.limits import MAX_CHANGES
from attnviz.core.operations.rule import Input
from attnviz.core.stage import split_layer

HIDEABLE = ("masked", "mask")
"""The stages where -inf means a hidden key."""

_INDEX = r"(?:[0-9]{1,4}|:)(?:,(?:[0-9]{1,4}|:)){0,3}"
_PATTERN = re.compile(
    rf"(?P<stage>[a-z][a-z0-9_]{{0,31}})\[(?P<index>{_INDEX})\]"
    r"=(?P<value>-?(?:inf|[0-9]{1,20}(?:\.[0-9]{1,20})?(?:e-?[0-9]{1,3})?))"
)

Index = tuple[int | None, ...]
"""Places on the first axes of a stage, counted from 0; None for all places of an axis, which is written as a colon."""


@dataclass(frozen=True)
class Change:
    """A number that replaces a computed one.

    Parameters
    ----------
    stage : str
        The name of the stage, such as "scores", or "scores_2" in the second of several layers.
    index : tuple of int or None
        A cell, counted from 0; or the beginning of an index, for all cells below it: `Change("heads", (1,), 0.0)` mutes
        the second head. None, or `:` in `numpy.s_[:, 5]`, is all places of an axis: `Change("active", (None, 5), 0.0)`
        mutes the sixth neuron, `Change("mlp", (None,), 0.0)` the MLP.
    value : float
        Finite, or -inf where it hides a key; 1 (visible) or 0 in a boolean mask.

    Raises
    ------
    ChangeError
        If the value is NaN or infinity, or the index is not of whole numbers from 0 and colons.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import Change, trace_of
    >>> before = trace_of("the cat sat")
    >>> mute = Change("heads", (1,), 0.0)  # all numbers of the second head
    >>> after = before.with_changes(mute)
    >>> [name for name in ("attention", "heads", "concat", "output") if after[name] is not before[name]]
    ['heads', 'concat', 'output']
    >>> print(mute.numpy())
    heads[1] = 0.0  # set by hand
    """

    stage: str
    index: Index
    value: float

    def __post_init__(self):
        try:
            if not isinstance(self.stage, str):
                raise TypeError
            value = float(self.value)
            index = [None if each is None or each == slice(None) else operator.index(each) for each in self.index]
        except (TypeError, ValueError, OverflowError):
            raise ChangeError(
                f"A change is a stage, an index of whole numbers and a number; "
                f"got {self.stage!r}, {self.index!r}, {self.value!r}."
            ) from None
        while len(index) > 1 and index[-1] is None:
            index.pop()  # all places of the last axes need no colon
        if not index or any(place is not None and place < 0 for place in index):
            raise ChangeError(
                f"An index counts from 0 and has at least one number; got {tuple(index)} for {self.stage}."
            )
        if math.isnan(value) or value == math.inf:
            raise ChangeError(f"A number set by hand is finite, or -inf to hide a key; got {value} for {self.stage}.")
        object.__setattr__(self, "index", tuple(index))
        object.__setattr__(self, "value", value)

    def check(self, stage: Input) -> None:
        """Raise ChangeError unless the change fits its stage: the index the axes, the number the kind."""
        sizes = zip(self.index, stage.shape, strict=False)
        if len(self.index) > len(stage.shape) or any(i is not None and i >= n for i, n in sizes):
            raise ChangeError(
                f"{self.stage} has axes {stage.axes} of lengths {stage.shape}, counted from 0; "
                f"got the index ({_format_index(self.index, ', ')})."
            )
        if stage.value.dtype == bool and self.value not in (0, 1):
            raise ChangeError(f"A cell of this {self.stage} is 1 (visible) or 0 (hidden); got {self.value}.")
        if self.value == -math.inf and split_layer(self.stage)[0] not in HIDEABLE:
            raise ChangeError(
                f"-inf hides a key, so it may stand in {' and '.join(HIDEABLE)} alone; got it for {self.stage}. "
                "Give a finite number."
            )

    @property
    def where(self) -> tuple[int | slice, ...]:
        """The index in NumPy's form."""
        return tuple(slice(None) if place is None else place for place in self.index)

    def indices(self, shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """The indices in a stage of that shape (or their beginnings), with colons expanded."""
        places = (range(n) if place is None else (place,) for place, n in zip(self.index, shape, strict=False))
        return product(*places)

    def numpy(self) -> str:
        """The change as a line of NumPy."""
        value = "-np.inf" if self.value == -math.inf else repr(self.value)
        return f"{self.stage}[{_format_index(self.index, ', ')}] = {value}  # set by hand"

    def __str__(self) -> str:
        # every digit, so that a link gives the same number; "+" means a space in an address
        number = repr(self.value).removesuffix(".0").replace("e+", "e")
        return f"{self.stage}[{_format_index(self.index)}]={number}"


def _format_index(index: Index, between: str = ",") -> str:
    return between.join(":" if place is None else str(place) for place in index)


def format_changes(changes: Iterable[Change]) -> str:
    """The changes as written in an address; `parse_change` reads each back, bit for bit."""
    return ";".join(map(str, changes))


def split_changes(text: str) -> list[str]:
    """The texts of the single changes; ChangeError for more than 16."""
    if text.count(";") >= MAX_CHANGES:
        raise ChangeError(
            f"There may be at most {MAX_CHANGES} changes at once; got {text.count(';') + 1:,}. Undo some."
        )
    return text.split(";") if text else []


def parse_change(text: str) -> Change:
    """Read one change, such as `scores[0,1,2]=1.5`."""
    match = _PATTERN.fullmatch(text)
    if not match:
        raise ChangeError(
            f"A change is written stage[index]=number, as in scores[0,1,2]=1.5 or active[:,5]=0; got {text[:40]!r}."
        )
    places = (None if place == ":" else int(place) for place in match["index"].split(","))
    return Change(match["stage"], tuple(places), float(match["value"]))


MUTABLE = {"heads": 0, "active": 1}
"""The stages of heads and neurons, which write to the residual stream, and the axis that counts them."""


def mute_change(place: int, stage: str = "heads") -> Change:
    """The change that mutes a head or neuron, counted from 0: its output becomes zeros."""
    return Change(stage, (*[None] * MUTABLE[split_layer(stage)[0]], place), 0.0)


def replace_change(changes: tuple[Change, ...], change: Change) -> tuple[Change, ...]:
    """The changes with `change` at the end, in place of an earlier one of the same cells."""
    return (*(each for each in changes if (each.stage, each.index) != (change.stage, change.index)), change)
