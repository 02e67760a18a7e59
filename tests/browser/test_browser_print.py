"""Printing: what a class is given on paper, read back from the PDF, in a real browser."""

from collections import Counter

import numpy as np
import pytest
from documents import fitted_at
from needs import needed
from numerals import short
from tab import at

from attnviz.core.numerals import digits
from attnviz.explain.pictures import pictures
from attnviz.explain.steps import steps_of
from attnviz.scene.with_pass import start

printed = needed("paper").printed

pytestmark = pytest.mark.browser

SMALLEST = 7
"""Points."""
A4 = {"format": "A4", "landscape": True}
PRESENTED = {"model": "mirror", "sentence": "3 1 4 1", "present": "1", "view": "matrices"}


def rows_of(trace, slot):
    """The rows of a matrix, as they are written, for the selection that a pass is first seen with."""
    selected = start(trace, "question")
    places = [axis.place(selected) for axis in trace.axes(slot.stage)]
    index = [slot.fixed.get(axis, place) for axis, place in enumerate(places)]
    for axis in {slot.rows, slot.columns} - {None}:
        index[axis] = slice(None)
    matrix = np.atleast_2d(trace[slot.stage].value[tuple(index)])
    if slot.rows is not None and slot.rows > slot.columns:
        matrix = matrix.T
    return [" ".join(map(short, row)) for row in matrix]


def drawn(trace):
    """How many times each row of numbers is drawn in all steps."""
    slots = [slot for step in steps_of(trace) for picture in pictures(trace, step.stages) for slot in picture.matrices]
    return Counter(row for slot in slots for row in rows_of(trace, slot))


@pytest.mark.parametrize(
    ("settings", "paper"),
    [({"model": "who-is-it"}, A4), (PRESENTED, {})],
    ids=["who is it", "mirror, as it is presented, on letter paper"],
)
@pytest.mark.slow
def test_every_matrix_is_printed_whole_and_every_digit_can_be_read(opened, settings, paper):
    page = opened(at(**settings), **settings)
    trace = fitted_at(settings).trace
    sheets = printed(page, **paper)
    text = "\n".join(sheet.text for sheet in sheets)
    missing = {row: n for row, n in drawn(trace).items() if text.count(row) < n}
    assert missing == {}
    assert all(sheet.is_wide for sheet in sheets)
    assert {size for sheet in sheets for _, size in sheet.digits if size < SMALLEST} == set()
    cell = trace.cell_at("attention", start(trace, "question"))
    assert f"{trace.name_of(cell)} = {digits(trace['attention'].value[cell.index])}" in text


@pytest.mark.slow
def test_matrices_that_no_page_holds_have_the_lines_of_the_selected_number_in_lists_that_end(opened):
    words = [f"w{number}" for number in range(1, 41)]
    settings = {"sentence": " ".join(words), "d_model": "32", "heads": "2"}
    sheets = printed(opened(**settings), **A4)
    trace = fitted_at(settings).trace
    attention, selected = trace["attention"].value[0], start(trace, "question")
    of_query = zip(words, attention[selected.query], strict=True)
    of_key = zip(words, attention[:, selected.key], strict=True)
    heading = "Scores become attention weights"
    (softmax,) = (" ".join(sheet.text.split()) for sheet in sheets if sheet.text.startswith(heading))
    for those in (of_query, of_key):
        assert " ".join(f"{word} {short(share)}" for word, share in those) in softmax
    for sheet in sheets[1:]:  # on the first, each word has its share below it
        assert set(words) <= set(sheet.text.split())
    assert {size for sheet in sheets for _, size in sheet.digits if size < SMALLEST} == set()


def test_a_matrix_built_by_hand_is_on_one_page(visit):
    sheets = printed(visit().open("by_hand"), **A4)
    of_words, of_places = ("^", "a", "b", "c", "d"), [f"{wave} {turn}" for turn in (1, 2, 3) for wave in ("cos", "sin")]
    passed_on = ["a value", " ".join(of_words), *(f"{word} 1" for word in of_words), *of_places, *of_words]
    assert any("\n".join(passed_on) in sheet.text for sheet in sheets)
