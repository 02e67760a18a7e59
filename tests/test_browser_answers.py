"""What a click shows at once, before a server could have answered, and formulas as a browser typesets them."""

import contextlib
import itertools
import time

import pytest
from page import SENTENCE
from tab import at, expect, grid

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits
from attnviz.core.selection import Selection
from attnviz.text.captions import caption

pytestmark = pytest.mark.browser

TRACE = trace_of(Settings(SENTENCE, mask="causal"))
AT_ONCE = """(cell, key) => {
  cell.click(); // and in the same breath, so that no server can have been asked
  const answer = cell.getRootNode().querySelector(".answer");
  return ["h4", ".caption"].map((what) => [...answer.querySelectorAll(what)].map((each) => each.textContent));
}"""


def pick(page, title, row, column):
    """The headings and captions right after a click on a cell."""
    cell = grid(page, title).last.locator(f'[data-row="{row}"][data-column="{column}"]')
    return cell.evaluate(AT_ONCE)


def heading_of(name, index):
    cell = TRACE[name].cell(index)
    return f"{TRACE.name_of(cell)} = {digits(cell.value)}"


def come_near(tab, title):
    """Point at a picture until all that it asked for has come."""
    grids = grid(tab.page, title)
    complete = tab.page.locator('.picture[data-complete="true"]').filter(has=grids)
    deadline = time.monotonic() + 60
    for place in itertools.cycle((0, 1)):
        tab.settled()  # what is asked while the page is about to run is dropped
        grids.last.locator("[data-row]").nth(place).hover()
        with contextlib.suppress(AssertionError):
            expect(complete).to_be_visible(timeout=1_500)  # it asks again after a second
            return
        assert time.monotonic() < deadline, "nothing was sent beforehand"


def outlined(page, title):
    """The cells of a table that are outlined, for `expect`."""
    return grid(page, title).last.locator(".read")


def test_a_picked_cell_is_explained_before_the_server_has_answered(visit):
    tab = visit()
    page = tab.open(at(step="Q, K, V", mask="causal", cell="1.1.1.1.1"))
    come_near(tab, "Queries")
    query, key = 2, 0
    for title, name, row, feature in [("Queries", "q", 4, 1), ("Keys", "k", 3, 2), ("Values", "v", 5, 0)]:
        query, key = (row, key) if name == "q" else (query, row)
        headings, captions = pick(page, title, row, feature)
        assert headings == [heading_of("q", (0, query, feature)), *(heading_of(n, (0, key, feature)) for n in "kv")]
        assert captions == [caption(TRACE, each, Selection(0, query, key, feature, 0)) for each in "qkv"]
        tab.settled()
    assert pick(page, "Input", 1, 6)[0] == [heading_of("x", (1, 6))]
    assert pick(page, "Value parameters", 3, 5)[0] == [heading_of("w_v", (1, 3, 1))]


def test_two_clicks_before_an_answer_are_explained_together(visit):
    tab = visit()
    page = tab.open(at(step="Q, K, V", mask="causal"))
    come_near(tab, "Queries")
    both = """values => {
      const cell = (title, row, column) => values.getRootNode().querySelector(
        `[role="grid"][aria-label^="${title}"] [data-row="${row}"][data-column="${column}"]`);
      cell("Queries Q", 4, 0).click();
      cell("Values V", 5, 3).click();
      return [...values.getRootNode().querySelectorAll("h4")].map((each) => each.textContent);
    }"""
    headings = grid(page, "Values").evaluate(both)
    assert headings == [heading_of("q", (0, 4, 3)), heading_of("k", (0, 5, 3)), heading_of("v", (0, 5, 3))]


def test_what_is_explained_is_outlined_at_once(visit):
    tab = visit()
    page = tab.open(at(step="Q, K, V", mask="causal", cell="1.1.4.1.1"))
    come_near(tab, "Queries")
    keys = """cell => {
      cell.click();
      const keys = cell.getRootNode().querySelector(`[role="grid"][aria-label^="Keys"]`);
      return [...keys.querySelectorAll(".read")].map((each) => [each.dataset.row, each.dataset.column].join());
    }"""
    assert grid(page, "Queries").last.locator('[data-row="5"][data-column="2"]').evaluate(keys) == ["3,2"]


