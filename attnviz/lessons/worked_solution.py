"""Worked solutions: the numbers from which an asked number is computed, without the number itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter

from attnviz.contract.base import Style
from attnviz.contract.lesson import Working, WorkingTable
from attnviz.core.numerals import digits, short
from attnviz.core.operations.rule import SAME_NUMBER, Line, Rule, Run
from attnviz.core.stage import Stage
from attnviz.core.terms import Cell
from attnviz.core.trace import Trace
from attnviz.explain.one_word import formula
from attnviz.explain.steps import entry, full_title
from attnviz.lessons.reference import Reference, counted, is_of_words, quoted_name

Heads = list[tuple[Style, str]]
Lines = list[list[str]]
Form = Callable[[float], str]

FORMS: tuple[Form, ...] = (short, digits)
"""Number formats for the solution, from few digits (easier by hand) to many."""

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")


def worked_solution(of: Reference, form: Form) -> Working:
    """The worked solution of a computed cell."""
    return Working(formula=formula(of.trace, of.stage), tables=list(_Worked(of, form).tables()))


def form_within(of: Reference, leeway: float) -> Form:
    """The form with the fewest digits that still gives the cell's number within a tolerance; else the last."""
    return next((form for form in FORMS if rounding(of, form) <= leeway), FORMS[-1])


def rounding(of: Reference, form: Form) -> float:
    """The error of a cell's number when computed from its inputs as written."""

    def read(name: str, run: Run) -> tuple[Cell, ...]:
        return tuple(cell._replace(value=_read(form(cell.value))) for cell in of.trace.read(name, run))

    return abs(of.trace.terms(of.stage.name, of.index, read).total() - of.cell.value)


def _read(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf"))


@dataclass(frozen=True)
class _Worked:
    """An asked number, and the format of its inputs."""

    of: Reference
    form: Form

    @property
    def rule(self) -> Rule:
        return self.of.trace.rule(self.of.stage.name)

    def tables(self) -> Iterator[WorkingTable]:
        """A table per sum, and one for single inputs."""
        lines = self.rule.variant(self.of.index).lines
        made = [
            self._table(line, runs, len(lines)) for line, runs in zip(lines, self.rule.runs(self.of.index), strict=True)
        ]
        for heads, tables in groupby(made, itemgetter(0)):
            yield WorkingTable(heads=heads, lines=[line for _, lines in tables for line in lines])

    def _table(self, line: Line, runs: list[Run], n_lines: int) -> tuple[Heads, Lines]:
        """Its heads, and its lines."""
        read = [(self.of.trace[self.of.stage.inputs[run.source]], run) for run in runs]
        if n_lines == 1 and self._is_copy(line, read):
            read = [(stage, _whole_row(stage, run)) for stage, run in read]  # or it would stand there alone
        if len(read) == 1 and read[0][1].length == 1 and (told := self._told(line, read[0])):
            return [], [told]
        if not any(any(run.step) for _, run in read):
            return [], [*map(self._single, read)]
        return self._column(line, read)

    def _is_copy(self, line: Line, read: list[tuple[Stage, Run]]) -> bool:
        """Whether the asked number is a copy of its input."""
        is_of_one = line.text == SAME_NUMBER or len(_SLOT.findall(line.text)) == 1
        return (
            is_of_one
            and not any(any(run.step) for _, run in read)
            and any(stage.value[run.start] == self.of.cell.value for stage, run in read)
        )

    def _column(self, line: Line, read: list[tuple[Stage, Run]]) -> tuple[Heads, Lines]:
        """A column for each of its cells, and for numbers that no stage holds."""
        (first, along), *_ = ((stage, run) for stage, run in read if any(run.step))
        axis = next(axis for axis, step in enumerate(along.step) if step)
        named = Reference(self.of.of, self.of.trace, first, along.start)
        labels = [_without_noun(named, axis, index[axis]) for index in along.indices]
        columns = [[self._text(stage, index) for index in run.indices] for stage, run in read]
        heads = [("", self._counted(named, axis))]
        heads += [(entry(stage.name).role, _name(self.of.trace, stage, run)) for stage, run in read]
        for name, run in self._others(line):
            if any(run.step):
                columns.append([_exact(float(self.rule.arrays[run.source][index])) for index in run.indices])
                heads.append(("", self.rule.slots[name].title))
        return heads, [list(each) for each in zip(labels, *columns, strict=True)]

    def _single(self, read: tuple[Stage, Run]) -> list[str]:
        stage, run = read
        return [_name(self.of.trace, stage, run), self._text(stage, run.start)]

    def _told(self, line: Line, read: tuple[Stage, Run]) -> list[str]:
        """The factor by which a cell is multiplied, if no stage holds it; else empty."""
        others = dict(self._others(line))
        if not others or "×" not in line.text:
            return []
        stage, run = read
        texts = {name: _exact(float(self.rule.arrays[each.source][each.start])) for name, each in others.items()}
        texts[line.cells[0]] = self._text(stage, run.start)
        return [
            _name(self.of.trace, stage, run._replace(step=tuple(0 for _ in run.step))),
            _SLOT.sub(partial(_filled, texts), line.text),
        ]

    def _others(self, line: Line) -> Iterator[tuple[str, Run]]:
        """The slots that are constants of the rule, which no stage holds."""
        for name, _ in _SLOT.findall(line.text):
            if str(self.rule.slots[name].source).startswith("#"):
                yield name, self.rule.run(name, self.of.index)

    def _text(self, stage: Stage, index: tuple[int, ...]) -> str:
        if entry(stage.name).scale == "flag" and stage.value.dtype == bool:
            return "visible" if stage.value[index] else "hidden"
        return self.form(float(stage.value[index]))

    def _counted(self, of: Reference, axis: int) -> str:
        """What the lines count: words, or dimensions."""
        if is_of_words(of, axis):
            return "answer" if of.stage.axes[axis] == "answer" else of.trace.origin.unit
        return counted(of, axis)


def _exact(number: float) -> str:
    """A constant of the rule, which is never rounded to two digits."""
    return f"{number:.0f}" if number.is_integer() else digits(number)


def _filled(texts: Mapping[str, str], slot: re.Match[str]) -> str:
    """A number in a formula, in brackets if it is negative and follows an operator."""
    text = texts[slot[1]]
    return f"({text})" if slot[2] and text.startswith("−") else text


def _whole_row(stage: Stage, run: Run) -> Run:
    """The row in which a cell stands."""
    return Run(run.source, (*run.start[:-1], 0), (*(0 for _ in run.start[:-1]), 1), stage.shape[-1])


def _name(trace: Trace, stage: Stage, run: Run) -> str:
    """The name of some cells: their stage and their labels on the axes where all agree."""
    of = Reference("B", trace, stage, run.start)
    fixed = [axis for axis, step in enumerate(run.step) if stage.shape[axis] > 1 and not step]
    places = ", ".join(quoted_name(of, axis, run.start[axis]) for axis in fixed)
    return full_title(stage.name) + (f": {places}" if places else "")


def _without_noun(of: Reference, axis: int, place: int) -> str:
    """The label of a line, below what the lines count."""
    return of.label(axis, place).removeprefix(f"{counted(of, axis)} ")
