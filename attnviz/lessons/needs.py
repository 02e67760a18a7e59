"""Needs of questions: the numbers and words that have to be readable to answer one, on a screen or on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attnviz.contract.lesson import GivenRow
from attnviz.core.stage import split_layer
from attnviz.explain.steps import full_title, layer_name
from attnviz.lessons.cell_reference import (
    NAMED,
    PATTERN,
    LessonError,
    Passes,
    Reference,
    counted,
    find,
    is_of_words,
    noun,
    place_name,
    quoted_name,
)
from attnviz.lessons.slots import EXPRESSION_ERRORS, evaluate, form_of, format_number


class Need(NamedTuple):
    """What has to be readable."""

    texts: list[str]  # the words, or the numbers as they are written
    numbers: list[float]  # the same numbers; empty for words
    cells: Sequence[str] = ()  # their cells, as `B.scores[0,1,0]`, if they have some
    row: GivenRow | None = None  # the numbers with their names; None if they have none

    @property
    def ways(self) -> list[set[str]]:
        """For each text all ways in which a picture or a sentence may write it."""
        numbers = self.numbers or [None] * len(self.texts)
        return [{text} | _all_forms(number) for text, number in zip(self.texts, numbers, strict=True)]


def _all_forms(number: float | None) -> set[str]:
    """A number in all forms, those of a whole number included."""
    if number is None:
        return set()
    forms = {format_number(number, form) for form in ("", "%", "digits", "nats")}
    if not number.is_integer():
        return forms
    return forms | {format_number(int(number)).replace("-", "−"), format_number(int(number), "word")}


def need(text: str, passes: Passes) -> Need:
    """A need as a file has it: `word: dog`, `heads: 4`, or a cell or an expression, perhaps with a form, as in a slot.
    A LessonError if the passes lack it.
    """
    kind, _, rest = text.partition(":")
    if kind == "word":
        return Need([rest.strip()], [])
    if kind == "heads":
        n_heads = int(rest)
        most = max(len(layer.trace["attention"].value) for layer in passes.trace().layers)
        if n_heads > most:
            raise LessonError(f"A need is of heads that the pass has, {most}; got {text}.")
        return Need([f"head {number}" for number in range(1, n_heads + 1)], [])
    return _numbers(kind, rest, passes)


def needs_on_paper(texts: tuple[str, ...], passes: Passes) -> list[Need]:
    """The needs of a question; one that doesn't fit the passes, as a user may have written, can't be written."""
    needs = []
    for each in texts:
        try:
            needs.append(need(each, passes))
        except EXPRESSION_ERRORS:
            needs.append(Need([each], []))
    return needs


def _numbers(of: str, form: str, passes: Passes) -> Need:
    ref = find(of, passes) if PATTERN.fullmatch(of) else None
    if ref is None:
        number = evaluate(of, passes)
        return Need([format_number(number, form)], [float(number)])
    numbers = [float(each) for each in np.ravel(ref.values)]
    texts = [format_number(each, form or form_of(ref)) for each in numbers]
    cells = [f"{ref.side}.{cell}" for cell in ref.cells]
    if ref.is_cell:
        return Need(texts, numbers, cells, GivenRow(name=describe(ref), labels=[""], texts=texts))
    if ref.index.count(None) != 1:
        raise LessonError(f"A need is a number or a row of them; got {of}.")
    axis = ref.index.index(None)
    labels = [ref.label(axis, index) for index in range(len(texts))]
    along = "" if is_of_words(ref, axis) or ref.stage.axes[axis] in NAMED else counted(ref, axis)
    return Need(texts, numbers, cells, GivenRow(name=describe(ref), labels=labels, texts=texts, along=along))


def describe(ref: Reference) -> str:
    """The name of a cell or of a row: “score of “cat” and “the””."""
    name, places = ref.stage.name, [(axis, index) for axis, index in enumerate(ref.index) if index is not None]
    side = " in A" if ref.side == "A" else ""
    if noun(name) == "number":
        is_alone = ref.stage.axes[0] == "head" and ref.stage.shape[0] == 1
        at = ", ".join(quoted_name(ref, axis, index) for axis, index in places[is_alone:])
        return f"{full_title(name)} at {at}{side}"
    words = [quoted_name(ref, axis, index) for axis, index in places if is_of_words(ref, axis)]
    return f"{noun(name)} of {' and '.join(words)}{head_and_layer(ref)}{side}"


def head_and_layer(ref: Reference) -> str:
    """Where a cell is, if there are several heads or layers: “ in head 2 of layer 1”."""
    is_headed = ref.stage.axes[0] == "head" and ref.stage.shape[0] > 1 and ref.index[0] is not None
    head = f" in {place_name(ref, 0, ref.index[0])}" if is_headed else ""
    layer = split_layer(ref.stage.name)[1]
    return head + (f" {'of' if head else 'in'} {layer_name(ref.trace, layer)}" if layer else "")
