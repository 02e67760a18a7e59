"""Two passes read back: what is called A's is A's, and B's is B's, in cells, notes, sides, titles and arcs."""

import re
from itertools import product

import numpy as np
import pytest
from documents import fitted_at
from numerals import short
from readback import axis_between, go, lines, number, numerals, titled, written

from attnviz.core.numerals import digits
from attnviz.explain.steps import steps_of
from attnviz.scene.with_pass import resolve

pytestmark = pytest.mark.browser

CAT, SHUFFLED = "the cat sat on the mat", "mat the dog the cat on"
SIZES = {"d_model": "16", "heads": "2"}
PAIRS = {
    "masks": (SIZES | {"sentence": CAT, "mask": "causal", "beside": "mask="}, ["sat"], "Mask", ("none", "causal")),
    "a number set": (
        SIZES | {"sentence": CAT, "changes": "q[0,2,0]=3", "beside": "changes="},
        ["sat", "cat"],
        "Set by hand",
        ("nothing", "q[head 1, sat, 1] = 3"),
    ),
    "other words": (
        SIZES | {"sentence": SHUFFLED, "positions": "sinusoidal", "beside": f"sentence={CAT}"},
        ["cat", "dog"],
        "Sentence",
        (f"“{CAT}”", f"“{SHUFFLED}”"),
    ),
    "another context": (
        SIZES | {"sentence": CAT, "context": "der Hund bellt", "beside": "context=le chat noir"},
        ["sat"],
        "Context",
        ("“le chat noir”", "“der Hund bellt”"),
    ),
}
"""What differs: the settings of both, the words that ask, the name of what differs, and what it is in A and in B."""


ABOVE, BELOW = ".thread .spoken + .arcs", ".thread .words ~ .arcs"
ARCS = """(all) => all.map((arc) =>
  [arc.dataset.arc, parseFloat(arc.firstChild.style.getPropertyValue("--thick"))])"""


def alike(one, other):
    """Whether two numbers are the same but for rounding."""
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
        groups = []
        for line in found:
            groups += [[]] if "first" in line.kind.split() else []
            groups[-1].append(line)
        parts, at, parted = [], 0, False
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


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_on_the_sheet_of_two_passes_each_number_and_each_note_is_that_of_the_pass_it_names(opened, name):
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


@pytest.mark.slow
def test_at_first_the_arcs_and_what_is_said_of_a_number_are_those_of_the_pass_they_name(opened):
    settings, _, what, between = PAIRS["masks"]
    pair, page = Pair(settings, "sat"), opened("?view=sheet", **settings)
    cell = page.evaluate("given.where.cell") | {"head": 1, "query": 2, "key": 4}
    go(page, step="question", cell=cell)
    named = page.locator(".thread .purpose").all_inner_texts()
    for side, value, drawing in zip("BA", reversed(between), (ABOVE, BELOW), strict=True):
        shares = pair.traces[side]["attention"].value[1, 2]
        assert f"{side} {what}: {value}" in named
        arcs = page.locator(f"{drawing} g").evaluate_all(ARCS)
        thick = {f"2-{key}": share for key, share in enumerate(shares) if share}
        assert dict(arcs) == pytest.approx({arc: 13 * share for arc, share in thick.items()}, abs=0.006)
    tops = [page.locator(each).bounding_box()["y"] for each in (ABOVE, BELOW)]
    names = [page.locator(".thread .purpose", has_text=each).bounding_box()["y"] for each in named]
    assert named[0].startswith("B")
    assert (tops, names) == (sorted(tops), sorted(names))

    for key in (1, 4):
        go(page, view="matrices", step="mask", cell=cell | {"key": key}, picked="mask")
        seen = ["visible" if pair.traces[side]["mask"].value[2, key] else "hidden" for side in "AB"]
        assert page.locator(".panel .beside").inner_text().split() == ["A", seen[0], "B", seen[1]]
        go(page, step="softmax", cell=cell | {"key": key}, picked="attention")
        one, other = (pair.traces[side]["attention"].value[1, 2, key] for side in "AB")
        said = page.locator(".panel .beside").inner_text()
        assert numerals(said) == list(map(digits, [one, other, other - one]))
        assert re.search(r"A\s[^AB]+ B\s[^AB]+B − A =", said.replace("\n", " "))


DISTANCES = """(all) => all.map((each) => {
  const bar = each.querySelector(".distance");
  return [each.dataset.step, bar?.title ?? "", bar?.textContent ?? "", bar?.classList.contains("first") ?? false];
})"""


def test_each_step_of_the_map_says_how_far_apart_the_stage_is_that_differs_most(opened):
    settings = SIZES | {"sentence": CAT, "changes": "v[0,2,0]=3", "beside": "changes="}
    pair, differing = Pair(settings, "sat"), {}
    for id_, title, sign, is_first in opened("", **settings).locator(".map [data-step]").evaluate_all(DISTANCES):
        stages = next(each.stages for each in steps_of(pair.traces["B"]) if each.id == id_)
        apart = [
            (sum(not alike(*both) for both in zip(*numbers, strict=True)), len(numbers[0]))
            for numbers in ([pair.traces[side][name].value.ravel().tolist() for side in "AB"] for name in stages)
        ]
        if not apart:
            assert not title
            continue
        n, of = max(apart, key=lambda each: each[0] / each[1])
        differing[id_] = n > 0, is_first
        assert sign == ("≠" if n else "=")
        assert numerals(title)[:2] == ([str(n), str(of)] if n else []), (id_, title)
    assert list(differing.values()).index((True, True)) == [n for n, _ in differing.values()].index(True)
    assert sum(is_first for _, is_first in differing.values()) == 1
