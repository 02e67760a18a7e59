"""Question specs: a question as a lesson's file has it; the right answer is computed from the pass."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from attnviz.contract.lesson import Question
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace
from attnviz.lessons.cell_reference import PATTERN, Passes, Reference, find

_KEEPS_ORDER = ("scores", "scaled", "capped", "biased", "masked", "logits")  # so the next stage has the same order
_SUM = re.compile(r"sum\((.+)\)")


class FileStruct(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A struct read from a lesson's or talk's file; unknown fields are errors."""


class QuestionSpec(FileStruct, kw_only=True, frozen=True, tag_field="kind"):
    """A question."""

    prompt: str  # with slots
    needs: tuple[str, ...] = ()  # what has to be readable to answer it: numbers as in slots, "word: dog", "heads: 4"

    def question(self, passes: Passes) -> Question:
        """The question with all its answers."""
        raise NotImplementedError

    def covers(self, passes: Passes) -> set[str]:
        """The stages to cover because their numbers would give the answer away."""
        raise NotImplementedError

    def asked_cell(self, passes: Passes) -> str | None:
        """The cell it asks about; None for several cells or none."""
        return None

    def answer_cell(self, passes: Passes) -> str | None:
        """The cell that shows the answer; None if there is none."""
        return self.asked_cell(passes)


class ExpressionSpec(QuestionSpec, frozen=True):
    """A question about a cell or an expression."""

    of: str

    def covers(self, passes: Passes) -> set[str]:
        """The stage of the cell, or of the row that is summed; other expressions appear on no screen."""
        summed = _SUM.fullmatch(self.of)
        cell = summed[1] if summed else self.of
        return giving_away(find(cell, passes), is_order_asked=False) if PATTERN.fullmatch(cell) else set()

    def asked_cell(self, passes: Passes) -> str | None:
        return cell_of(self.of, passes)


def cell_of(expression: str, passes: Passes) -> str | None:
    """The address of the one cell of pass B that an expression names; else None."""
    ref = find(expression, passes) if PATTERN.fullmatch(expression) else None
    return str(ref.cell) if ref and ref.side == "B" and ref.is_cell else None


def computed_from(trace: Trace, names: Iterable[str]) -> set[str]:
    """Some stages and all that are computed from them."""
    computed = set(names)
    for stage in trace.stages:
        if not computed.isdisjoint(stage.inputs):
            computed.add(stage.name)
    return computed


def giving_away(ref: Reference, *, is_order_asked: bool) -> set[str]:
    """The stages that give away a number of a stage, or which of several numbers is largest."""
    names, above = {ref.stage.name}, ref.stage
    while is_order_asked and (above := ref.trace[above.inputs[0]] if above.inputs else None):
        if split_layer(above.name)[0] not in _KEEPS_ORDER:
            break
        names.add(above.name)
    return computed_from(ref.trace, names)
