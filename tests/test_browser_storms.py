"""Hundreds of quick clicks, and two tabs of one browser: what is shown is what the address says."""

import pytest
from tab import at, becomes, cell, expect, parameters

from attnviz.core.numerals import digits
from attnviz.scene.address import parse
from attnviz.scene.start import selected

pytestmark = pytest.mark.browser

CLICKS = """([selector, n]) => {
  const roots = [...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean);
  const found = () => [document, ...roots].flatMap((root) => [...root.querySelectorAll(selector)]);
  for (let i = 0; i < n; i += 1) found()[i % found().length].click();
}"""


def shows_its_address(page, sentence):
    """Wait until the pass is that of the address: its words, its seed, and a number of it."""
    becomes(page, page.get_by_role("listbox", name="Queries").locator(".text").all_inner_texts, sentence.split())

    def seeds():
        return [page.locator(".st-key-seed input").input_value(), parameters(page).get("seed", "42")]

    becomes(page, lambda: len(set(seeds())), 1)
    fitted = parse(parameters(page))
    score = fitted.trace.cell_at("scores", selected(fitted.scene, fitted.trace))
    expect(page.get_by_role("heading", name=f"{fitted.trace.name_of(score)} = {digits(score.value)}")).to_be_visible()


def test_hundreds_of_quick_clicks_end_in_what_the_address_says(visit):
    page = visit().open(at(sentence="one two three", step="scores", cell="1.2.3.1.1"))
    for selector, n in ((".st-key-another_seed button", 50), (".viewer [data-row]", 200)):
        page.evaluate(CLICKS, [selector, n])
    cell(page, "Scores", 0, 1).click()
    shows_its_address(page, "one two three")


def test_two_tabs_of_one_browser_are_two_scenes(visit):
    sentences = ("one two three", "four five six seven")
    pages = [visit().open(at(sentence=each, step="scores", cell="1.2.3.1.1")) for each in sentences]
    for _ in range(3):
        for page in pages:
            page.locator(".st-key-another_seed button").first.click()
    for page, sentence in zip(pages, sentences, strict=True):
        shows_its_address(page, sentence)
    assert parameters(pages[0])["seed"] != parameters(pages[1])["seed"]
