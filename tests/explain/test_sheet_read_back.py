"""The sheet read back, of one pass, on a phone, and of two: what stands there or is heard is what the arrays say."""

import json
import re
from itertools import product

import numpy as np
import pytest
from documents import fitted_at
from page import ROOT
from readback import axis_between, go, lines, number, numerals, titled, written
from tab import resized

from attnviz.core.numerals import digits, short
from attnviz.core.operations.norms import LayerNorm
from attnviz.scene.with_pass import resolve

RECORDED = json.loads((ROOT / "tests/data/read_back_sheets.json").read_text("utf-8"))
PASSES, PHONE_PASSES, PAIRS = RECORDED["sheet"], RECORDED["phone"], RECORDED["pairs"]
"""Of a pass its settings, and what is selected besides what it opens with; of a pair its settings, the words that ask,
the name of what differs, and what it is in A and in B."""
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
            assert column.removeprefix("dim ") == self.labels[place]
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


def groups_of(found):
    """The lines that belong to each other: a group begins with a line of the class `first`."""
    groups = []
    for line in found:
        groups += [[]] if "first" in line.kind.split() else []
        groups[-1].append(line)
    return groups


def parts_of(fitted, found, selected):
    groups = [group for group in groups_of(found) if any(cell.text for cell in group[0].cells)]
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


@pytest.mark.parametrize("name", PASSES)
def test_sheet_matches_the_arrays(opened, name):
    settings, chosen = PASSES[name]
    fitted, page = fitted_at(settings), opened("?view=sheet", **settings)
    selected = page.evaluate("given.where.cell") | chosen
    for place in page.evaluate(PAGES):
        go(page, cell=selected, **place)
        parts = parts_of(fitted, lines(page), selected)
        for part in parts:
            part.check(selected)
        if "reveal" in place and (written := page.locator(".products span").all_inner_texts()):
            check_products(parts[-1], written)


STAGES = {
    "score": "scores",
    "÷ √32": "scaled",
    "÷ √4": "scaled",
    "masked": "masked",
    "exp": "#exp",
    "attention weight": "attention",
}
"""What a column is called, and the stage of its numbers."""
PHONE_PAGES = (
    """[...new Map(given.steps.filter(({ bands }) => bands.length).map(({ page, id }) => [page, id])).values()]"""
)
"""The last step of each page of the sheet, which has all of it."""
TABLES = """(hand) => {
  const read = (cell) => {
    const act = cell.querySelector("button"), { textContent, className } = cell;
    return [textContent, act?.dataset.cell ?? "", className.split(" "), act?.ariaPressed ?? ""];
  };
  const rows = (table) => [...table.rows].map((row) => [...row.cells].map(read));
  const called = ({ caption }) => caption?.textContent ?? "";
  return [...hand.querySelectorAll("table")].map((each) => [each.className, called(each), rows(each)]);
}"""


def tables(page, kind):
    """The tables of a kind: what each is called, and its rows of [text, address, classes, pressed]."""
    return [(called, rows) for of, called, rows in page.locator(".hand").evaluate(TABLES) if of == kind]


def opened_at(opened, name):
    settings, chosen = PHONE_PASSES[name]
    page = opened("?view=sheet", **settings)
    resized(page, 390, 844)
    return page, fitted_at(settings).trace, page.evaluate("given.where.cell") | chosen


def address(text):
    name, places = re.fullmatch(r"(\w+)\[([\d,]+)\]", text).groups()
    return name, tuple(map(int, places.split(",")))


def check_vector(trace, called, rows):
    """Each line names the places in it, the caption how many are missing, and a head whom it looks at most."""
    found = []
    for (name, *_), *cells in rows:
        places = [address(cell)[1][-1] for _, cell, *_ in cells]
        bounds = numerals(name)
        labels = [str(place + 1) for place in places]
        is_run = len(places) > 1 and places == list(range(places[0], places[-1] + 1))
        assert bounds == ([labels[0], labels[-1]] if is_run else labels), (name, places)
        for text, cell, *_ in cells:
            stage, index = address(cell)
            assert text == written(row_of(trace, stage, index, called)[0][index[-1]])
            found.append(index[-1])
    missing = trace[stage].shape[-1] - len(found)
    assert numerals(called.partition(":")[2]) == [str(missing)] * bool(missing)
    if looks := re.match(r"head (\d+), most from “(.+?)”", called):
        head, query = index[:2]
        assert int(looks[1]) == head + 1
        row = trace[trace.layer_of(stage).names["attention"]].value[head, query]
        assert row[trace.labels["key"].index(looks[2])] == row.max()


