"""References: cells of a pass named as a lesson names them, `attention[head 2, tired, the (2)]`, and the words for
them in sentences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from attnviz.core.stage import Stage, split_layer
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.scene.with_pass import SceneWithPass

PATTERN = re.compile(r'(?:(?P<of>[AB])\.)?(?P<stage>[a-z]\w*)\[(?P<names>(?:"[^"]*"|[^\]"])*)\]')
_NAME = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"|(?P<plain>[^,"]+?))\s*(?:,|$)')
Side = Literal["A", "B"]


class LessonError(ValueError):
    """A lesson's file doesn't fit its pass. Only lesson writers see it: the tests open all lessons."""


@dataclass(frozen=True, eq=False)
class Passes:
    """The passes of a moment: B, and A if it compares two."""

    b: SceneWithPass

    def scene(self, side: Side = "B") -> SceneWithPass:
        """The scene of pass A or B; a LessonError if the moment has no pass A."""
        resolved = self.b if side == "B" else self.b.other
        if resolved is None:
            raise LessonError("A. is the pass beside the one shown; this moment's address has none.")
        return resolved

    def trace(self, side: Side = "B") -> Trace:
        """Pass A or B."""
        return self.scene(side).trace


@dataclass(frozen=True, eq=False)
class Reference:
    """Cells of one stage."""

    side: Side  # in which pass
    trace: Trace
    stage: Stage
    index: tuple[int | None, ...]  # for each axis; None is the whole axis

    @property
    def values(self) -> np.ndarray:
        """Its numbers; of a single cell an array without axes."""
        return self.stage.value[tuple(slice(None) if each is None else each for each in self.index)]

    @property
    def is_cell(self) -> bool:
        """Whether it is a single cell."""
        return None not in self.index

    @property
    def cell(self) -> Cell:
        """The single cell; a LessonError if it is more than one."""
        if not self.is_cell:
            raise LessonError(f"A single cell is asked for; {self.stage.name} has * in its place.")
        return self.stage.cell(self.index)

    @property
    def cells(self) -> list[Cell]:
        """All its cells, in order."""
        ranges = [range(n) if each is None else [each] for each, n in zip(self.index, self.stage.shape, strict=True)]
        return [self.stage.cell(index) for index in product(*ranges)]

    def at(self, index: tuple[int, ...]) -> Reference:
        """Another cell of the same stage."""
        return Reference(self.side, self.trace, self.stage, index)

    def label(self, axis: int, index: int) -> str:
        """The label of an index along one of the stage's axes."""
        return self.trace.axes(self.stage.name)[axis].label(index)


def find(text: str, passes: Passes) -> Reference:
    """The cells that a text names; a LessonError if the pass has no such cell.

    The text is a stage, and in brackets a name per axis: a word, quoted if it has a comma or bracket; "head 2"; a
    position, counted from 1; or * for all. The head may be omitted if there is only one.
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
    index = tuple(_index(name, axis.labels, text) for name, axis in zip(names, axes, strict=True))
    return Reference(match["of"] or "B", trace, stage, index)


def _index(name: str, labels: tuple[str, ...], text: str) -> int | None:
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
    "attention": "attention weight",
    "logits": "logit",
    "probabilities": "probability",
}
NAMED = ("head", "group")  # axes whose labels include the noun
_WORDS = ("query", "key", "token", "context token", "answer")


def noun(stage: str) -> str:
    """The noun for a number of a stage."""
    return _NOUNS.get(split_layer(stage)[0], "number")


def is_of_words(ref: Reference, axis: int) -> bool:
    """Whether an axis of a stage has words as labels."""
    return ref.stage.axes[axis] in _WORDS


def counted(ref: Reference, axis: int) -> str:
    """The noun for what an axis without words counts."""
    name = ref.stage.axes[axis]
    return name if name in (*NAMED, "neuron") else "dimension"


def place_name(ref: Reference, axis: int, index: int, label: str = "") -> str:
    """What an index along an axis is called: a word, "head 2", "dimension 3"; `label` replaces its own label."""
    label = label or ref.label(axis, index)
    return label if is_of_words(ref, axis) or ref.stage.axes[axis] in NAMED else f"{counted(ref, axis)} {label}"


def quoted_name(ref: Reference, axis: int, index: int, label: str = "") -> str:
    """`place_name` within a sentence: a word in quotation marks, "head 2", "dimension 3"."""
    name = place_name(ref, axis, index, label)
    return f"“{name}”" if is_of_words(ref, axis) else name


def place_slot(ref: Reference, axis: int, slot: str = "name") -> str:
    """`place_name` with a slot in place of the label."""
    return quoted_name(ref, axis, 0, f"{{{slot}}}")
