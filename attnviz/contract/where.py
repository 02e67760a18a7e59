"""Where one looks in a pass."""

from __future__ import annotations

from typing import Literal

from attnviz.contract.looks import COMPARISONS, ORDERS, QUESTIONS, ROUTES, VIEWS
from attnviz.contract.sent import Cell, Place, Sent


class Selected(Sent):
    """The selected number, by its places, counted from 0."""

    head: Place
    query: Place
    key: Place
    feature: Place
    dimension: Place
    answer: Place
    neuron: Place


class Where(Sent):
    """Where one looks in a pass.

    Attributes
    ----------
    compare
        How a pass beside this one is looked at.
    route
        Where a presenter's remote leads.
    """

    step: str
    cell: Selected
    picked: str
    trail: list[Cell]
    ask: Literal[QUESTIONS]
    order: Literal[ORDERS]
    view: Literal[VIEWS]
    present: bool
    reveal: Place | None
    compare: Literal[COMPARISONS]
    route: Literal[ROUTES]