def check_words(trace, rows, cell, axis):
    """Each column is its heading's, each row its word's; which word asks; and what stands for the others."""
    (_, *headings), *lines = rows
    labels = trace.labels["key"] if axis == "key" else trace.axes("logits")[1].labels
    of_words = [line for line in lines if line[0][0] in labels]
    there = [labels.index(label) for (label, *_), *_ in of_words]
    for place, ((_, _, marks, pressed), *_) in zip(there, of_words, strict=True):
        is_asking = axis == "key" and place == cell["query"]
        assert ("asks" in marks) == is_asking
        assert (pressed == "true") == (is_asking if axis == "key" else place == cell[axis])
        assert ("chosen" in marks) == (place == cell[axis])
    others = [place for place in range(len(labels)) if place not in there]
    rest = [line for line in lines if line[0][0].startswith("other")]
    assert [numerals(name) for (name, *_), *_ in rest] == [[str(len(others))]] * bool(others)
    for column, (heading, *_) in enumerate(headings, start=1):
        name, index = address(of_words[0][column][1])
        row, of = row_of(trace, name, index, heading)
        assert of in (name, "#exp")
        assert index[-2] == cell["query"]
        is_sum = of in ("#exp", "attention", "probabilities")
        for place, line in zip(there, of_words, strict=True):
            assert line[column][:2] == [written(row[place]), f"{name}[{','.join(map(str, (*index[:-1], place)))}]"]
        for line in rest:
            ends = [written(row[others].min()), written(row[others].max())]
            assert line[column][0] == (short(row[others].sum()) if is_sum else " to ".join(ends))
        for line in lines:
            if line[0][0] == "sum":
                assert line[column][0] == (short(row.sum()) if is_sum else "")


def row_of(trace, name, index, heading):
    """The numbers of a column, and their stage; what is exponentiated is none of a stage."""
    row = trace[name].value[index[:-1]]
    if heading == "squares":
        return trace[trace[name].inputs[0]].value[index[:-1]] ** 2, "#square"
    if heading == "exp":
        read = trace[trace[name].inputs[0]].value[index[:-1]]
        return np.exp(read - read.max()), "#exp"
    return row, STAGES.get(heading, name)


@pytest.mark.parametrize("name", PHONE_PASSES)
def test_phone_sheet_matches_the_arrays(opened, name):
    page, trace, cell = opened_at(opened, name)
    for step in page.evaluate(PHONE_PAGES):
        go(page, step=step, cell=cell)
        if tables(page, "rows"):
            asking = page.locator(".hand .who strong")
            assert asking.all_inner_texts() in ([], [f"“{trace.labels['query'][cell['query']]}”"])
        for called, rows in tables(page, "places"):
            check_vector(trace, called, rows)
        for _, rows in tables(page, "rows"):
            check_words(trace, rows, cell, "answer" if rows[0][0][0] == "answer" else "key")


def test_phone_workings_add_up(opened):
    page, trace, cell = opened_at(opened, "forty words")
    head, query, key = cell["head"], cell["query"], cell["key"]
    q, k = trace["q"].value[head, query], trace["k"].value[head, key]
    go(page, step="softmax", cell=cell)
    page.locator(f'.hand button[data-cell="scores[{head},{query},{key}]"]').click()
    ((_, rows),) = tables(page, "factors")
    names, *lines, others, total = [[text for text, *_ in row] for row in rows]
    assert names[1:] == ["query", "key", "product"]
    shown = [int(numerals(place)[0]) - 1 for place, *_ in lines]
    for place, (_, *numbers) in zip(shown, lines, strict=True):
        assert list(map(number, numbers)) == pytest.approx([q[place], k[place], q[place] * k[place]], abs=6e-5)
    rest = [place for place in range(len(q)) if place not in shown]
    assert numerals(others[0]) == [str(len(rest))]
    assert number(others[-1]) == pytest.approx((q * k)[rest].sum(), abs=6e-5)
    assert number(total[-1]) == pytest.approx(q @ k, abs=6e-5)
    assert min(abs((q * k)[shown])) >= max(abs((q * k)[rest]))

    assert page.locator(".workings .in-both").count() == 0
    page = opened("?view=sheet", **PHONE_PASSES["forty words"][0], beside="mask=")
    resized(page, 390, 844)
    go(page, step="weighted-sum", cell=cell)
    share = trace["attention"].value[head, query, key]
    page.locator(f'.hand button[data-act="attention @0,{key}"]').click()
    unmasked = fitted_at(PHONE_PASSES["forty words"][0] | {"mask": "none"}).trace["attention"].value[head, query, key]
    both = page.locator(".workings .in-both").inner_text()
    assert list(map(number, numerals(both))) == pytest.approx([unmasked, share, share - unmasked], abs=6e-5)


