"""The walkthrough on a phone, in a real browser."""

import pytest
from tab import at, expect, frames, resized, step_is

pytestmark = pytest.mark.browser

SCREEN = 844
"""The height of a phone, in pixels."""


def test_on_a_phone_the_text_comes_first_and_no_step_is_long(visit):
    page = visit("dark", 390).open(at(step="Tokens"))
    resized(page, 390, SCREEN)
    main = page.get_by_test_id("stMain")
    for number in range(2, 11):
        step_is(page, number)
        expect(page.locator(".panel h3")).to_contain_text("=")
        frames(page)
        parts = [
            page.locator(".step-text"),
            page.locator(".picture" if number < 10 else ".whole"),
            page.locator(".panel"),
        ]
        tops = [part.bounding_box()["y"] for part in parts]
        assert tops == sorted(tops), number
        height, beyond = main.evaluate("e => [e.scrollHeight, e.scrollWidth - e.clientWidth]")
        assert height <= 3 * SCREEN, number
        assert beyond == 0, number
        page.keyboard.press("PageDown")
