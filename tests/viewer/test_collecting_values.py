"""The picture of what a head collects: its strips and sums are those of the pass, in motion or not."""

import re

import numpy as np
import pytest
from alone import moving, sent, show
from documents import fitted_at
from page import SENTENCE
from tab import becomes

from attnviz.core.numerals import short

PASSES = [
    {"layers": "2", "heads": "4", "sharing": "pairs"},
    {"sentence": "he saw her", "context": "the cat sat on it", "heads": "2"},
]
HEIGHTS = "(svg) => [...svg.querySelectorAll('.hold')].map((line) => line.getAttribute('y2') - line.getAttribute('y1'))"
SUMS = """(svg) => Object.fromEntries([...svg.querySelectorAll(".cell:has(.sum)")]
  .map((cell) => [cell.dataset.cell, cell.textContent]))"""
DRAWN = "(box) => box.outerHTML.replaceAll(/ (class|style)=\"\"/g, '')"


def collecting(page):
    return page.locator(".collecting")


def at_rest(page):
    becomes(page, lambda: collecting(page).locator("svg").evaluate("(svg) => svg.classList.contains('moving')"), False)
    becomes(page, lambda: "" in collecting(page).locator(".sum").all_text_contents(), False)
    return collecting(page).locator("svg")


def sums_are(page, trace, name):
    shown = at_rest(page).evaluate(SUMS)
    read = {each: tuple(map(int, re.fullmatch(rf"{name}\[(.*)\]", each)[1].split(","))) for each in shown}
    assert shown == {each: short(trace[name].value[index]) for each, index in read.items()}
    assert shown


@pytest.mark.parametrize("settings", PASSES, ids=str)
def test_strips_are_the_weights_and_columns_add_up(opened, settings):
    trace = fitted_at({"sentence": SENTENCE} | settings).trace
    layer = "_2" if "layers" in settings else ""
    page = opened(f"?view=sheet&step=weighted-sum{layer.replace('_', '-')}&cell=2.2.1.1.1", **settings)
    weights = trace[f"attention{layer}"].value[1, 1]
    heights = np.array(at_rest(page).evaluate(HEIGHTS))
    seen = weights >= 0.01
    if (~seen).sum() < 2:
        seen[:] = True
    expected = [*weights[seen], *([weights[~seen].sum()] if not seen.all() else [])]
    assert np.allclose(heights / heights.sum(), expected, atol=1e-3)
    sums_are(page, trace, f"heads{layer}")


def test_values_are_multiplied_by_their_weights(opened):
    page = opened("?view=sheet&step=weighted-sum&cell=1.2.1.1.1", heads="2")
    trace = fitted_at({"sentence": SENTENCE, "heads": "2"}).trace
    values, weights = trace["v"].value[0], trace["attention"].value[0, 1]
    for phase, factors in (("values", np.ones(len(weights))), ("stack", weights)):
        page.get_by_role("radio", name=phase).or_(page.get_by_role("button", name=phase)).click()
        expected = {short(number) for number in (factors[:, None] * values).ravel()}
        cells = collecting(page).locator(".cell[data-cell^=v] text")
        becomes(page, lambda: {"", *cells.all_text_contents()} - {"", *expected}, set())  # noqa: B023
        assert set(cells.all_text_contents()) - {""}


def test_strips_add_up_to_the_output(opened):
    heads = "4"
    page = opened("?view=sheet&step=output&cell=1.2.1.1.1", heads=heads)
    sums_are(page, fitted_at({"sentence": SENTENCE, "heads": heads}).trace, "output")


def test_rows_of_w_o_are_multiplied_by_the_only_head_s_numbers(opened):
    page = opened("?view=sheet&step=output&cell=1.2.1.1.1", heads="1")
    trace = fitted_at({"sentence": SENTENCE, "heads": "1"}).trace
    rows, found = trace["w_o"].value, trace["concat"].value[1]
    for phase, factors in (("rows", np.ones(8)), ("times numbers", found)):
        page.get_by_role("radio", name=phase).or_(page.get_by_role("button", name=phase)).click()
        cells = collecting(page).locator(".cell[data-cell^=w_o] text")
        expected = [short(number) for number in (factors[:, None] * rows).ravel()]
        becomes(page, cells.all_text_contents, expected)


def test_motion_ends_in_the_same_picture(opened):
    ends = []
    for is_moving in (False, True):
        page = opened("?view=sheet&step=softmax", heads="2")
        if is_moving:
            moving(page)
        page.locator(".map").get_by_text("Weighted sum", exact=True).click()
        at_rest(page)
        ends.append(collecting(page).evaluate(DRAWN))
    assert ends[0] == ends[1]


def test_muted_strip_leaves_and_the_others_keep_their_weights(opened):
    page = opened("?view=sheet&step=weighted-sum&cell=1.2.1.1.1")
    heights = np.array(at_rest(page).evaluate(HEIGHTS))
    word = collecting(page).locator(".of-strip").nth(2)
    word.focus()
    page.keyboard.press("Enter")
    assert sent(page)[-1] == ["change", {"cell": "attention[0,1,2]", "value": 0}]
    show(page, changes="attention[0,1,2]=0")
    becomes(page, lambda: word.get_attribute("aria-pressed"), "true")
    after = np.array(at_rest(page).evaluate(HEIGHTS))
    assert np.allclose(after / after.sum(), heights / heights.sum(), atol=1e-3)
    sums_are(page, fitted_at({"sentence": SENTENCE, "changes": "attention[0,1,2]=0"}).trace, "heads")
    word.press("Enter")
    assert sent(page)[-1] == ["drop", 0]
