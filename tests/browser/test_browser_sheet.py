"""The sheet: one word's whole attention on one screen, alone and presented, in a real browser."""

import re

import pytest
from answers import TIRED, trace_of_model
from page import SENTENCE
from sight import out_of_sight
from tab import at, becomes, expect, parameters, resized, step_is

from attnviz import Settings, trace_of
from attnviz.core.changes import parse_change
from attnviz.core.numerals import short
from attnviz.models import MODELS

SIX, EIGHT = {"sentence": SENTENCE}, {"sentence": "the quick brown fox jumps over lazy dogs"}
WHO, RECALL, MIRROR = {"model": "who-is-it"}, {"model": "recall"}, {"model": "mirror"}
PROJECTORS = (1280, 720), (1920, 1080)
DIGITS = """(sheet) => [...sheet.querySelectorAll("td[data-cell]:not([data-cell=''])")]
  .map((cell) => [cell.dataset.cell, cell.firstChild.data])"""
SIZES = """(sheet) => {
  const size = (each) => Number.parseFloat(getComputedStyle(each).fontSize);
  const all = (selector) => [...sheet.querySelectorAll(selector)].filter((each) => each.textContent.trim());
  return {
    least: Math.min(...all("td, th button, .said p, .products span, .label, .sum").map(size)),
    rows: Math.min(...all(".single.of-words td:is(.number, .hidden)").map(size)),
    chosen: Math.min(...all(".of-words td.chosen").map(size)),
  };
}"""


def sheet(page):
    return page.locator(".sheet")


def numbers_are(page, trace):
    """Wait until each number on the sheet is the one of the pass that it names."""

    def wrong():
        shown = [(re.match(r"(\w+)\[(.*)\]", address).groups(), text) for address, text in sheet(page).evaluate(DIGITS)]
        assert shown
        expected = [(trace[name].value[tuple(map(int, index.split(",")))], text) for (name, index), text in shown]
        return [text for value, text in expected if text != ("−∞" if value == -float("inf") else short(value))]

    becomes(page, wrong, [])


@pytest.mark.parametrize("settings", [WHO, RECALL, MIRROR, EIGHT], ids=str)
def test_projected_digits_are_large(opened, settings):
    steps = ["weighted-sum-1", "residual-1", "weighted-sum-2", "answer"] if settings == RECALL else ["weighted-sum"]
    for step in [*steps, *(["answer"] if settings in (WHO, MIRROR) else [] if settings == RECALL else ["output"])]:
        page = opened(at(view="sheet", present=1, step=step), **settings)
        page.add_style_tag(content=".viewer.presenting { height: 100vh !important } #other { display: none }")
        expect(sheet(page)).to_be_visible()
        for width, height in PROJECTORS:
            resized(page, width, height)
            becomes(page, lambda page=page: out_of_sight(page), {}, (step, width))
            sizes = sheet(page).evaluate(SIZES)
            assert sizes["least"] >= 0.015 * height, (step, width, sizes)
            if "weighted-sum" in step:
                assert sizes["rows"] >= 0.02 * height, (step, width, sizes)
                assert sizes["chosen"] >= (0.025 if settings in (WHO, EIGHT) else 0.02) * height, (step, sizes)


def test_header_picks_query_and_key(opened):
    page = opened(at(view="sheet", step="softmax"))
    trace = trace_of(Settings(SENTENCE))
    words = sheet(page).locator("tr.names").first.locator("button")
    words.nth(3).click()
    expect(sheet(page).locator("th.asks")).to_have_text("on")
    numbers_are(page, trace)
    words.nth(5).click(modifiers=["Shift"])
    expect(sheet(page).locator("th.chosen")).to_have_text("mat")
    cell = sheet(page).locator('[data-cell="scores[0,3,1]"]')  # of a step before
    cell.click()
    expect(page.locator(".panel h3")).to_contain_text("scores[head 1, on, cat]")
    step_is(page, 6)
    cell.press("ArrowDown")
    expect(sheet(page).locator('[data-cell="scaled[0,3,1]"]')).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".panel h3")).to_contain_text("scaled[head 1, on, cat]")


def test_number_is_set_in_its_cell(visit):
    page = visit().open(at(**SIX, view="sheet", step="scaling", cell="1.3.2.1.1"))
    before = trace_of(Settings(SENTENCE))
    cell = sheet(page).locator('[data-cell="scores[0,2,1]"]')
    cell.dblclick()
    box = sheet(page).get_by_role("textbox")
    expect(box).to_be_focused()
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    numbers_are(page, before.with_changes(parse_change("scores[0,2,1]=3")))
    expect(box).to_be_hidden()
    expect(cell).to_be_focused()
    page.keyboard.press("Enter")
    expect(box).to_be_focused()
    page.keyboard.type("-1")
    page.keyboard.press("Enter")
    numbers_are(page, before.with_changes(parse_change("scores[0,2,1]=-1")))
    page.goto(page.url.replace("step=scaling", "step=softmax"))
    sheet(page).locator("tr", has_text="exp(score").locator("td.number").first.dblclick()
    expect(box).to_be_hidden()  # an exponential is none of the pass


