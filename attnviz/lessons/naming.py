"""Naming: what the numbers and places of a pass are called in a lesson's sentences."""

from __future__ import annotations

from attnviz.contract.base import ORDINALS
from attnviz.core.stage import split_layer
from attnviz.lessons.reference import Reference

_NOUNS = {
    "scores": "score",
    "scaled": "scaled score",
    "masked": "score",
    "attention": "share",
    "logits": "logit",
    "probabilities": "probability",
}
_NAMED = ("head", "group")  # whose labels have the noun already
_WORDS = ("query", "key", "token", "context token", "answer")


def ordinal(n: int) -> str:
    """Which one of several, counted from 1."""
    return ORDINALS[n - 1] if n <= len(ORDINALS) else f"{n}{_ending(n)}"


def noun(stage: str) -> str:
    """The noun for a number of a stage."""
    return _NOUNS.get(split_layer(stage)[0], "number")


def is_of_words(of: Reference, axis: int) -> bool:
    """Whether words stand along an axis of a stage."""
    return of.stage.axes[axis] in _WORDS


def place_slot(of: Reference, axis: int, slot: str = "name") -> str:
    """A slot for the label of a place along an axis: a word in quotation marks, a number after what it counts."""
    return f"“{{{slot}}}”" if is_of_words(of, axis) else f"{_before(of, axis)}{{{slot}}}"


def place_name(of: Reference, axis: int, place: int) -> str:
    """The name of a place along an axis: a word, "head 2", "dimension 3"."""
    label = of.label(axis, place)
    return label if is_of_words(of, axis) else f"{_before(of, axis)}{label}"


def quoted_name(of: Reference, axis: int, place: int) -> str:
    """The name of a place along an axis within a sentence: a word in quotation marks, "head 2", "dimension 3"."""
    name = place_name(of, axis, place)
    return f"“{name}”" if is_of_words(of, axis) else name


def counted(of: Reference, axis: int) -> str:
    """What the places along an axis that has no words are."""
    name = of.stage.axes[axis]
    return name if name in (*_NAMED, "neuron") else "dimension"


def _before(of: Reference, axis: int) -> str:
    """The noun before the label of a place."""
    return "" if of.stage.axes[axis] in _NAMED else f"{counted(of, axis)} "


def _ending(n: int) -> str:
    return "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
