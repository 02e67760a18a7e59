"""One screen: every step is seen whole, without scrolling, in a real browser."""

import pytest
from sight import digits_sizes, out_of_sight
from tab import at, expect, resized, step_is

pytestmark = pytest.mark.browser

SIZES = [(1366, 768), (1920, 1080)]
EIGHT = {"sentence": "the quick brown fox jumps over lazy dogs"}
SIXTEEN = {"sentence": "the cat sat on the mat and saw a small bird that sang so very well", "d_model": 16}
SMALLEST = 9
"""Pixels: what is written smaller can't be read."""


def every_step(visit, settings, steps):
    """Go through the steps by key, each of them at all sizes; yields the page, the number of the step and the width."""
    page = visit().open(at(**settings))
    for number in range(1, steps + 1):
        step_is(page, number)
        for width, height in SIZES:
            resized(page, width, height)
            yield page, number, width
        page.keyboard.press("PageDown")
    expect(page.locator(".way .end button")).to_be_disabled()


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        (EIGHT | {"heads": 1}, 10),
        (EIGHT | {"heads": 4, "mask": "causal", "positions": "sinusoidal"}, 12),
    ],
)
def test_up_to_eight_words_every_step_is_seen_whole_and_every_number_has_digits(visit, settings, steps):
    for page, number, width in every_step(visit, settings, steps):
        assert out_of_sight(page) == {}, (number, width)
        # X, W_Q, W_K and W_V of one head are 32 columns, too many for the narrowest: there, the row and the column of
        # the selected number have digits, beside the picture
        if (number, settings.get("heads"), width) == (3, 1, 1366):
            expect(page.locator(".readout li.lit").first).to_be_visible()
        else:
            assert min(digits_sizes(page), default=SMALLEST) >= SMALLEST, (number, width)


@pytest.mark.parametrize(("model", "steps"), [("who-is-it", 11), ("recall", 23)])
def test_every_step_of_a_model_is_seen_whole_with_its_training_and_its_answer(visit, model, steps):
    for page, number, width in every_step(visit, {"model": model}, steps):
        assert out_of_sight(page) == {}, (number, width)


def test_sixteen_words_are_seen_whole(visit):
    for page, number, width in every_step(visit, SIXTEEN, 10):
        assert out_of_sight(page) == {}, (number, width)
