"""Given numbers: what a question needs and its texts don't say, in rows, for a phone, a small picture and paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from attnviz.contract.lesson import Fill, Gaps, GapsCell, GivenRow, LessonRuns, NumberLink, Pick, Question, WorkedTable
from attnviz.core.operations.scores import Scale
from attnviz.lessons.cell_reference import PATTERN, Passes, find
from attnviz.lessons.needs import Need, needs_on_paper
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.questions.numbers import Number, Percentage
from attnviz.lessons.questions.picks import PickWord
from attnviz.lessons.worked_solution import form_within, is_copied, worked_solution

MOST_NUMBERS = 40  # nobody computes with more


def given_rows(ask: AnyQuestion, question: Question, texts: Sequence[LessonRuns], passes: Passes) -> list[GivenRow]:
    """The rows of a question: the needs that its file states, or else the inputs of its number.

    Numbers in `texts`, which are read with it, aren't repeated.
    """
    if ask.needs:
        side = "A" if getattr(ask, "of", "").startswith("A.") else "B"
        covered = tuple(f"{side}.{stage}[" for stage in ask.covers(passes))
        rows = [
            each.row
            for each in missing_needs(needs_on_paper(ask.needs, passes), question, texts, words_read(passes))
            if each.row and not any(cell.startswith(covered) for cell in each.cells)
        ]
        if isinstance(ask, PickWord) and not all(row.labels == _labels(question) for row in rows):
            return []  # rows of some words alone would narrow the answer down to these
    else:
        rows = list(_inputs(ask, question, passes))
    return rows if sum(len(row.texts) for row in rows) <= MOST_NUMBERS else []


def _labels(question: Question) -> list[str]:
    return [each.label for each in question.candidates] if isinstance(question, Pick) else []


def missing_needs(needs: Sequence[Need], question: Question, texts: Sequence[LessonRuns], words: str) -> list[Need]:
    """The needs that are neither in the words of the pass nor in the texts nor in the given cells of a table."""
    read = [*texts, question.prompt, *(cell.text for cell in _given_cells(question))]
    said = " ".join([words, *map(text_of_runs, read)])
    linked = {f"{text.of}.{text.cell}" for runs in read for _, text in runs if isinstance(text, NumberLink)}

    def is_said(ways: set[str]) -> bool:
        return any(re.search(rf"(?<![\w.]){re.escape(text)}(?!\w|[.,]\d)", said) for text in ways)

    return [
        each for each in needs if not (linked.issuperset(each.cells) if each.cells else all(map(is_said, each.ways)))
    ]


def _inputs(ask: AnyQuestion, question: Question, passes: Passes) -> Iterator[GivenRow]:
    """The numbers from which the asked one is computed, with as many digits as its tolerance takes."""
    if not isinstance(ask, Number | Percentage) or not isinstance(question, Fill) or not PATTERN.fullmatch(ask.of):
        return
    ref = find(ask.of, passes)
    if ref.stage.is_given or ref.stage.is_overridden(ref.index) or is_copied(ref) or not np.isfinite(ref.cell.value):
        return
    for table in worked_solution(ref, form_within(ref, question.tolerance or 0)).tables:
        yield from _rows(table)
    if isinstance(ref.stage.operation, Scale) and ref.stage.operation.factor is None:
        yield GivenRow(name="d_k", labels=[""], texts=[str(ref.stage.operation.d_k)])


def _rows(table: WorkedTable) -> Iterator[GivenRow]:
    """The columns of a table as rows; without heads its lines, of a name and a number each."""
    if not table.heads:
        yield from (GivenRow(name=name, labels=[""], texts=[text]) for name, text in table.lines)
        return
    (_, counted), *names = table.heads
    labels, *columns = map(list, zip(*table.lines, strict=True))
    along = counted if labels == [str(number) for number in range(1, len(labels) + 1)] else ""
    for (_, name), texts in zip(names, columns, strict=True):
        yield GivenRow(name=name, labels=labels, texts=texts, along=along)


def format_rows(rows: Sequence[GivenRow]) -> str:
    """Rows in a line of text."""
    return "; ".join(f"{row.name}: {', '.join(_labelled(row))}" for row in rows)


def _labelled(row: GivenRow) -> Iterator[str]:
    for label, text in zip(row.labels, row.texts, strict=True):
        yield " ".join(filter(None, (label and row.along, label, text)))


def words_read(passes: Passes) -> str:
    """The words that the pass reads: those of its queries and of its keys."""
    trace = passes.trace()
    return " ".join((*trace.labels["query"], *trace.labels["key"]))


def text_of_runs(runs: LessonRuns) -> str:
    """A text as it is read."""
    return "".join(text_of(text) for _, text in runs)


def text_of(text: str | NumberLink) -> str:
    """The text of a run."""
    return text.text if isinstance(text, NumberLink) else text


def _given_cells(question: Question) -> list[GapsCell]:
    return [cell for row in question.rows for cell in row.cells if not cell.gap] if isinstance(question, Gaps) else []