def test_many_places_are_folded(opened):
    trace = MODELS["mirror"].at(MODELS["mirror"].seeds[0], None).trace(MODELS["mirror"].examples[0][1])
    page = opened(at(view="sheet", step="qkv"), **MIRROR)
    numbers_are(page, trace)
    alone = sheet(page).locator('[data-cell^="k[0,0,"]').count()
    page.get_by_role("button", name=f"other {16 - alone}").first.click()
    expect(sheet(page).locator('[data-cell^="k[0,0,"]')).to_have_count(16)
    numbers_are(page, trace)
    page.get_by_role("button", name="the largest alone").click()
    expect(sheet(page).locator('[data-cell^="k[0,0,"]')).to_have_count(alone)


def test_key_unfolds_to_its_source(opened):
    page = opened(at(view="sheet", step="qkv-2"), **RECALL)
    trace = MODELS["recall"].at(MODELS["recall"].seeds[0], None).trace(MODELS["recall"].examples[0][1])
    word, title = sheet(page).locator("th.chosen").inner_text(), page.locator(".step-text h2")
    before = title.inner_text()
    sheet(page).get_by_role("button", name="key", exact=True).click()
    expect(sheet(page)).to_contain_text("times the key parameters")
    expect(title).to_have_text(f"Where the key of “{word}” is from")
    expect(page.locator(".step-text .formula")).to_have_count(1)
    expect(sheet(page).locator("td.to-come")).to_have_count(0)
    numbers_are(page, trace)
    sheet(page).get_by_role("button", name="back to the sheet").click()
    expect(sheet(page)).not_to_contain_text("times the key parameters")
    expect(title).to_have_text(before)
    chosen = sheet(page).locator("th.chosen").inner_text()
    sheet(page).get_by_role("button", name="layer 1").click()
    becomes(page, lambda: parameters(page)["step"], "weighted-sum-1")
    expect(sheet(page).locator("th.asks")).to_have_text(chosen)


def test_contributions_unfold(opened):
    page = opened(at(view="sheet", step="output"), heads="2")
    sheet(page).get_by_role("button", name="output parameters").click()
    expect(page.locator(".step-text h2")).to_have_text("What the output of “cat” takes from each head")
    expect(sheet(page).locator('[data-cell^="w_o["]')).to_have_count(64)
    labels = ["head 1, 1", "head 1, 4", "head 2, 1", "head 2, 4", "head 1", "head 2", "Output"]
    becomes(
        page, lambda: [each for each in sheet(page).locator("th.label").all_inner_texts() if each in labels], labels
    )
    numbers_are(page, trace_of(Settings(SENTENCE, n_heads=2)))
    sheet(page).locator('[data-cell="w_o[5,3]"]').click()
    expect(page.locator(".panel h3")).to_contain_text("w_o[")
    expect(sheet(page).locator('[data-cell^="w_o["]')).to_have_count(64)
    page.get_by_role("button", name="Previous").click()
    expect(page.locator(".step-text h2")).not_to_contain_text("takes from each head")


def test_first_visit_opens_the_sheet(visit):
    tab = visit()
    page = tab.open()
    expect(page.locator(".learns .arc:visible").first).to_be_visible()
    expect(page.locator(".learns .answer-of")).to_contain_text("animal")
    expect(page.get_by_role("button", name="or type your own sentence")).to_be_visible()
    page.get_by_role("button", name="Begin").click()
    expect(sheet(page)).to_contain_text("tired")
    becomes(page, lambda: parameters(page).get("view"), "sheet")
    page.keyboard.press("w")
    expect(page.get_by_role("grid", name=re.compile("^Embeddings"))).to_be_visible()
    assert "view" not in parameters(page)
    assert tab.actions == []


def test_slopes_are_labelled(visit):
    page = visit().open(at(**WHO, view="sheet", step="scores", picked="scores"))
    said = sheet(page).locator("td.said")
    expect(said.first).to_contain_text("Compare")
    page.get_by_role("button", name="what would move it", exact=True).click()
    expect(said.first).to_contain_text("Keys: slope of scores[head 1, tired, animal]")
    assert " × " not in said.first.inner_text()
    cell = sheet(page).locator('[data-cell="k[0,1,0]"]')
    query = trace_of_model("who-is-it", TIRED)["q"].value[0, 11, 0]
    expect(cell).to_have_text(short(query))  # a score's slope by a key's number is the query's
    cell.focus()
    expect(cell).to_have_attribute("aria-label", re.compile("^slope of "))
