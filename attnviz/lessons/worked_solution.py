"""Worked solutions: the numbers from which an asked number is computed, without the number itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from attnviz.contract.base import Style
from attnviz.contract.lesson import WorkedSolution, WorkedTable
from attnviz.core.numerals import digits, short
from attnviz.core.operations.rule import SAME_NUMBER, Line, Rule, Run
from attnviz.core.stage import Stage
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.explain.one_word import formula
from attnviz.explain.steps import entry, full_title
from attnviz.lessons.cell_reference import Reference, counted, is_of_words, quoted_name

Heads = list[tuple[Style, str]]
Lines = list[list[str]]
Form = Callable[[float], str]
FORMS: tuple[Form, ...] = (short, digits)  # number formats for the solution, from few digits (easier by hand) to many
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")


def worked_solution(ref: Reference, form: Form) -> WorkedSolution:
    """The worked solution of a computed cell."""
    return WorkedSolution(formula=formula(ref.trace, ref.stage), tables=list(_Solution(ref, form).tables()))


def form_within(ref: Reference, leeway: float) -> Form:
    """The form with the fewest digits that still gives the cell's number within a tolerance; else the last."""
    return next((form for form in FORMS if rounding(ref, form) <= leeway), FORMS[-1])


def rounding(ref: Reference, form: Form) -> float:
    """The error of a cell's number when computed from its inputs as written."""

    def read(name: str, run: Run) -> tuple[Cell, ...]:
        rounded = ((cell, form(cell.value).replace("−", "-").replace("∞", "inf")) for cell in ref.trace.read(name, run))
        return tuple(cell._replace(value=float(text)) for cell, text in rounded)

    return abs(ref.trace.terms(ref.stage.name, ref.index, read).total - ref.cell.value)


def is_copied(ref: Reference) -> bool:
    """Whether a cell's number is one of its inputs, unchanged."""
    rule = ref.trace.rule(ref.stage.name)
    lines, runs = rule.variant(ref.index).lines, rule.runs(ref.index)
    read = [(ref.trace[ref.stage.inputs[run.source]], run) for line in runs for run in line]
    return len(lines) == 1 and _is_copy(ref, lines[0], read)


def _is_copy(ref: Reference, line: Line, read: list[tuple[Stage, Run]]) -> bool:
    is_of_one = line.text == SAME_NUMBER or len(_SLOT.findall(line.text)) == 1
    if not is_of_one or any(any(run.step) for _, run in read):
        return False
    return any(stage.value[run.start] == ref.cell.value for stage, run in read)


@dataclass(frozen=True)
class _Solution:
    """The tables of a worked solution, for a cell and the format of its inputs."""

    ref: Reference
    form: Form

    @property
    def rule(self) -> Rule:
        return self.ref.trace.rule(self.ref.stage.name)

    def tables(self) -> Iterator[WorkedTable]:
        """A table per sum, and one for single inputs."""
        lines, runs = self.rule.variant(self.ref.index).lines, self.rule.runs(self.ref.index)
        made = [self._table(line, each, len(lines)) for line, each in zip(lines, runs, strict=True)]
        for heads, tables in groupby(made, itemgetter(0)):
            yield WorkedTable(heads=heads, lines=[line for _, lines in tables for line in lines])

    def _table(self, line: Line, runs: list[Run], n_lines: int) -> tuple[Heads, Lines]:
        read = [(self.ref.trace[self.ref.stage.inputs[run.source]], run) for run in runs]
        if n_lines == 1 and _is_copy(self.ref, line, read):  # the copied number alone would be the answer: show its row
            read = [(stage, _whole_row(stage, run)) for stage, run in read]
        if len(read) == 1 and read[0][1].length == 1 and (product := self._product(line, *read[0])):
            return [], [product]
        if not any(any(run.step) for _, run in read):
            return [], [[_name(self.ref.trace, stage, run), self._text(stage, run.start)] for stage, run in read]
        return self._columns(line, read)

    def _columns(self, line: Line, read: list[tuple[Stage, Run]]) -> tuple[Heads, Lines]:
        """A column for each of its inputs, and for numbers that no stage holds."""
        (first, along), *_ = ((stage, run) for stage, run in read if any(run.step))
        axis = next(axis for axis, step in enumerate(along.step) if step)
        named = Reference(self.ref.side, self.ref.trace, first, along.start)
        noun = self._counted(named, axis)
        labels = [named.label(axis, index[axis]).removeprefix(f"{counted(named, axis)} ") for index in along.indices]
        columns = [[self._text(stage, index) for index in run.indices] for stage, run in read]
        heads = [("", noun), *((entry(stage.name).role, _name(self.ref.trace, stage, run)) for stage, run in read)]
        for name, run in self._constants(line):
            if any(run.step):
                columns.append([_exact(float(self.rule.arrays[run.source][index])) for index in run.indices])
                heads.append(("", self.rule.slots[name].title))
        return heads, [list(each) for each in zip(labels, *columns, strict=True)]

    def _product(self, line: Line, stage: Stage, run: Run) -> list[str]:
        constants = dict(self._constants(line))
        if not constants or "×" not in line.text:
            return []
        texts = {name: _exact(float(self.rule.arrays[each.source][each.start])) for name, each in constants.items()}
        texts[line.cells[0]] = self._text(stage, run.start)
        name = _name(self.ref.trace, stage, run._replace(step=tuple(0 for _ in run.step)))
        return [name, _SLOT.sub(lambda slot: texts[slot[1]], line.text)]

    def _constants(self, line: Line) -> Iterator[tuple[str, Run]]:
        """The slots that are constants of the rule, which no stage holds."""
        for name, _ in _SLOT.findall(line.text):
            if str(self.rule.slots[name].source).startswith("#"):
                yield name, self.rule.run(name, self.ref.index)

    def _text(self, stage: Stage, index: tuple[int, ...]) -> str:
        if entry(stage.name).scale == "flag" and stage.value.dtype == bool:
            return "visible" if stage.value[index] else "hidden"
        return self.form(float(stage.value[index]))

    def _counted(self, ref: Reference, axis: int) -> str:
        if not is_of_words(ref, axis):
            return counted(ref, axis)
        return "answer" if ref.stage.axes[axis] == "answer" else ref.trace.origin.unit


def _exact(number: float) -> str:
    """A constant of the rule, which is never rounded to two digits."""
    return f"{number:.0f}" if number.is_integer() else digits(number)


def _whole_row(stage: Stage, run: Run) -> Run:
    return Run(run.source, (*run.start[:-1], 0), (*(0 for _ in run.start[:-1]), 1), stage.shape[-1])


def _name(trace: Trace, stage: Stage, run: Run) -> str:
    """The name of some cells: their stage and their labels on the axes where all agree."""
    ref = Reference("B", trace, stage, run.start)
    fixed = [axis for axis, step in enumerate(run.step) if stage.shape[axis] > 1 and not step]
    labels = ", ".join(quoted_name(ref, axis, run.start[axis]) for axis in fixed)
    return full_title(stage.name) + (f": {labels}" if labels else "")