def alike(one, other):
    return one == other or bool(np.isfinite([one, other]).all() and abs(one - other) <= 1e-12)


class Side:
    """The lines of a part that are of one pass, A or B, and the numbers of that pass that belong there."""

    def __init__(self, trace, group, selected):
        self.trace, self.group, self.first = trace, group, group[0]
        named = next((line for line in group if line.cells[0].name), None)
        if named:
            cells = [cell for cell in named.cells if cell.name]
            self.name, self.place = cells[0].name, list(cells[0].index)
            self.along = axis_between(*cells[:2])
            rows = [line.cells[0] for line in group if line.cells[0].name]
            self.across = axis_between(rows[0], rows[-1], but=self.along) if len(rows) > 1 else None
            self.values = trace[self.name].value
        else:
            scores = trace["masked" if "masked" in trace else "scaled"].value
            self.name, self.along, self.across = "attention", 2, None
            self.place = [selected["head"], trace.labels["query"].index(selected["word"]), 0]
            self.values = np.exp(scores - scores.max(axis=-1, keepdims=True))
        self.labels = list(trace.axes(self.name)[self.along].labels)
        self.rows = range(self.values.shape[self.across]) if self.across is not None else [None]

    def at(self, row, column):
        """The number in a row under a word or place, by its name; None where the pass has no such word."""
        if column not in self.labels:
            return None
        index = list(self.place)
        index[self.along] = self.labels.index(column)
        if row is not None:
            index[self.across] = row
        return float(self.values[tuple(index)])

    def row_of(self, line):
        """Which row of a matrix a line is; None of one that stands alone, and of what stands for others."""
        return line.cells[0].index[self.across] if line.cells[0].name and self.across is not None else None

    def left(self):
        """What its rows are multiplied by."""
        before = self.first.before
        return self.trace[before.name].value[before.index[:-1]] if before else np.zeros(0)

    def check(self):
        for line in self.group:
            named = line.cells[0].name or self.across is None
            shown = [self.row_of(each) for each in self.group]
            rows = [row for row in self.rows if row not in shown] if not named else []
            for cell, column in zip(line.cells, line.names, strict=False):
                if column not in self.labels:
                    assert (cell.kind.split()[0], cell.text, cell.heard) == ("blank", "", "")
                elif cell.name:
                    value = self.at(self.row_of(line), column)
                    assert cell.text == written(value)
                    assert cell.heard.endswith(titled(self.trace, cell.name, cell.index, value))
                elif named:
                    assert cell.text == short(self.at(None, column))
                elif self.first.before:
                    total = sum(self.left()[row] * self.at(row, column) for row in rows)
                    assert (cell.text, numerals(cell.heard)) == (short(total), [str(len(rows)), digits(total)])
            if line.before and line.before.name:
                assert line.before.text == short(self.left()[self.row_of(line)])
            if line.sum:
                total = sum(self.at(None, column) for column in self.labels)
                assert line.sum == f"sum {short(total)}"


