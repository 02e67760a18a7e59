"""The sheet read back: every cell, header, sum and count that stands on it, or is heard, is what the arrays say.

One page of a pass is mounted, and each page of its sheet is read on it.
"""

import numpy as np
import pytest
from documents import fitted_at
from numerals import short
from readback import axis_between, go, lines, number, numerals, titled, written

from attnviz.core.numerals import digits
from attnviz.core.operations.norms import LayerNorm

pytestmark = pytest.mark.browser

FORTY = (
    "When the old sailor came home from the sea he told the children in the village about a storm that had broken the "
    "mast of his ship and how the crew had rowed for three days without any water to drink"
)
TWO = {"sentence": "the cat sat", "context": "le chat noir dort", "heads": "2", "changes": "q[1,2,0]=2.5"}
PASSES = {
    "forty words": (
        {"sentence": FORTY, "d_model": "64", "heads": "2", "mask": "causal"},
        {"head": 1, "query": 31, "key": 24, "feature": 3, "dimension": 5},
    ),
    "two sentences": (TWO, {"head": 1, "query": 2, "key": 3, "feature": 1, "dimension": 2}),
    "two layers": ({"model": "recall"}, {}),
    "norms and neurons": ({"model": "microgpt", "sentence": "eliza"}, {"head": 2, "query": 4, "key": 2}),
}
"""Each settings, and what is selected besides what a pass opens with."""
ARRAYS = ("exp(score − max)", "squares")
"""Rows that no stage holds."""
PAGES = """() => {
  const steps = given.steps.filter(({ bands }) => bands.length);
  const last = [...new Map(steps.map(({ page, id }) => [page, id])).values()].map((step) => ({ step }));
  const isProduct = ({ right, factors }, place) => (factors && place === 0) || (right && right.columns === null);
  return [...last, ...steps.filter(({ bands }) => bands.some(isProduct)).map(({ id }) => ({ step: id, reveal: 0 }))];
}"""
"""Where to look: the last step of each page, which has all of it, and where products are written out."""


