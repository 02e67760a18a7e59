"""The walkthrough on a phone and on paper, in a real browser."""

import re

import pytest
from tab import at, expect, frames, resized, step_is

pytestmark = pytest.mark.browser

SCREEN = 844
"""The height of a phone, in pixels."""


def test_on_a_phone_the_lesson_comes_first_and_no_step_is_long(visit):
    page = visit("dark", 390).open(at(step="Tokens"))
    resized(page, 390, SCREEN)
    main = page.get_by_test_id("stMain")
    for number in range(2, 11):
        step_is(page, number)
        expect(page.locator(".panel h3")).to_contain_text("=")
        frames(page)
        parts = [page.locator(".lesson"), page.locator(".picture" if number < 10 else ".whole"), page.locator(".panel")]
        tops = [part.bounding_box()["y"] for part in parts]
        assert tops == sorted(tops), number
        height, beyond = main.evaluate("e => [e.scrollHeight, e.scrollWidth - e.clientWidth]")
        assert height <= 3 * SCREEN, number
        assert beyond == 0, number
        if number < 10:
            page.get_by_role("button", name="Next ›").click()


def test_each_step_is_a_page_on_paper_without_controls(visit):
    page = visit().open(at(step="Scores"))
    step_is(page, 4)
    page.evaluate(
        """addEventListener("beforeprint", () => {
            const has = (each) => each.shadowRoot?.querySelector(".pages");
            const root = [...document.querySelectorAll("*")].find(has).shadowRoot;
            const pages = [...root.querySelectorAll(".printed")];
            const isCut = (each) => each.scrollHeight > each.clientHeight || each.scrollWidth > each.clientWidth;
            window.printed = {
                cut: pages.filter(isCut).map((each) => each.innerText),
                headings: pages.map((each) => each.querySelector("h2").innerText),
                controls: [...root.querySelectorAll(".pages :is(.way, .toolbar, input, select)")]
                    .filter((each) => each.checkVisibility()).length,
            };
        })"""
    )
    printed = page.pdf(prefer_css_page_size=True)
    found = page.evaluate("printed")
    assert len(found["headings"]) == 10
    assert (found["cut"], found["controls"]) == ([], 0)
    sizes = re.findall(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", printed)
    assert len(sizes) == 10
    assert all(float(width) > float(height) for width, height in sizes)
