"""The two pages with matrices of models, in a real browser: what changes them is beside them, and all can be read."""

from itertools import pairwise

import pytest
from tab import at, becomes, expect

pytestmark = pytest.mark.browser

HAND = "by_hand" + at(model="by-hand", sentence="abca")


def drawn(page, key):
    """A matrix, once Plotly has drawn it."""
    chart = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(chart.locator(".xtick").first).to_be_visible()
    return chart


def crowded(chart):
    """The labels above columns that reach into the next one, at a matrix whose labels are upright."""
    boxes = [tick.bounding_box() for tick in chart.locator(".xtick").all()]
    return [one for one, other in pairwise(boxes) if one["x"] + one["width"] > other["x"]]


def test_a_change_is_chosen_beside_the_matrices_that_it_changes(visit):
    page = visit(width=1366).open(HAND)
    page.set_viewport_size({"width": 1366, "height": 768})
    rotation = page.get_by_text("turned back by one step")
    choice = page.get_by_text("No rotation in layer 1", exact=True)
    drawn(page, "w_q_1").evaluate("chart => chart.scrollIntoView({ block: 'center' })")
    for each in (rotation, choice, page.get_by_role("textbox", name="A string")):
        expect(each).to_be_in_viewport(ratio=1)
    choice.click()
    expect(page.get_by_text("I ask for my own place")).to_be_in_viewport(ratio=1)
    expect(rotation).to_have_count(0)


def test_on_a_phone_the_choice_comes_first_and_wide_matrices_are_scrolled(visit):
    page = visit(width=390).open(HAND)
    for key in ("attention_1", "output_2", "w_o_1"):
        assert crowded(drawn(page, key)) == []
    assert (
        page.get_by_role("radio", name="Nothing").bounding_box()["y"] < drawn(page, "attention_1").bounding_box()["y"]
    )
    last = page.get_by_role("radio", name="The answer").bounding_box()
    assert last["x"] + last["width"] <= 390
    main = page.get_by_test_id("stMain")
    becomes(page, lambda: main.evaluate("main => main.scrollWidth <= main.clientWidth"), True)


@pytest.mark.parametrize("width", [1366, 390])
def test_every_word_stands_above_its_column(visit, width):
    page = visit(width=width).open("what_attention_says")
    for key in ("other_attention", "short_cut", "random"):
        assert (
            drawn(page, key)
            .locator(".xtick text")
            .evaluate_all("labels => labels.filter((label) => label.checkVisibility({ opacityProperty: true })).length")
            == 12
        )
