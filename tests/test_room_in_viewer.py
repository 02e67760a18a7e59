"""Room: in a low or narrow window, and in a talk, nothing reaches out of its box or over something else."""

import pytest
from tab import at, becomes, expect, frames, resized

pytestmark = pytest.mark.browser

WHO = {"model": "who-is-it"}
_OVERFLOW = "(each) => each.scrollWidth - each.clientWidth"


def edges(part):
    at = part.bounding_box()
    return at["y"], at["y"] + at["height"]


@pytest.mark.parametrize("model", ["recall", "by-hand"])
def test_arcs_of_two_layers_touch_the_letters_that_they_lead_to(opened, model):
    page = opened(model=model)
    (_, above), (top, bottom), (below, _) = (
        edges(page.locator(f".thread .inner > {part}")) for part in (".spoken + .arcs", ".spoken", ".words + .arcs")
    )
    assert 0 <= top - above <= 8
    assert 0 <= below - bottom <= 8


def test_a_word_is_framed_without_a_blank_where_nothing_is_said_beside_it(opened):
    page = opened(at(step="tokens"))
    key, text = page.locator(".thread .key"), page.locator(".thread .key .text")
    assert key.bounding_box()["width"] <= text.bounding_box()["width"] + 16


def test_all_of_the_panel_is_reached_in_a_low_window(opened):
    page = opened(at(step="answer"), model="microgpt", sentence="eliza")
    last = page.locator(".panel button:visible").last
    last.focus()
    assert edges(last)[1] <= edges(page.locator(".viewer"))[1]
    assert edges(page.locator(".panel"))[1] <= edges(page.locator(".viewer"))[1]


@pytest.mark.slow
@pytest.mark.parametrize("step", ["", "softmax"])
def test_all_words_of_an_example_are_seen_in_frames_from_700_pixels_on(opened, step):
    page = opened(at(step=step) if step else "", **WHO)
    for width in (1024, 900, 830, 700):
        resized(page, width, 720)
        becomes(page, lambda: page.locator(".thread").evaluate(_OVERFLOW) <= 1, True, width)
        toolbar, main = (page.locator(part).bounding_box() for part in (".toolbar", ".foot"))
        assert toolbar["x"] + toolbar["width"] <= main["x"] + main["width"] + 1, width


@pytest.mark.slow
def test_no_name_of_a_row_is_cut_on_a_small_screen(opened):
    page = opened(at(step="answer", view="sheet"), **WHO)
    resized(page, 1024, 768)
    widths = page.locator(".sheet th.label").evaluate_all(
        """(all) => all.map((each) => {
          const letters = document.createRange();
          letters.selectNodeContents(each);
          return letters.getBoundingClientRect().right - each.getBoundingClientRect().right;
        })"""
    )
    assert max(widths) <= 1


def test_what_is_pressed_in_a_talk_covers_no_letter_of_the_bars(opened):
    page = opened("?present=1&view=sheet", model="microgpt", sentence="el")
    page.add_style_tag(content="#other { display: none }")
    resized(page, 1024, 768)
    page.mouse.move(300, 300)
    page.mouse.move(310, 310)
    expect(page.locator(".toolbar")).to_be_visible()
    frames(page)
    lowest = max(edges(each)[1] for each in page.locator(".next-letter .name").all())
    assert lowest <= edges(page.locator(".foot"))[0]
    expect(page.get_by_role("button", name="Leave")).to_be_visible()
