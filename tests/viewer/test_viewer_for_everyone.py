"""The viewer by keyboard, by ear and where colours are forced; alone, without Streamlit."""

import re

import pytest
from alone import hasten
from page import SENTENCE
from tab import PLAYED_AND_PAUSED, becomes, cell, expect, forced_colours, grid, resized, step_is

from attnviz import Settings, trace_of

WORDS = SENTENCE.split()
LARGE = {"sentence": SENTENCE, "d_model": "64", "heads": "1"}
HELD = "document.activeElement"
NAMED = f"() => {HELD}.getAttribute('aria-label') || {HELD}.textContent || {HELD}.labels?.[0]?.textContent"
SEEN = f"""() => getComputedStyle({HELD}).outlineStyle !== "none" && {HELD}.matches(":focus-visible")"""
HEAR = """() => {
  window.heard = [];
  const status = document.querySelector(".sr-only[role=status]");
  new MutationObserver(() => heard.push(status.textContent)).observe(status, { childList: true });
}"""

NAMELESS = re.compile("^$")
UNREACHED = """(root) => [...root.querySelectorAll("*")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && ["Width", "Height"].some((side) => {
    const overflow = getComputedStyle(each)[side === "Width" ? "overflowX" : "overflowY"];
    return each[`client${side}`] && overflow === "auto" && each[`scroll${side}`] > each[`client${side}`];
  }))
  .filter((each) => !(each.tabIndex === 0 && each.getAttribute("aria-label")) && !each.querySelector(
    ":is(button, input, select, a, td, .here):not([tabindex='-1'], :disabled)"))
  .map(({ className, localName }) => `${localName}.${className}`)"""
STOPS = """(root) => [...root.querySelectorAll(".reply .formula, .readout ol, pre")]
  .filter((each) => each.tabIndex === 0).map(({ ariaLabel }) => ariaLabel)"""


def heard(page):
    return page.evaluate("() => heard")


def test_tab_needs_few_stops_each_visible_and_named(opened):
    page = opened("?step=scores", **LARGE)
    names = []
    while not names or not page.evaluate(f"() => {HELD}.id === 'other' || {HELD} === document.body"):
        page.keyboard.press("Tab")
        assert len(names) < 40, names
        names.append(page.evaluate(NAMED))
        assert page.evaluate(f"() => {HELD}.id === 'other'") or (names[-1] and page.evaluate(SEEN)), page.evaluate(
            f"() => {HELD}.outerHTML"
        )
    assert names.index("Next ›") == 2
    assert page.locator(".terms button").count() == 2 * 64, "each of which the arrows reach"


def test_unrevealed_numbers_are_not_read(opened):
    page = opened("?step=weighted-sum&view=matrices&present=1&reveal=0", model="who-is-it")
    told = re.compile(r"heads\[.* = ")
    for reveal, is_there in (("nothing", 0), ("lit", 0), ("products", 0), ("sum", 1), ("next", 1), ("row", 1)):
        expect(page.locator(".viewer")).to_have_attribute("data-reveal", reveal)
        assert page.get_by_role("button", name=NAMELESS).count() == 0, reveal
        names = []
        page.locator("#other").focus()
        while not names or not page.evaluate(f"() => {HELD}.id === 'other'"):
            page.keyboard.press("Tab")
            names.append(page.evaluate(f"() => {HELD} === document.body || ({NAMED})()"))
            assert len(names) < 60, names
        assert any(told.search(str(name)) for name in names) == is_there, names
        page.keyboard.press("PageDown")


def test_arrows_and_mouse_reach_no_unrevealed_number(opened):
    page = opened("?step=softmax")
    page.get_by_role("button", name="Play").evaluate(PLAYED_AND_PAUSED)
    status, bars = page.locator(".status"), page.locator(".bars").get_by_role("group", name="Attention")
    cell(page, "Attention", 0, 3).hover()
    expect(status).to_have_text("attention[head 1, the, on]")
    assert bars.get_by_role("button").count() == 0
    on = page.get_by_role("button", name="One reveal on")
    while page.locator(".viewer").get_attribute("data-reveal") != "sum":
        on.click()
    first = grid(page, "Attention").last.locator("td[tabindex='0']")
    first.focus()
    said = page.evaluate(NAMED)
    assert said.startswith("attention[head 1, ")
    for key in ("ArrowRight", "ArrowDown", "End", "ArrowUp", "Home"):
        page.keyboard.press(key)
        assert page.evaluate(NAMED) == said, key
    assert bars.get_by_role("button").count() == 1
    page.get_by_role("button", name="One reveal back").evaluate("(button) => button.click()")
    assert page.evaluate(f"() => {HELD}.getAttribute('aria-label') + {HELD}.textContent") == ""


