"""Large passes: a picture at every size, each cell of it within reach, in a real browser."""

import re

import pytest
from tab import at, becomes, cell, expect, frames, grid, heading, resized

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits

pytestmark = pytest.mark.browser

WORDS = " ".join(f"w{number}" for number in range(1, 65))
LARGE = {"sentence": WORDS, "d_model": 128}


def drawing(page, title):
    """The one real cell that stands on a drawing of a matrix."""
    return grid(page, title).last.locator("[data-row]")


@pytest.fixture(scope="module")
def scores():
    return trace_of(Settings(WORDS, d_model=128, n_heads=8))["scores"].value


def test_a_number_among_thousands_is_pointed_at_clicked_reached_by_keyboard_and_another_head_comes(visit, scores):
    page = visit().open(at(step="Scores", heads=8, **LARGE))
    picture = grid(page, "Scores").last
    expect(picture).to_be_visible()
    frames(page)
    size = picture.bounding_box()

    def place(row, column):
        return {"x": (column + 0.5) * size["width"] / 64, "y": (row + 0.5) * size["height"] / 64}

    picture.hover(position=place(40, 50))
    expect(page.locator(".status")).to_have_text(f"scores[head 1, w41, w51] = {float(scores[0, 40, 50])!r}")
    picture.click(position=place(40, 50))
    expect(heading(page, f"scores[head 1, w41, w51] = {digits(scores[0, 40, 50])}")).to_be_visible()
    lit = page.locator(".readout li.lit .name")
    becomes(page, lambda: set(lit.all_inner_texts()), {"w41", "w51"})
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(heading(page, f"scores[head 1, w42, w50] = {digits(scores[0, 41, 49])}")).to_be_visible()

    heads = page.get_by_role("radiogroup", name="Head").get_by_role("radio")
    resized(page, 1280, 800)
    for each in heads.all():
        expect(each).to_be_in_viewport(ratio=0.99)
    expect(page.locator(".heads")).to_contain_text("Grey heads are not loaded yet: click one to load it.")
    heads.last.click()
    expect(heading(page, f"scores[head 8, w42, w50] = {digits(scores[7, 41, 49])}")).to_be_visible()


def test_as_many_heads_as_there_can_be(visit):
    tab = visit()
    page = tab.open(at(step="Softmax", heads=128, d_model=128))
    attention = trace_of(Settings("the cat sat on the mat", d_model=128, n_heads=128))["attention"].value
    expect(heading(page, f"attention[head 1, cat, sat] = {digits(attention[0, 1, 2])}")).to_be_visible()
    expect(page.get_by_role("radiogroup", name="Head").get_by_role("radio")).to_have_count(128)
    page.keyboard.press("[")
    expect(heading(page, f"attention[head 128, cat, sat] = {digits(attention[127, 1, 2])}")).to_be_visible()
    expect(cell(page, "Attention", 1, 2)).to_have_text(re.compile(f"{attention[127, 1, 2]:.2f}"))
    main = page.get_by_test_id("stMain")
    becomes(
        page, lambda: main.evaluate("e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]"), [0, 0]
    )
