"""References: cells of a pass named as a lesson names them, `attention[head 2, tired, the (2)]`, and the words for
them in sentences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from attnviz.contract.base import ORDINALS
from attnviz.core.stage import Stage, split_layer
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.scene.with_pass import SceneWithPass

PATTERN = re.compile(r'(?:(?P<of>[AB])\.)?(?P<stage>[a-z]\w*)\[(?P<names>(?:"[^"]*"|[^\]"])*)\]')
"""A reference within a text."""

_NAME = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"|(?P<plain>[^,"]+?))\s*(?:,|$)')

Of = Literal["A", "B"]


class LessonError(ValueError):
    """A lesson's file doesn't fit its pass. Only lesson writers see it: the tests open all lessons."""


@dataclass(frozen=True, eq=False)
class Passes:
    """The passes of a moment: B, and A if it compares two."""

    b: SceneWithPass

    def scene(self, of: Of = "B") -> SceneWithPass:
        """One of the two, beside its pass.

        Raises
        ------
        LessonError
            If the moment has no pass A.
        """
        side = self.b if of == "B" else self.b.other
        if side is None:
            raise LessonError("A. is the pass beside the one shown; this moment's address has none.")
        return side

    def trace(self, of: Of = "B") -> Trace:
        """The pass of one of the two."""
        return self.scene(of).trace


@dataclass(frozen=True, eq=False)
class Reference:
    """Cells of one stage.

    Attributes
    ----------
    of : {"A", "B"}
        In which pass.
    trace : Trace
    stage : Stage
    index : tuple of int or None
        One for each axis; None is the whole axis.
    """

    of: Of
    trace: Trace
    stage: Stage
    index: tuple[int | None, ...]

    @property
    def values(self) -> np.ndarray:
        """Its numbers; of a single cell an array without axes."""
        return self.stage.value[tuple(slice(None) if place is None else place for place in self.index)]

    @property
    def is_cell(self) -> bool:
        """Whether it is a single cell."""
        return None not in self.index

    @property
    def cell(self) -> Cell:
        """The single cell.

        Raises
        ------
        LessonError
            If it is more than one cell.
        """
        if not self.is_cell:
            raise LessonError(f"A single cell is asked for; {self.stage.name} has * in its place.")
        return self.stage.cell(self.index)

    @property
    def cells(self) -> list[Cell]:
        """All its cells, in order."""
        places = [range(n) if place is None else [place] for place, n in zip(self.index, self.stage.shape, strict=True)]
        return [self.stage.cell(index) for index in product(*places)]

    def at(self, index: tuple[int, ...]) -> Reference:
        """Another cell of the same stage."""
        return Reference(self.of, self.trace, self.stage, index)

    def label(self, axis: int, place: int) -> str:
        """The name of a place along one of the stage's axes."""
        return self.trace.axes(self.stage.name)[axis].label(place)


def find(text: str, passes: Passes) -> Reference:
    """The cells that a text names.

    Parameters
    ----------
    text : str
        A stage, and in brackets a name per axis: a word, quoted if it has a comma or bracket; "head 2"; a
        place, counted from 1; or * for all. The head may be omitted if there is only one.
    passes : Passes

    Raises
    ------
    LessonError
        If the pass has no such cell.
    """
    match = PATTERN.fullmatch(text.strip())
    if match is None:
        raise LessonError(f"A cell is named as in attention[tired, animal]; got {text!r}.")
    trace = passes.trace(match["of"] or "B")
    if match["stage"] not in trace:
        raise LessonError(f"{text} names a stage of the pass: {', '.join(trace.keys())}.")
    stage, axes = trace[match["stage"]], trace.axes(match["stage"])
    names = [each["quoted"] or each["plain"] for each in _NAME.finditer(match["names"])]
    if len(names) == len(axes) - 1 and axes[0].name == "head" and axes[0].length == 1:
        names = [axes[0].label(0), *names]
    if len(names) != len(axes):
        raise LessonError(f"{text} names a place on each of {', '.join(axis.name for axis in axes)}.")
    index = tuple(_place(name, axis.labels, text) for name, axis in zip(names, axes, strict=True))
    return Reference(match["of"] or "B", trace, stage, index)


def _place(name: str, labels: tuple[str, ...], text: str) -> int | None:
    if name == "*":
        return None
    if name in labels:
        return labels.index(name)
    if name.isdecimal() and 0 < int(name) <= len(labels):
        return int(name) - 1
    raise LessonError(f"{text}: {name!r} is none of {', '.join(labels)}.")


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
    """The ordinal of n, in words if small."""
    if n <= len(ORDINALS):
        return ORDINALS[n - 1]
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def noun(stage: str) -> str:
    """The noun for a number of a stage."""
    return _NOUNS.get(split_layer(stage)[0], "number")


def is_of_words(of: Reference, axis: int) -> bool:
    """Whether an axis of a stage has words as labels."""
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
    """The noun for places along an axis without words."""
    name = of.stage.axes[axis]
    return name if name in (*_NAMED, "neuron") else "dimension"


def _before(of: Reference, axis: int) -> str:
    """The noun before the label of a place."""
    return "" if of.stage.axes[axis] in _NAMED else f"{counted(of, axis)} "
