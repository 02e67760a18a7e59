"""The settings over a pass, and the room that they leave it, in a real browser."""

import pytest
from boxes import of
from tab import at, becomes, cell, expect, parameters, pick, resized, sentence

from attnviz.core.limits import MAX_CHARACTERS

pytestmark = [pytest.mark.browser, pytest.mark.essential]

BOX = "e => { const {x, y, width, height} = e.getBoundingClientRect(); return {x, y, width, height}; }"
BEYOND = "e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]"
"""How much of an element has to be scrolled to."""
SIZES = [(1366, 768), (1920, 1080)]

ABOVE, BESIDE = 110, 24
"""Pixels that the app has over the viewer at most, and on each side of it."""


def place(locator):
    """Where something is, and how large."""
    return locator.evaluate(BOX)


def is_all_that_is_left(viewer, width, height):
    is_wide = viewer["x"] <= BESIDE and viewer["width"] >= width - 2 * BESIDE
    return is_wide and height - ABOVE <= viewer["height"] and height - 16 <= viewer["y"] + viewer["height"] <= height


@pytest.mark.slow
@pytest.mark.parametrize("address", [{}, {"mask": "causal"}], ids=["a model", "own sentence"])
def test_settings_take_one_line_and_the_viewer_all_that_is_left_two_where_it_is_narrow_three_on_a_phone(visit, address):
    page = visit().open(at(**address))
    main, viewer = page.get_by_test_id("stMain"), page.locator(".viewer")
    for width, height in SIZES:
        resized(page, width, height)
        becomes(page, lambda: place(page.locator(".settings"))["height"] <= 48, True)
        size = (width, height)
        becomes(page, lambda size=size: (size, is_all_that_is_left(place(viewer), *size)), (size, True))
        becomes(page, lambda: main.evaluate(BEYOND), [0, 0])
    for width, most in ((1024, 92), (390, 180)):
        resized(page, width, 900)
        becomes(page, lambda most=most: place(page.locator(".settings"))["height"] <= most, True)
        becomes(page, lambda: main.evaluate("e => e.scrollWidth - e.clientWidth"), 0)


@pytest.mark.slow
def test_more_stays_open_whatever_is_changed_inside_it(visit):
    tab = visit()
    page = tab.open(at(sentence="the cat"))
    page.get_by_role("button", name="Settings", exact=True).click()
    more = page.get_by_role("group", name="More settings")

    def answered(**expected):
        becomes(page, lambda: parameters(page).items() >= expected.items(), True)
        tab.settled()
        expect(more).to_be_visible()

    pick(page, "Positions", "sinusoidal")
    answered(positions="sinusoidal")
    scaled = more.get_by_text("Divide scores by √d_k")
    scaled.click()
    answered(scaled="false")
    scaled.click()
    becomes(page, lambda: parameters(page), {"sentence": "the cat", "positions": "sinusoidal"})
    more.get_by_role("textbox", name="Keys and values").fill("der Hund")
    answered(context="der Hund")
    pick(page, "Parameters", "xavier")
    answered(initialiser="xavier")


@pytest.mark.slow
def test_a_long_sentence_can_be_read_to_its_end_while_it_is_typed(drawn):
    page = drawn(**of(sentence="a b"))
    page.get_by_role("button", name="Settings", exact=True).click()
    for label in ("Keys and values from another sentence", "Sentence"):
        box = page.get_by_role("textbox", name=label, exact=True)
        box.fill("every word of this is there to be read".ljust(MAX_CHARACTERS - 20, "."))
        box.press_sequentially(" to its end")
        end = "box => box.getBoundingClientRect().right - parseFloat(getComputedStyle(box).paddingRight)"
        becomes(page, lambda box=box, end=end: place(page.locator(".counter:visible"))["x"] >= box.evaluate(end), True)


@pytest.mark.slow
def test_the_menu_names_its_pages_and_links_to_former_ones_work(visit):
    page = visit(afresh=True).open("what_if" + at(sentence="owls see mice"))
    expect(sentence(page)).to_have_value("owls see mice")
    page.get_by_test_id("stTopNavSection").last.click()
    named = page.locator("[data-testid=stTopNavLink], [data-testid=stTopNavDropdownLink]").all_inner_texts()
    assert [name.split("\n")[-1] for name in named] == [
        *("Lessons", "Walkthrough", "microgpt", "Your own numbers"),
        *("Worked examples", "Built by hand", "What attention doesn't say", "Audit", "The same in NumPy"),
    ]
    assert page.get_by_test_id("stSidebar").count() == 0
    becomes(page, lambda: parameters(page), {"sentence": "owls see mice"})


@pytest.mark.slow
def test_in_a_frame_there_is_no_header_and_while_presenting_no_settings(visit):
    tab = visit(afresh=True)
    page = tab.open(at(step="Softmax", embed="true"))
    resized(page, 1024, 700)
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(cell(page, "Attention", 1, 2)).to_be_visible()
    becomes(page, lambda: place(page.locator(".settings"))["y"] <= 16, True)
    becomes(page, lambda: page.get_by_test_id("stMain").evaluate(BEYOND), [0, 0])
    resized(page, 1440, 900)
    page = tab.open("?present=1")
    for hidden in (page.get_by_test_id("stHeader"), page.locator(".settings")):
        expect(hidden).to_be_hidden()
    expect(page.locator(".viewer.presenting")).to_be_visible()

    def is_whole(viewer):
        return (viewer["x"], viewer["width"], viewer["height"] >= 870) == (0, 1440, True)

    becomes(page, lambda: is_whole(place(page.locator(".viewer"))), True)
    becomes(page, lambda: page.get_by_test_id("stMain").evaluate(BEYOND), [0, 0])
    page.keyboard.press("Escape")
    for shown in (page.get_by_test_id("stHeader"), page.locator(".settings")):
        expect(shown).to_be_visible()
    becomes(page, lambda: "present" in parameters(page), False)
