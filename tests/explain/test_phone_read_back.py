"""The sheet on a phone read back: counts, ranges, headings, marks and workings are what the arrays say."""

import re

import numpy as np
import pytest
from documents import fitted_at
from numerals import short
from readback import go, number, numerals, written
from tab import resized

pytestmark = pytest.mark.browser

FORTY = (
    "When the old sailor came home from the sea he told the children in the village about a storm that had broken the "
    "mast of his ship and how the crew had rowed for three days without any water to drink"
)
LONG = {"sentence": FORTY, "d_model": "64", "heads": "2", "mask": "causal"}
PASSES = {
    "forty words": (LONG, {"head": 1, "query": 31, "key": 24, "feature": 3}),
    "an answer": ({"model": "who-is-it"}, {}),
    "letters": ({"model": "microgpt", "sentence": "eliza"}, {"head": 2, "query": 4, "key": 2}),
}
STAGES = {
    "score": "scores",
    "÷ √32": "scaled",
    "÷ √4": "scaled",
    "masked": "masked",
    "exp": "#exp",
    "attention weight": "attention",
}
"""What a column is called, and the stage of its numbers."""
PAGES = """[...new Map(given.steps.filter(({ bands }) => bands.length).map(({ page, id }) => [page, id])).values()]"""
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


def tables(page, kind, within=".hand"):
    """The tables of a kind: what each is called, and its rows of [text, address, classes, pressed]."""
    return [(called, rows) for of, called, rows in page.locator(within).evaluate(TABLES) if of == kind]


def opened_at(opened, name):
    settings, chosen = PASSES[name]
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


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
def test_on_a_phone_each_count_range_heading_and_mark_is_what_the_arrays_say(opened, name):
    page, trace, cell = opened_at(opened, name)
    for step in page.evaluate(PAGES):
        go(page, step=step, cell=cell)
        if tables(page, "rows"):
            asking = page.locator(".hand .who strong")
            assert asking.all_inner_texts() in ([], [f"“{trace.labels['query'][cell['query']]}”"])
        for called, rows in tables(page, "places"):
            check_vector(trace, called, rows)
        for _, rows in tables(page, "rows"):
            check_words(trace, rows, cell, "answer" if rows[0][0][0] == "answer" else "key")


@pytest.mark.slow
def test_on_a_phone_a_working_has_its_columns_and_adds_up(opened):
    page, trace, cell = opened_at(opened, "forty words")
    head, query, key = cell["head"], cell["query"], cell["key"]
    q, k, v = trace["q"].value[head, query], trace["k"].value[head, key], trace["v"].value[head, key]
    go(page, step="weighted-sum", cell=cell)
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
    page = opened("?view=sheet", **LONG, beside="mask=")
    resized(page, 390, 844)
    go(page, step="weighted-sum", cell=cell)
    share = trace["attention"].value[head, query, key]
    page.locator(f'.hand button[data-act="attention @0,{key}"]').click()
    ((_, rows),) = tables(page, "factors")
    names, *lines = [[text for text, *_ in row] for row in rows]
    assert names[1:] == ["share", "value", "product"]
    assert [int(place) for place, *_ in lines] == list(range(1, len(v) + 1))
    for each, (_, *numbers) in zip(v, lines, strict=True):
        assert list(map(number, numbers)) == pytest.approx([share, each, share * each], abs=6e-5)
    unmasked = fitted_at(LONG | {"mask": "none"}).trace["attention"].value[head, query, key]
    both = page.locator(".workings .in-both").inner_text()
    assert list(map(number, numerals(both))) == pytest.approx([unmasked, share, share - unmasked], abs=6e-5)