def test_every_picture_is_asked_for_until_it_has_come_and_then_no_more(visit):
    tab = visit()
    asked = []
    tab.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: asked.append(frame)))
    page = tab.open(at(step="Scores", mask="causal"))

    def point(times):
        for place in range(times):
            grid(page, "Scores").last.locator("[data-row]").nth(place % 2).hover()
            tab.settled()
            yield len(asked)

    for words in (SENTENCE.split(), ["owls", "see", "mice"]):
        page.get_by_label("Type a sentence").fill(" ".join(words))
        expect(grid(page, "Scores").last.get_by_role("rowheader").first).to_have_text(words[0])
        tab.settled()
        asked.clear()
        assert any(point(100))
        come_near(tab, "Scores")
        page.wait_for_timeout(1_100)  # it asks at most once a second
        asked.clear()
        assert not any(point(3))
        page.mouse.move(5, 5)


def test_a_pick_in_another_head_has_its_caption(visit):
    tab = visit()
    page = tab.open(at(step="Output", mask="causal"))
    come_near(tab, "Concatenation")
    headings, captions = pick(page, "Concatenation", 4, 7)
    assert headings == [heading_of("concat", (4, 7))]
    assert captions == [caption(TRACE, "output", Selection(1, 4, 0, 0, 0))]
    expect(grid(page, "Output").last.get_by_role("rowheader")).to_have_text("the (2)")  # the server has answered
    come_near(tab, "Contributions")
    for row, column in [(1, 5), (1, 2), (0, 3), (1, 0)]:
        cell = grid(page, "Contributions").locator(f'[data-row="{row}"][data-column="{column}"]')
        headings, captions = cell.evaluate(AT_ONCE)
        assert headings == [heading_of("contributions", (row, 4, column))]
        assert captions == [caption(TRACE, "contributions", Selection(row, 4, 0, 0, column))]
        tab.settled()


def test_words_that_change_no_number_change_the_names(visit):
    page = visit().open("take_apart" + at(trail="positions[1,0]", positions="sinusoidal", sentence="the cat sat"))
    expect(page.locator(".trail .link")).to_have_text(["positions[cat, 1]"])
    page.get_by_label("Type a sentence").fill("the dog sat")
    expect(page.locator(".trail .link")).to_have_text(["positions[dog, 1]"])
    expect(page.locator(".terms h4")).to_contain_text("positions[dog, 1]")


def test_a_picture_without_cells_asks_for_nothing(visit):
    tab = visit()
    asked = []
    tab.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: asked.append(frame)))
    page = tab.open(at(step="Scores", sentence=" ".join(f"w{i}" for i in range(24))))
    tab.settled()
    asked.clear()
    page.locator(".terms h4").hover()
    page.locator(".caption").hover()
    tab.settled()
    assert asked == []


def test_who_unfolds_with_the_keyboard_keeps_it(visit):
    tab = visit()
    page = tab.open("take_apart" + at(trail="output[1,2]"))
    page.locator(".terms .link").first.focus()
    for place in (2, 3):
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, place=place: url.count("%3C") == place - 1)
        tab.settled()
        expect(page.locator(".trail .link")).to_have_count(place)
        expect(page.locator(".trail [aria-current]")).to_be_focused()
        page.keyboard.press("Tab")


def test_a_cell_of_the_concatenation_is_explained_and_its_row_followed(visit):
    tab = visit()
    page = tab.open(at(step="Concatenation", mask="causal"))
    come_near(tab, "Concatenation")
    headings, _ = pick(page, "Concatenation", 5, 6)
    assert headings == [heading_of("concat", (5, 6))]
    page.wait_for_url(lambda url: "cell=2.6." in url)
    tab.settled()
    expect(page.locator(".terms h4")).to_have_text(headings)
    expect(outlined(page, "Concatenation")).to_have_count(1)
    expect(outlined(page, "Concatenation")).to_have_attribute("data-row", "5")
    expect(outlined(page, "Concatenation")).to_have_attribute("data-column", "6")


def test_the_server_says_the_same_a_little_later(visit):
    tab = visit()
    page = tab.open(at(step="Softmax", mask="causal"))
    come_near(tab, "Attention")
    for row, column in [(3, 2), (5, 0), (1, 3)]:
        tab.settled()
        headings, captions = pick(page, "Attention", row, column)
        assert headings == [heading_of("attention", (0, row, column))]
        page.wait_for_url(lambda url, place=(row, column): f"cell=1.{place[0] + 1}.{place[1] + 1}." in url)
        tab.settled()
        expect(page.locator(".answer").first.locator("h4")).to_have_text(headings)
        expect(page.locator(".answer").first.locator(".caption")).to_have_text(captions)