class Part:
    """Lines of the sheet that belong to each other: those of a matrix, or one row alone."""

    def __init__(self, fitted, group, below, selected):
        trace, self.query = fitted.trace, selected["query"]
        self.original = fitted.original
        self.trace, self.own = trace, [line for line in group if line.cells[0].name or line.label in ARRAYS]
        self.others = [line for line in group if line not in self.own]
        named = self.own if self.own[0].cells[0].name else below
        cells = [cell for cell in named[0].cells if cell.name]
        self.name, self.along = cells[0].name, axis_between(*cells[:2])
        self.columns = [cell.index[self.along] for cell in cells]
        self.across = axis_between(named[0].cells[0], named[-1].cells[0], but=self.along) if len(named) > 1 else None
        self.labels = trace.axes(self.name)[self.along].labels
        self.rest = [place for place in range(len(self.labels)) if place not in self.columns]
        self.place = cells[0].index

    def row(self, line):
        """All numbers of a line, those included that have no column."""
        index = list(line.cells[0].index or self.place)
        index[self.along] = slice(None)
        if line.cells[0].name:
            return self.trace[self.name].value[tuple(index)]
        stage = self.trace[self.name]
        read = self.trace[stage.inputs[0]].value[tuple(index)]
        if line.label == "squares":
            return (read - read.mean() * isinstance(stage.operation, LayerNorm)) ** 2
        return np.exp(read - read.max())

    def shares(self):
        """The shares in which the values of a part are taken."""
        attention = self.trace.layer_of(self.name).names["attention"]
        return self.trace[attention].value[self.place[0], self.query]

    def check(self, selected):
        for line in self.own:
            self.check_line(line, selected)
            self.check_ends(line)
        if self.across is not None:
            self.check_places()
        for line in self.others:
            self.check_together(line)

    def check_line(self, line, selected):
        """Each number is that of its address and stands under the name of its place; and what stands for the others."""
        numbers, axis = self.row(line), self.trace.axes(self.name)[self.along]
        for cell, place, column in zip(line.cells, self.columns, line.names, strict=False):
            assert column == self.labels[place]
            assert cell.text == written(numbers[place])
            said = (
                titled(self.trace, cell.name, cell.index) if cell.name else f"{line.label} = {digits(numbers[place])}"
            )
            assert cell.heard.endswith(said)
            old = self.original[cell.name].value[cell.index] if cell.name else numbers[place]
            assert cell.was == (short(old) if old != numbers[place] else "")
            if axis.coordinates[0][0] in ("key", "answer"):
                assert ("chosen" in cell.kind.split()) == (place == selected[axis.coordinates[0][0]])
        if len(line.names) == len(self.columns):
            assert numerals(line.missing) == [str(len(self.rest))] * bool(self.rest)
        else:
            assert line.names[len(self.columns) :] == [f"other {len(self.rest)}"]
            text, heard = self.rest_text(line, numbers[self.rest])
            assert line.cells[-1].text == text
            assert numerals(line.cells[-1].heard) == [str(len(self.rest)) for _ in heard[:1]] + list(map(digits, heard))

    def rest_text(self, line, numbers):
        """What stands for the words without a column, and the numbers that are heard of them."""
        if line.before:
            return "", []  # keys: their products stand there
        if not line.cells[0].name or self.name.startswith("attention"):
            return short(numbers.sum()), [numbers.sum()]
        if self.name.startswith("v"):
            shares = self.shares()[self.rest]
            mean = shares @ numbers / shares.sum()
            return short(mean), [mean]
        return f"{written(numbers.min())} to {written(numbers.max())}", [numbers.min(), numbers.max()]

    def check_ends(self, line):
        """What stands before a row and at its right is a number of the pass, under the name of its place."""
        if line.sum:
            assert line.sum == f"sum {short(self.row(line).sum())}"
        for each in filter(None, [line.before, *line.after]):
            if each.kind == "to-come":
                assert each.text == each.heard == ""
                continue
            assert each.text == written(self.trace[each.name].value[each.index])
            assert each.heard.endswith(titled(self.trace, each.name, each.index))
        assert [numerals(end) for end in line.ends] == [[str(each.index[-1] + 1)] for each in line.after if line.ends]
        assert [each.index for each in line.after] == sorted(each.index for each in line.after)

    def check_places(self):
        """A row is called by its place, and what stands beside it is of that place."""
        axis = self.trace.axes(self.name)[self.across]
        for line in self.own:
            row = line.cells[0].index[self.across]
            places = [n + 1 for n in axis.coordinates_at(row).values()]
            assert numerals(line.label) == list(map(str, places))
            if line.before:
                assert line.before.index[-1] == row
            for each in (cell for cell in line.after if cell.name):
                assert each.index[0 if axis.name == "head" else -1] == row

    def check_together(self, line):
        """The rows that are not there: how many they are, and what their products add up to, each column by itself."""
        shown = [each.cells[0].index[self.across] for each in self.own]
        others = [row for row in range(self.trace[self.name].shape[self.across]) if row not in shown]
        left = self.own[0].before
        assert numerals(line.before.text if left else line.label) == [str(len(others))]
        if not left:
            return
        factors = self.trace[left.name].value[left.index[:-1]]
        sums = [sum(factors[row] * self.at(row, column) for row in others) for column in range(len(self.labels))]
        expected = [sums[place] for place in self.columns]
        if len(line.names) > len(self.columns):
            expected.append(sum(sums[place] for place in self.rest))
        assert [cell.text for cell in line.cells] == list(map(short, expected))
        assert [numerals(cell.heard) for cell in line.cells] == [[str(len(others)), digits(each)] for each in expected]

    def at(self, row, column):
        index = list(self.place)
        index[self.across], index[self.along] = row, column
        return self.trace[self.name].value[tuple(index)]

    def products(self):
        """What is multiplied under the selected column, row by row, and for all rows what the products add up to."""
        (column,) = {
            cell.index[self.along] for line in self.own for cell in line.cells if "chosen" in cell.kind.split()
        }
        left = self.own[0].before
        rows = range(self.trace[self.name].shape[self.across])
        one = self.trace[left.name].value[left.index[:-1]] if left else [self.shares()[column]] * len(rows)
        pairs = {row: (one[row], self.at(row, column)) for row in rows}
        return [pairs.pop(line.cells[0].index[self.across]) for line in self.own], list(pairs.values())


def parts_of(fitted, found, selected):
    """The parts of the sheet that are there, from top to bottom."""
    groups = []
    for line in found:
        groups += [[]] if "first" in line.kind.split() else []
        groups[-1].append(line)
    groups = [group for group in groups if any(cell.text for cell in group[0].cells)]
    return [Part(fitted, group, below, selected) for group, below in zip(groups, [*groups[1:], None], strict=True)]


def check_products(part, texts):
    """What is written beside rows: both factors and their product; of the rows that aren't there, their sum."""
    alone, others = part.products()
    # a note on a number that was set by hand names its cell
    found = [[number(each) for each in numerals(text)] for text in texts if not text.endswith("set by hand.")]
    expected = [[one, other, one * other] for one, other in alone]
    if others and part.own[0].before:
        expected.append([len(others), sum(one * other for one, other in others)])
    assert [each for each in found if each] == [pytest.approx(each, abs=0.006) for each in expected]


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
def test_all_that_stands_on_the_sheet_or_is_heard_is_what_the_arrays_say(opened, name):
    settings, chosen = PASSES[name]
    fitted, page = fitted_at(settings), opened("?view=sheet", **settings)
    selected = page.evaluate("given.where.cell") | chosen
    for place in page.evaluate(PAGES):
        go(page, cell=selected, **place)
        parts = parts_of(fitted, lines(page), selected)
        for part in parts:
            part.check(selected)
        if "reveal" in place:
            check_products(parts[-1], page.locator(".products span").all_inner_texts())
