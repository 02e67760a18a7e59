"""Looks: how an address says where one looks in a pass. Python and the browser's code both read and write it."""

VIEWERS = ("step", "cell", "picked", "trail", "ask", "order", "view", "present", "reveal", "compare", "route")
"""The parameters that say where in a pass one looks. The viewer writes them, without a run of the script."""

QUESTIONS = ("made", "slope", "whatif")
ORDERS = ("large", "index")
VIEWS = ("matrices", "sheet")
"""All words at once, stage by stage, or one word's whole attention."""
COMPARISONS = ("both", "difference")
"""Two passes beside each other, or how far the second is from the first."""
ROUTES = ("short", "every-step")

CHOICES = {"ask": QUESTIONS, "order": ORDERS, "view": VIEWS, "compare": COMPARISONS, "route": ROUTES}
"""The parameters that are one of a few ids; of most the first is that of an address without it."""

LABELS = {
    "made": "what made it",
    "slope": "what would move it",
    "whatif": "what if",
    "large": "large ones first",
    "index": "in order",
    "short": "Short",
    "every-step": "Every step",
}
"""The labels of ids on the screen."""

FORMER = {
    "what made it": "made",
    "what would move it": "slope",
    "what if": "whatif",
    "large ones first": "large",
    "in order": "index",
    "every step": "every-step",
}
"""The ids of what addresses had in their place before: links to them are out."""

USUAL = {"view": VIEWS[0], "reveal": None}
"""The view and reveal of an address that names neither: all of a step is there."""

USUAL_IN_TALK = {"view": "sheet", "reveal": 0}
"""The same of an address that presents: its first step begins with the question."""

ALL = "all"
"""Of a step that has come to its end."""

REVEAL = "0|[1-9][0-9]?"
"""A moment of a step, counted from 0."""
