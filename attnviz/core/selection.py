"""Selection: the one selected cell, which survives every step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Protocol

from attnviz.core.errors import SettingsError

PLACE = "[1-9][0-9]{0,3}"
"""A place as it is written, as a regular expression."""


class Measured(Protocol):
    """A trace, as far as a selection asks of it to be brought inside."""

    @property
    def lengths(self) -> Mapping[str, int]:
        """How many places the stages have along each coordinate."""


@dataclass(frozen=True)
class Selection:
    """Where a person is looking, on every axis at once, counted from 0.

    Attributes
    ----------
    head, query, key : int
    feature : int
        Within a head: a place on d_k or d_v.
    dimension : int
        A place on d_model.
    answer : int
        A place among a model's answers.
    neuron : int
        A place among the numbers between the two matrices of an MLP, or among those of a latent.
    """

    head: int = 0
    query: int = 1
    key: int = 2
    feature: int = 0
    dimension: int = 0
    answer: int = 0
    neuron: int = 0

    def within(self, trace: Measured) -> Selection:
        """The selection, with each coordinate brought inside the longest axis of the trace that it lies on."""
        return replace(self, **{name: min(getattr(self, name), n - 1) for name, n in trace.lengths.items()})

    def __str__(self) -> str:
        """The selection as it stands in an address, counted from 1; at its end the first answer and neuron are not."""
        places = [getattr(self, field.name) + 1 for field in fields(self)]
        n_written = 7 if self.neuron else 6 if self.answer else 5
        return ".".join(map(str, places[:n_written]))

    @classmethod
    def parse(cls, text: str) -> Selection:
        """The selection that `str` wrote.

        Raises
        ------
        SettingsError
            If the text is not five to seven whole numbers from 1 on.
        """
        parts = text.split(".", 7)
        if len(parts) not in (5, 6, 7) or not all(re.fullmatch(PLACE, part) for part in parts):
            raise SettingsError(
                "cell is whole numbers from 1 on, head.query.key.feature.dimension and perhaps .answer and "
                ".neuron, such as 1.2.3.1.1; "
                f"got {text[:40]!r}."
            )
        return cls(*(int(part) - 1 for part in parts))