class Pair:
    """Pass A and pass B on one sheet, where a word asks."""

    def __init__(self, settings, word):
        b = fitted_at(settings)
        self.word, self.traces = word, {"A": resolve(b.scene.other).trace, "B": b.trace}
        self.selected = {"head": 0, "word": word}

    def is_same(self, name):
        """Whether a stage holds the same numbers in both, word by word."""
        a, b = (self.traces[side] for side in "AB")
        own, there = [], []
        for of_a, of_b in zip(a.axes(name), b.axes(name), strict=True):
            both = [label for label in of_b.labels if label in of_a.labels]
            own.append([of_b.labels.index(label) for label in both])
            there.append([of_a.labels.index(label) for label in both])
        pairs = zip(a[name].value[np.ix_(*there)].flat, b[name].value[np.ix_(*own)].flat, strict=True)
        return all(alike(one, other) for one, other in pairs)

    def check(self, found):
        groups, parts, at, parted = groups_of(found), [], 0, False
        while at < len(groups):
            is_both = "side-A" in groups[at][0].kind.split()
            parts.append(groups[at : at + 1 + is_both])
            at += 1 + is_both
        for part in parts:
            parted = self.check_part(part, parted)
        return parts

    def check_part(self, part, parted):
        """A part says what is the same, and stands twice where nothing is; whether the passes parted by then."""
        groups = zip("AB" if len(part) == 2 else "B", part, strict=True)
        sides = {side: Side(self.traces[side], group, self.selected) for side, group in groups}
        for side, own in sides.items():
            own.check()
            if len(part) == 2 or "side-B" in own.first.kind.split():
                assert own.first.label.startswith(side) or own.first.before
        b = sides["B"]
        said, columns, name = part[-1][0].said, part[0][0].names, b.name
        head = part[0][0].said
        if not set(columns) & set(self.traces["A"].axes(name)[b.along].labels):
            assert len(part) == 1
            assert "A has other words" in said
        elif len(part) == 2:
            self.check_apart(sides, columns, said)
        else:
            ends = part[0][0].ends
            if ends[:1] == ["A"]:
                self.check_sums(part[0], ends)
                assert "added up in other shares" in said
            else:
                assert ("same in both" in said) == self.is_same(name)
                assert ("same for this word" in said) != self.is_same(name)
        is_same = len(part) == 1 and ("same in both" in said or "same for this word" in said)
        assert ("here they part" in head) == (not is_same and not parted)
        return parted or not is_same

    def check_apart(self, sides, columns, said):
        """What is said of how far two parts are apart is so of their numbers."""
        a, b = sides["A"], sides["B"]
        pairs = [(a.at(row, column), b.at(row, column)) for row, column in product(b.rows, columns)]
        pairs = [(one, other) for one, other in pairs if one is not None]
        others = [(one, other) for one, other in pairs if not alike(one, other)]
        if "times other numbers" in said:
            assert not others
            assert not np.allclose(a.left(), b.left())
            return
        finite = [abs(other - one) for one, other in others if np.isfinite(other - one)]
        hidden = len(others) - len(finite)
        expected = [len(others), len(pairs), *([hidden] if hidden else []), *([max(finite)] if finite else [])]
        assert [number(each) for each in numerals(said)] == pytest.approx(expected, abs=6e-5, rel=6e-3)
        assert re.match(r"\d+ of \d+ differ", said)
        assert ("hidden in one" in said) == bool(hidden)
        for side, own in sides.items():
            for cell, column in zip(own.first.cells, own.first.names, strict=True):
                one, other = (each.at(b.rows[0], column) for each in (a, b))
                if one is not None and "apart" in cell.kind.split():
                    assert not alike(one, other), (side, column)

    def check_sums(self, group, ends):
        """The same values, added up in A's shares and in B's: each sum is that of the pass above it."""
        assert ends == ["A", "B"]
        for line in group:
            if not line.cells[0].name:
                continue
            for side, cell in zip(ends, line.after, strict=True):
                trace = self.traces[side]
                place = [cell.index[0], trace.labels["query"].index(self.word), cell.index[2]]
                assert cell.text == short(trace[cell.name].value[tuple(place)])
        found = [trace["heads"].value[0, trace.labels["query"].index(self.word)] for trace in self.traces.values()]
        assert not np.allclose(*found)


@pytest.mark.parametrize("name", PAIRS)
def test_sheet_of_a_pair_matches_both_passes(opened, name):
    settings, words, what, between = PAIRS[name]
    page = opened("?view=sheet", **settings)
    for word in words:
        pair = Pair(settings, word)
        query = pair.traces["B"].labels["query"].index(word)
        cell = page.evaluate("given.where.cell") | {"head": 0, "query": query, "key": 1, "feature": 0, "dimension": 0}
        parted = page.locator(".pairing .parted")
        for step in ("weighted-sum", "output"):
            go(page, step=step, cell=cell)
            if word in pair.traces["A"].labels["query"]:
                assert f"“{word}”" not in parted.inner_text()
                assert pair.check(lines(page))
            else:
                assert re.search(f"A has no “{word}”", parted.inner_text())
        assert page.locator(".pairing .sides").get_attribute("title") == f"{what}: {between[1]} instead of {between[0]}"
        sides = dict(re.findall(r"\b([AB]) (.+?)(?= [AB] |$)", page.locator(".pairing .sides").inner_text()))
        if what != "Sentence":
            assert sides == {side: f"{what}: {each}" for side, each in zip("AB", between, strict=True)}
