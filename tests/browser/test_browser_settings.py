"""The settings over a pass, and the room that they leave it, in a real browser."""

import pytest
from tab import at, becomes, beyond, cell, expect, parameters, resized, sentence

BOX = "e => { const {x, y, width, height} = e.getBoundingClientRect(); return {x, y, width, height}; }"
SIZES = [(1366, 768), (1920, 1080)]

ABOVE, BESIDE = 110, 24
"""Pixels that the app has over the viewer at most, and on each side of it."""


def place(locator):
    return locator.evaluate(BOX)


def is_all_that_is_left(viewer, width, height):
    is_wide = viewer["x"] <= BESIDE and viewer["width"] >= width - 2 * BESIDE
    return is_wide and height - ABOVE <= viewer["height"] and height - 16 <= viewer["y"] + viewer["height"] <= height


@pytest.mark.parametrize("address", [{}, {"mask": "causal"}], ids=["a model", "own sentence"])
def test_settings_take_one_line(visit, address):
    page = visit().open(at(**address))
    viewer = page.locator(".viewer")
    for width, height in SIZES:
        resized(page, width, height)
        becomes(page, lambda: place(page.locator(".settings"))["height"] <= 48, True)
        size = (width, height)
        becomes(page, lambda size=size: (size, is_all_that_is_left(place(viewer), *size)), (size, True))
        becomes(page, lambda: beyond(page), [0, 0])
    for width, most in ((1024, 92), (390, 180)):
        resized(page, width, 900)
        becomes(page, lambda most=most: place(page.locator(".settings"))["height"] <= most, True)
        becomes(page, lambda: beyond(page)[1], 0)


def test_menu_and_former_links(visit):
    page = visit(afresh=True).open("what_if" + at(sentence="owls see mice"))
    expect(sentence(page)).to_have_value("owls see mice")
    page.get_by_test_id("stTopNavSection").last.click()
    named = page.locator("[data-testid=stTopNavLink], [data-testid=stTopNavDropdownLink]").all_inner_texts()
    assert [name.split("\n")[-1] for name in named] == [
        *("Lessons", "Walkthrough", "microgpt", "Your own numbers"),
        *("Translator", "Worked examples", "Built by hand", "What attention doesn't say", "Audit", "The same in NumPy"),
    ]
    assert page.get_by_test_id("stSidebar").count() == 0
    becomes(page, lambda: parameters(page), {"sentence": "owls see mice"})


def test_header_and_settings_are_hidden(visit):
    tab = visit(afresh=True)
    page = tab.open(at(step="Softmax", embed="true"))
    resized(page, 1024, 700)
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(cell(page, "Attention", 1, 2)).to_be_visible()
    becomes(page, lambda: place(page.locator(".settings"))["y"] <= 16, True)
    becomes(page, lambda: beyond(page), [0, 0])
    resized(page, 1440, 900)
    page = tab.open("?present=1")
    for hidden in (page.get_by_test_id("stHeader"), page.locator(".settings")):
        expect(hidden).to_be_hidden()
    expect(page.locator(".viewer.presenting")).to_be_visible()

    def is_whole(viewer):
        return (viewer["x"], viewer["width"], viewer["height"] >= 870) == (0, 1440, True)

    becomes(page, lambda: is_whole(place(page.locator(".viewer"))), True)
    becomes(page, lambda: beyond(page), [0, 0])
    page.keyboard.press("Escape")
    for shown in (page.get_by_test_id("stHeader"), page.locator(".settings")):
        expect(shown).to_be_visible()
    becomes(page, lambda: "present" in parameters(page), False)