@pytest.mark.parametrize(
    ("address", "shown", "size", "stops", "roomy"),
    [
        ("?step=residual-1", {"model": "recall"}, (1366, 560), 2, (2560, 1600)),
        ("?step=answer&present=1", {"model": "who-is-it"}, (1280, 720), 0, (2560, 1000)),  # letters grow
        ("?step=softmax", {}, (683, 384), 0, (2560, 1600)),
    ],
)
def test_scrolling_areas_are_reachable(opened, address, shown, size, stops, roomy):
    page = opened(address, **shown)
    viewer = page.locator(".viewer")
    viewer.evaluate("(root) => { root.style.height = '100vh'; }")
    resized(page, *size)
    becomes(page, lambda: viewer.evaluate(UNREACHED), [])
    becomes(page, lambda: len(viewer.evaluate(STOPS)) >= stops, True)
    assert all(viewer.evaluate(STOPS))
    resized(page, *roomy)
    becomes(page, lambda: viewer.evaluate(STOPS), [])


def test_arrows_move_on_the_map(opened):
    page = opened("?step=scores")
    page.locator(".map [aria-current]").focus()
    for key in ("End", "ArrowLeft"):
        page.keyboard.press(key)
    step_is(page, 4)
    page.keyboard.press("Enter")
    step_is(page, 9)
    assert page.locator(".map [aria-current]").evaluate(f"(each) => each === {HELD}")


def test_arrows_move_between_terms(opened):
    page = opened("?step=scores")
    links = page.locator(".terms button")
    links.first.focus()
    for key, place in (("ArrowRight", 1), ("ArrowDown", 3), ("ArrowLeft", 2), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert links.nth(place).evaluate(f"(each) => each === {HELD}"), key
    step_is(page, 4)


def test_table_has_headers(opened):
    page = opened("?step=scores")
    scores = grid(page, "Scores").last
    labels = trace_of(Settings(SENTENCE)).labels["key"]
    assert scores.get_by_role("columnheader").all_text_contents() == ["queries × keys", *labels]
    assert scores.get_by_role("rowheader").all_text_contents() == list(labels)
    assert scores.get_by_role("row").count() == 1 + len(labels)


def test_drawn_matrix_exposes_one_cell(opened):
    page = opened("?step=scores", **LARGE)
    queries = grid(page, "Queries").last
    assert (queries.get_attribute("aria-rowcount"), queries.get_attribute("aria-colcount")) == (str(len(WORDS)), "64")
    queries.get_by_role("gridcell").focus()
    for key in ("Home", "ArrowDown", "End"):
        page.keyboard.press(key)
    q = trace_of(Settings(SENTENCE, d_model=64, n_heads=1))["q"].value
    expect(queries.get_by_role("gridcell")).to_have_count(1)
    said = page.evaluate(NAMED)
    assert said.startswith("q[head 1, sat, 64] = ")
    assert float(said.split(" = ")[1].replace("−", "-")) == q[0, 2, 63]


def test_step_and_number_are_announced_once(opened):
    page = opened("?step=scores")
    page.evaluate(HEAR)
    page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    cell(page, "Scores", 0, 3).click()
    step, back, number = heard(page)
    assert step.startswith("Step 5 of 10: Scaling.")
    assert back.startswith("Step 4 of 10: Scores.")
    assert number.startswith("scores[head 1, the, on] = ")
    cell(page, "Scores", 0, 3).hover()
    assert len(heard(page)) == 3, "what is only pointed at is not said"


def test_playing_is_silent(opened):
    page = opened("?step=scores")
    page.evaluate(HEAR)
    hasten(page)
    page.get_by_role("button", name="Play").click()
    becomes(page, lambda: page.locator(".viewer").get_attribute("data-reveal") in ("sum", "next", "row", "all"), True)
    assert heard(page) == [], "the number came back, which is no news in the end"


def test_six_quick_presses_are_six_steps(opened):
    page = opened()
    page.evaluate("""() => {
      for (let n = 0; n < 6; n += 1) document.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown" }));
    }""")
    step_is(page, 7)


def test_forced_colours_show_selection_and_numbers(opened):
    page = opened("?step=softmax")
    with forced_colours(page):
        colour = "(each) => getComputedStyle(each).backgroundColor"
        pressed, other = (page.locator(f'.questions [aria-pressed="{is_on}"]').first for is_on in ("true", "false"))
        assert pressed.evaluate(colour) != other.evaluate(colour)
        assert page.locator(".map [aria-current]").evaluate(colour) != page.locator(".map .step").first.evaluate(colour)
        bars = {bar.evaluate(colour) for bar in page.locator(".bar-row .bar").all()}
        assert len(bars - {other.evaluate(colour)}) == 3, "scores above and below zero, and attention weights"
        cells = grid(page, "Attention").last.locator("td.number").all()
        assert len({each.evaluate(colour) for each in cells}) > 3
