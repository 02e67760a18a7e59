"""One screen: each step is seen whole, and each cell of a large pass is within reach, in a real browser."""

import re

import pytest
from sight import digits_sizes, out_of_sight
from tab import at, becomes, beyond, cell, expect, frames, grid, heading, parameters, resized, step_is

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits

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
    ("settings", "steps", "size", "has_digits"),
    [
        (EIGHT | {"heads": 1}, 10, LAPTOP, True),
        (EIGHT | {"heads": 4, "mask": "causal", "positions": "sinusoidal"}, 12, LAPTOP, True),
        (EIGHT | {"heads": 4, "positions": "sinusoidal"}, 11, DESK, True),
        *(({"model": "who-is-it"}, 11, LAPTOP, False), ({"model": "recall"}, 23, LAPTOP, False)),
        (SIXTEEN, 10, LAPTOP, False),
    ],
)
def test_every_step_fits_and_up_to_eight_words_have_digits(visit, settings, steps, size, has_digits):
    page = visit().open(at(**settings))
    for number in every_step(page, steps, size):
        # X, W_Q, W_K and W_V of one head are 32 columns, which a laptop has hardly room for: where it has none, the row
        # and the column of the selected number have digits, beside the picture
        read_out = page.locator(".readout li.lit") if (number, settings.get("heads")) == (3, 1) else None
        if has_digits:
            is_read = lambda out=read_out: bool(out and out.count()) or min(digits_sizes(page), default=9) >= SMALLEST  # noqa: E731
            becomes(page, is_read, True, number)


WORDS = " ".join(f"w{number}" for number in range(1, 65))
LARGE = {"sentence": WORDS, "d_model": 128}


@pytest.fixture(scope="module")
def scores():
    return trace_of(Settings(WORDS, d_model=128, n_heads=8))["scores"].value


def test_large_matrix_is_clicked_and_walked(visit, scores):
    page = visit().open(at(step="Scores", heads=8, **LARGE))
    picture = grid(page, "Scores").last
    expect(picture).to_be_visible()
    frames(page)
    size = picture.bounding_box()

    def place(row, column):
        return {"x": (column + 0.5) * size["width"] / 64, "y": (row + 0.5) * size["height"] / 64}

    picture.hover(position=place(40, 50))
    expect(page.locator(".status")).to_have_text(f"scores[head 1, w41, w51] = {float(scores[0, 40, 50])!r}")
    picture.click(position=place(40, 50))
    expect(heading(page, f"scores[head 1, w41, w51] = {digits(scores[0, 40, 50])}")).to_be_visible()
    lit = page.locator(".readout li.lit .name")
    becomes(page, lambda: set(lit.all_inner_texts()), {"w41", "w51"})
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(heading(page, f"scores[head 1, w42, w50] = {digits(scores[0, 41, 49])}")).to_be_visible()

    heads = page.get_by_role("radiogroup", name="Head").get_by_role("radio")
    resized(page, 1280, 800)
    for each in heads.all():
        expect(each).to_be_in_viewport(ratio=0.99)
    expect(page.locator(".heads")).to_contain_text("Grey heads are not loaded yet: click one to load it.")
    heads.last.click()
    expect(heading(page, f"scores[head 8, w42, w50] = {digits(scores[7, 41, 49])}")).to_be_visible()


def test_matrix_of_128_heads(visit):
    tab = visit()
    page = tab.open(at(step="Softmax", heads=128, d_model=128))
    attention = trace_of(Settings("the cat sat on the mat", d_model=128, n_heads=128))["attention"].value
    expect(heading(page, f"attention[head 1, cat, sat] = {digits(attention[0, 1, 2])}")).to_be_visible()
    expect(page.get_by_role("radiogroup", name="Head").get_by_role("radio")).to_have_count(128)
    page.keyboard.press("[")
    expect(heading(page, f"attention[head 128, cat, sat] = {digits(attention[127, 1, 2])}")).to_be_visible()
    expect(cell(page, "Attention", 1, 2)).to_have_text(re.compile(f"{attention[127, 1, 2]:.2f}"))
    becomes(page, lambda: beyond(page), [0, 0])


FOCUSABLE = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap((each) =>
    [each, ...(each.shadowRoot ? all(each.shadowRoot) : [])]);
  const isSeen = ({ width, height, right, bottom, left, top }) =>
    width > 1 && height > 1 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
  return all(document).filter((each) => each.tabIndex >= 0 && !each.disabled
    && each.checkVisibility({ visibilityProperty: true }) && isSeen(each.getBoundingClientRect())).length;
}"""
OWN = {"sentence": "the cat sat on the mat", "step": "scores"}
MOST_FOCUSABLE = {
    "lesson": ("lessons?lesson=who-is-it&moment=1", 18),
    "All lessons": ("lessons", 20),
    "lesson, asked by words": ("lessons?lesson=who-is-it&moment=2", 18),
    "walkthrough": ("walkthrough", 30),
    "One word": (at(**OWN, view="sheet"), 42),
    "All words": (at(**OWN), 45),
    "All heads": (at(**OWN | {"step": "softmax", "heads": "4"}, view="heads"), 42),
    "microgpt": ("?model=microgpt", 42),
    "Compare": (at(**OWN, view="sheet", beside="mask=causal"), 45),
}
"""What is looked at, and the most that may be focused there: with more, nobody sees what matters."""


def test_few_things_on_a_screen_take_the_focus(visit):
    tab = visit(width=LAPTOP[0])
    for name, (address, most) in MOST_FOCUSABLE.items():
        page = tab.open(address)
        resized(page, *LAPTOP)
        frames(page, 5)
        assert page.evaluate(FOCUSABLE) <= most, name


def test_terms_of_a_text_are_one_tab_stop(visit):
    page = visit(width=LAPTOP[0]).open(at(**OWN, view="sheet"))
    terms = page.locator(".step-text dfn.term")
    becomes(page, lambda: terms.evaluate_all("(all) => all.map((each) => each.tabIndex)"), [0, -1, -1, -1])
    terms.first.focus()
    for number in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        expect(terms.nth(number)).to_be_focused()
        expect(page.locator(".glossary")).to_be_visible()
    step_is(page, 4)
    becomes(page, lambda: terms.evaluate_all("(all) => all.map((each) => each.tabIndex)"), [-1, -1, -1, 0])


def test_a_menu_has_the_keyboard_and_gives_it_back(visit):
    page = visit(width=LAPTOP[0]).open(at(**OWN, view="sheet"))
    opener = page.get_by_role("button", name="Share", exact=True)
    items = page.get_by_role("group", name="Share", exact=True).locator("button:visible, summary")
    for presented in ("", "1"):
        opener.focus()
        page.keyboard.press("Enter")
        expect(items.first).to_be_focused()
        for key, number in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
            page.keyboard.press(key)
            expect(items.nth(number)).to_be_focused()
        page.keyboard.press("Escape")
        expect(items.first).to_be_hidden()
        expect(opener).to_be_focused()
        assert parameters(page).get("present", "") == presented
        if not presented:
            page.keyboard.press("p")
            expect(page.locator(".viewer.presenting")).to_be_visible()
