"""Changes: the numbers set by hand, what they moved, and what would move or turn others."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from attnviz.contract.sent import Cell, Name, Place, Sent, Values


class ChangeMade(Sent):
    """A number set by hand.

    Attributes
    ----------
    index
        Of a cell, or the beginning of one that all cells below have; null is every place.
    """

    text: str
    stage: Name
    index: Annotated[list[Place | None], Meta(min_length=1)]


class Moved(Sent):
    """The movement of a stage by numbers set by hand."""

    stage: Name
    text: str


class Slopes(Sent):
    """The slopes of a number."""

    of: Cell
    text: str
    values: dict[str, Values]


class Flip(Sent):
    """The smallest change that turns the order of a row, in one stage.

    Attributes
    ----------
    cell
        The one with the smallest change; null where none was found.
    value
        What turns it, set there by hand.
    """

    stage: Name
    text: str
    cell: Cell | None
    value: float | None


class Flips(Sent):
    """The smallest changes that turn the order of a row of shares."""

    of: Cell
    text: str
    stages: list[Flip]
