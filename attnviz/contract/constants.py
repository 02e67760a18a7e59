"""Constants for the browser's code, which reads and writes addresses and numbers as Python does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields

from attnviz.contract.looks import ALL, CHOICES, FORMER, LABELS, REVEAL, USUAL, USUAL_IN_TALK, VIEWERS
from attnviz.core.selection import PLACE, Selection
from attnviz.core.terms import CELL

ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]


def where() -> str:
    """The module of the parameters of an address."""
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
    return _module(
        [*_constants(values), *(f"export const {name} = /^(?:{each})$/;" for name, each in patterns.items())]
    )


def numerals() -> str:
    """The module of numbers as words."""
    return _module(_constants({"ORDINALS": ORDINALS}))


def _constants(values: Mapping[str, object]) -> list[str]:
    return [f"export const {name} = /** @type {{const}} */ ({json.dumps(value)});" for name, value in values.items()]


def _module(lines: list[str]) -> str:
    return "\n".join(["// Made by `python -m attnviz.contract.typescript`. Change it in Python.", *lines, ""])
