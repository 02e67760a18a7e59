"""Room: in a low or narrow window, and in a talk, nothing reaches out of its box or over something else."""

import pytest
from page import SENTENCE
from sight import digits_sizes
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


COUNTED = """() => {
  const { sqrt } = Math, counted = (each) => {
    if (new Error().stack.includes("at sizeOf")) counted.count += 1;
    return sqrt(each);
  };
  Math.sqrt = Object.assign(counted, { count: 0 });
}"""
"""Counts the layouts that are compared (`picture/fit.js`)."""


def test_in_a_small_window_matrices_are_laid_out_once_for_all_of_their_cells(opened):
    page = at_size(opened, 1024, 768, step="output", view="matrices", sentence=SENTENCE, mask="causal")
    assert page.locator(".board").evaluate("(board) => board.scrollHeight > board.clientHeight")
    page.evaluate(COUNTED)
    for dim in (1, 2):
        page.locator(f".matrix[data-stage=output] [data-row='1'][data-column='{dim}']").click()
        expect(page.locator(".panel h3")).to_contain_text(f"output[cat, {dim + 1}]")
    assert page.evaluate("Math.sqrt.count") == 0
    resized(page, 1000, 768)
    becomes(page, lambda: page.evaluate("Math.sqrt.count > 0"), True, "in another window they are, which is counted")


def test_in_a_small_window_arcs_stand_over_the_letters_that_a_text_says_they_lead_to(opened):
    page = at_size(opened, 1024, 768, model="microgpt", sentence="eliza")
    assert "arc" in page.locator(".step-text").inner_text()
    becomes(page, lambda: page.locator(".thread .arc").count() > 1, True)
    bottom = edges(page.locator(".thread"))[1]
    assert page.locator(".thread .spoken + .arcs").bounding_box()["height"] >= 30
    assert max(edges(said)[1] for said in page.locator(".thread .words .said:visible").all()) <= bottom


def test_the_first_column_of_the_sheet_has_a_head_and_the_ways_from_it_one_line(opened):
    page = at_size(opened, 1024, 768, step="softmax-2", view="sheet", sentence=SENTENCE, layers="2")
    expect(page.get_by_role("columnheader", name="Step", exact=True)).to_be_visible()
    tops = (
        page.locator(".sheet .ways").first.locator("button").evaluate_all("(all) => all.map((each) => each.offsetTop)")
    )
    assert len(tops) == 4
    assert len(set(tops)) == 1


LATE = """() => {
  document.fonts.check = () => false;
  document.fonts.load = () => new Promise((come) => { window.come = come; });
  show({});
}"""
SHOWN = """(view) => {
  show({ arrival: (window.arrivals = (window.arrivals ?? 9) + 1), where: { ...given.where, step: "softmax", view } });
  return sizes();
}"""
SIZES = """() => {
  window.sizes = () => [document.querySelector(".sheet").style.getPropertyValue("--line"),
    ...[...document.querySelectorAll(".board .matrix")].map((each) => each.getBoundingClientRect().width)];
}"""


def test_a_view_that_comes_has_all_of_its_room_at_once(opened):
    page = opened(at(step="softmax", view="sheet"))
    page.evaluate(SIZES)
    for view in ("matrices", "sheet"):
        sizes = page.evaluate(SHOWN, view)
        frames(page)
        assert page.evaluate("sizes()") == sizes


def test_letters_that_come_while_the_sheet_is_hidden_leave_it_as_large_as_its_box(opened):
    page = opened(at(step="softmax", view="sheet"), afresh=True)
    page.evaluate(SIZES)
    page.evaluate(LATE)
    sizes = page.evaluate(SHOWN, "sheet")
    page.evaluate(SHOWN, "matrices")
    page.evaluate("() => come()")
    frames(page)
    assert page.evaluate(SHOWN, "sheet") == sizes


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


def test_frames_of_the_sheet_are_no_higher_than_what_is_coloured_of_their_cells(opened):
    page = at_size(opened, 1366, 768, step="softmax", view="sheet", sentence=SENTENCE)
    page.locator('.sheet td[data-cell="scaled[0,1,2]"]').click()
    page.mouse.move(2, 2)
    gaps = page.locator(".sheet td.source").evaluate_all(
        """(all) => all.map((each) => {
          const cell = getComputedStyle(each), frame = getComputedStyle(each, "::after");
          return [parseFloat(cell.borderTopWidth), parseFloat(frame.top), cell.outlineStyle];
        })"""
    )
    assert gaps == [[5, 0, "none"]], "a gap above the first row of a band, and a frame that begins below it"


def test_terms_that_are_scrolled_end_with_a_whole_line(opened):
    page = at_size(opened, 1366, 600, step="softmax", view="sheet", sentence="the quick brown fox jumps over lazy dogs")
    cut = """(box) => {
      const top = box.querySelector("tfoot").getBoundingClientRect().top;
      return [...box.querySelectorAll("tbody tr")]
        .map((each) => each.getBoundingClientRect())
        .filter((each) => each.top < top - 1 && each.bottom > top + 1).length;
    }"""
    terms = page.locator(".panel .terms")
    for height in (600, 620, 640, 660):
        page.add_style_tag(content=f".viewer {{ height: {height}px !important }}")
        frames(page)
        assert terms.evaluate("(each) => each.scrollHeight > each.clientHeight + 1"), height
        assert terms.evaluate(cut) == 0, height
