"""View parameters: where in a pass somebody is looking, as parameters of the address and as a struct."""

from __future__ import annotations

from typing import Literal

from attnviz.contract.base import Cell, Place, Sent

# The view parameters. The viewer writes them to the address without a rerun of the page.
VIEWERS = ("step", "cell", "picked", "trail", "ask", "order", "view", "present", "reveal", "compare", "route")
QUESTIONS = ("made", "slope", "whatif")
ORDERS = ("large", "index")
VIEWS = ("matrices", "sheet", "heads")  # all words at once stage by stage, one word's whole attention, or every head
COMPARISONS = ("both", "difference")  # two passes side by side, or the second minus the first
ROUTES = ("short", "every-step")

# the parameters that take one of a few ids; the first is usually the default
CHOICES = {"ask": QUESTIONS, "order": ORDERS, "view": VIEWS, "compare": COMPARISONS, "route": ROUTES}

LABELS = {  # what the ids are called on the screen
    "made": "what made it",
    "slope": "what would move it",
    "whatif": "what if",
    "large": "large ones first",
    "index": "in order",
    "short": "Short",
    "every-step": "Every step",
}

FORMER = {  # former spellings and their ids: links with them are in use
    "what made it": "made",
    "what would move it": "slope",
    "what if": "whatif",
    "large ones first": "large",
    "in order": "index",
    "every step": "every-step",
}

USUAL = {"view": VIEWS[0], "reveal": None}  # the defaults of view and reveal: a whole step is shown
USUAL_IN_TALK = {"view": "sheet", "reveal": 0}  # the defaults while presenting: the first step begins with the question
ALL = "all"  # the reveal of a step that is shown whole
REVEAL = "0|[1-9][0-9]?"  # the part of a step that is revealed, counted from 0


class Selected(Sent):
    """The selected cell, as an index from 0 on each kind of axis."""

    head: Place
    query: Place
    key: Place
    feature: Place
    dimension: Place
    answer: Place
    neuron: Place


class Where(Sent):
    """Where in a pass somebody is looking."""

    step: str
    cell: Selected
    picked: str
    trail: list[Cell]
    ask: Literal[QUESTIONS]
    order: Literal[ORDERS]
    view: Literal[VIEWS]
    present: bool
    reveal: Place | None
    compare: Literal[COMPARISONS]  # how a second pass is shown: beside this one, or as a difference
    route: Literal[ROUTES]  # the steps that a presenter's remote stops at
