"""From step to step and from number to number, in a real browser: nothing of it needs the server."""

import pytest
from page import SENTENCE
from tab import (
    PLAYED_AND_PAUSED,
    at,
    becomes,
    cell,
    expect,
    heading,
    numbers_are,
    outlined,
    parameters,
    step_is,
)

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits
from attnviz.scene.scene import FIRST_VISIT

pytestmark = pytest.mark.browser

TRACE = trace_of(Settings(SENTENCE))


def trail(page):
    return page.get_by_role("navigation", name="The numbers that were unfolded")


def test_nothing_but_numbers_and_settings_needs_the_server(visit):
    tab = visit()
    page = tab.open(at(step="Scores"))
    tab.told.clear()
    tab.acts.clear()
    cell(page, "Scores", 3, 4).click()
    page.get_by_role("radio", name="head 2").click()
    page.locator(".terms button").first.click()
    page.get_by_role("button", name="in order").click()
    page.keyboard.press("PageDown")
    page.get_by_role("button", name="Q, K, V", exact=True).click()
    page.get_by_role("option", name="mat").click()
    page.get_by_role("button", name="Play").evaluate(PLAYED_AND_PAUSED)
    page.keyboard.press("p")
    page.keyboard.press("Escape")
    expect(page.locator("html[data-presenting]")).to_have_count(0)
    step_is(page, 3)  # of those of the sheet
    tab.settled()
    assert (tab.told, tab.acts) == ([], [])


def test_reload_and_a_copied_link_give_the_same_step_cell_and_trail(visit):
    tab = visit()
    page = tab.open(at(step="Softmax", heads=4))
    cell(page, "Attention", 3, 4).click()
    page.locator(".terms button").nth(2).click()
    number = page.locator(".panel h3").inner_text()
    crumbs = trail(page).inner_text()
    there = parameters(page)
    assert there.items() >= {"heads": "4", "step": "softmax", "picked": "attention"}.items()
    other = visit()
    other.open(at(**there))
    page.reload()
    for each in (tab, other):
        expect(heading(each.page, number)).to_be_visible()
        step_is(each.page, 6)
        assert trail(each.page).inner_text() == crumbs
        becomes(each.page, lambda each=each: parameters(each.page), there)


def test_numbers_are_the_core_s_from_the_words_to_the_output(opened):
    page = opened(at(step="tokens"))
    numbers_are(page, "Embeddings", TRACE["embeddings"].value)
    page.keyboard.press("PageDown")
    numbers_are(page, "Values", TRACE["v"].value[0])
    page.get_by_role("button", name="Softmax", exact=True).click()
    numbers_are(page, "Attention", TRACE["attention"].value[0])
    page.keyboard.press("]")
    numbers_are(page, "Attention", TRACE["attention"].value[1])
    page.get_by_role("button", name="Output", exact=True).click()
    numbers_are(page, "Output O, 6", TRACE["output"].value)


def test_arrow_keys_lead_through_a_matrix_and_all_that_is_said_goes_with_them(opened):
    page = opened(at(step="softmax", cell="2.1.1.1.1"))
    cell(page, "Attention", 0, 0).click()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    value = digits(TRACE["attention"].value[1, 1, 1])
    expect(heading(page, f"attention[head 2, cat, cat] = {value}")).to_be_visible()
    expect(page.locator(".terms .total .value")).to_have_text(value)
    expect(page.get_by_label("Queries").locator(".query")).to_contain_text("cat")
    becomes(page, lambda: parameters(page).get("cell"), "2.2.2.1.1")
    expect(cell(page, "Attention", 1, 1)).to_be_focused()
    page.get_by_role("button", name="what would move it").click()
    cell(page, "Attention", 1, 1).focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".status")).to_contain_text(
        "attention[head 2, sat, cat]"
    )  # it points: slopes are of what was asked
    expect(heading(page, f"attention[head 2, cat, cat] = {value}")).to_be_visible()
    page.keyboard.press("Enter")
    expect(heading(page, f"attention[head 2, sat, cat] = {digits(TRACE['attention'].value[1, 2, 1])}")).to_be_visible()
    step_is(page, 6)


def test_hovering_outlines_what_a_number_was_computed_from(opened):
    page = opened(at(step="scores"))
    cell(page, "Scores", 2, 4).hover()
    becomes(page, lambda: outlined(page, "Queries"), [(2, feature) for feature in range(4)])
    becomes(page, lambda: outlined(page, "Keys"), [(feature, 4) for feature in range(4)])
    page.mouse.move(5, 5)
    becomes(page, lambda: outlined(page, "Queries"), [(1, feature) for feature in range(4)])


@pytest.mark.parametrize(
    ("address", "mended"),
    [
        ({}, {"model": FIRST_VISIT.source, "view": FIRST_VISIT.view}),
        ({"step": "Scores"}, {"sentence": SENTENCE, "step": "scores"}),
    ],
    ids=["first visit", "older link"],
)
def test_back_leaves_the_app_whatever_was_mended_on_arrival(visit, address, mended):
    tab = visit()
    tab.page.goto("about:blank")
    page = tab.open(at(**address))
    becomes(page, lambda: parameters(page), mended)
    page.go_back()
    becomes(page, lambda: page.url, "about:blank")
