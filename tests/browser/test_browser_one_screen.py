"""One screen: every step is seen whole, without scrolling, in a real browser."""

import pytest
from sight import digits_sizes, out_of_sight
from tab import at, becomes, expect, resized, step_is

pytestmark = pytest.mark.browser

LAPTOP, DESK = (1366, 768), (1920, 1080)
EIGHT = {"sentence": "the quick brown fox jumps over lazy dogs"}
SIXTEEN = {"sentence": "the cat sat on the mat and saw a small bird that sang so very well", "d_model": 16}
SMALLEST = 9
"""Pixels: what is written smaller can't be read."""


def every_step(page, steps, size):
    """Go through the steps by key; yields the number of each once all of it is seen."""
    resized(page, *size)
    for number in range(1, steps + 1):
        step_is(page, number)
        becomes(page, lambda: out_of_sight(page), {})
        yield number
        page.keyboard.press("PageDown")
    expect(page.locator(".way .end button")).to_be_disabled()


@pytest.mark.parametrize(
    ("settings", "steps", "size"),
    [
        (EIGHT | {"heads": 1}, 10, LAPTOP),
        (EIGHT | {"heads": 4, "mask": "causal", "positions": "sinusoidal"}, 12, LAPTOP),
        (EIGHT | {"heads": 4, "positions": "sinusoidal"}, 11, DESK),
    ],
)
def test_up_to_eight_words_every_step_is_seen_whole_and_every_number_has_digits(visit, settings, steps, size):
    page = visit().open(at(**settings))
    for number in every_step(page, steps, size):
        # X, W_Q, W_K and W_V of one head are 32 columns, which a laptop has hardly room for: where it has none, the row
        # and the column of the selected number have digits, beside the picture
        read_out = page.locator(".readout li.lit") if (number, settings["heads"]) == (3, 1) else None
        becomes(
            page,
            lambda out=read_out: bool(out and out.count()) or min(digits_sizes(page), default=SMALLEST) >= SMALLEST,
            True,
            number,
        )


@pytest.mark.parametrize(
    ("settings", "steps"), [({"model": "who-is-it"}, 11), ({"model": "recall"}, 23), (SIXTEEN, 10)]
)
def test_every_step_of_models_with_their_training_and_their_answers_and_of_sixteen_words_is_seen_whole(
    visit, settings, steps
):
    assert len(list(every_step(visit().open(at(**settings)), steps, LAPTOP))) == steps
