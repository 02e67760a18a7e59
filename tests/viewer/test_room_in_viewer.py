"""Room: in a low or narrow window, and in a talk, nothing reaches out of its box or over something else."""

import pytest
from page import SENTENCE
from sight import digits_sizes
from tab import at, becomes, frames, resized

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


def at_size(opened, width, height, **address):
    """The viewer alone, as high as in the app, in a window of a size."""
    page = opened(at(**{key: address.pop(key) for key in ("step", "view", "cell") if key in address}), **address)
    page.add_style_tag(content=f".viewer {{ height: {height - 134}px !important }} #other {{ display: none }}")
    resized(page, width, height)
    frames(page)
    return page


@pytest.mark.parametrize("step", ["softmax", "mask", "output"])
def test_in_a_small_window_matrices_have_digits_and_nothing_is_cut_off(opened, step):
    place = {"step": step, "view": "matrices", "cell": "1.8.8.1.1"}  # the last one, for which some are scrolled
    page = at_size(opened, 1024, 768, **place, sentence=f"{SENTENCE} and slept", mask="causal")
    becomes(page, lambda: min(digits_sizes(page)) >= 9, True)
    assert page.locator(".board").evaluate(_OVERFLOW) <= 1
    top, bottom = edges(page.locator(".board"))
    assert all(top <= edge <= bottom for edge in edges(page.locator(".frame.focus").first)), "the cell in focus is seen"


def test_in_a_small_window_arcs_stand_over_the_letters_that_a_text_says_they_lead_to(opened):
    page = at_size(opened, 1024, 768, model="microgpt", sentence="eliza")
    assert "arc" in page.locator(".step-text").inner_text()
    becomes(page, lambda: page.locator(".thread .arc").count() > 1, True)
    bottom = edges(page.locator(".thread"))[1]
    assert page.locator(".thread .spoken + .arcs").bounding_box()["height"] >= 30
    assert max(edges(said)[1] for said in page.locator(".thread .words .said:visible").all()) <= bottom


def test_a_window_of_4k_is_used_and_one_of_1080_lines_is_as_it_was(opened):
    page = at_size(opened, 1920, 1080, step="softmax", view="matrices", sentence=SENTENCE)
    letters = "() => parseFloat(getComputedStyle(document.documentElement).fontSize)"
    assert page.evaluate(letters) == 16
    assert max(digits_sizes(page)) <= 1.1 * 15.2 + 0.01
    page = at_size(opened, 3840, 2160, step="softmax", view="matrices", sentence=SENTENCE)
    assert page.evaluate(letters) > 32, "those of the panel and of the navigation, too"
    becomes(page, lambda: min(digits_sizes(page)) >= 36, True)
    tops = page.locator(".picture .matrix").evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().top)")
    assert len(tops) == 2
    assert len(set(tops)) == 1, "in a row, as they are read"
