"""Constants of an address's parameters for the browser's code, which reads and writes addresses too."""

from __future__ import annotations

import json
from dataclasses import fields

from attnviz.contract.looks import ALL, CHOICES, FORMER, LABELS, REVEAL, USUAL, USUAL_IN_TALK, VIEWERS
from attnviz.core.selection import PLACE, Selection
from attnviz.core.terms import CELL


def javascript() -> str:
    """A module with these constants."""
    values = {
        "PARAMETERS": VIEWERS,
        "CHOICES": CHOICES,
        "LABELS": LABELS,
        "FORMER": FORMER,
        "COORDINATES": [field.name for field in fields(Selection)],
        "USUAL": USUAL,
        "USUAL_IN_TALK": USUAL_IN_TALK,
        "ALL": ALL,
    }
    patterns = {"CELL": CELL.replace("?P<", "?<"), "PLACE": PLACE, "REVEAL": REVEAL}
    lines = [f"export const {name} = /** @type {{const}} */ ({json.dumps(value)});" for name, value in values.items()]
    lines += [f"export const {name} = /^(?:{pattern})$/;" for name, pattern in patterns.items()]
    return "\n".join(["// Made by `python -m attnviz.contract.typescript`. Change it in Python.", *lines, ""])
