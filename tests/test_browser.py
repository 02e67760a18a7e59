"""What a person does, in a real browser."""

import re
import struct

import numpy as np
import pytest
from page import ROOT, SENTENCE
from tab import at, becomes, cell, expect, grid, heading, outlined

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits
from attnviz.examples import EXAMPLES
from attnviz.text.steps import STEPS, steps_of

pytestmark = pytest.mark.browser


def test_type_a_sentence_and_step_to_the_output_with_the_keyboard(visit):
    tab = visit()
    page = tab.open()
    page.get_by_label("Type a sentence").fill("owls see mice at night")
    expect(grid(page, "Embeddings").get_by_role("rowheader", name="owls")).to_be_visible()
    page.get_by_label("Type a sentence").blur()
    trace = trace_of(Settings("owls see mice at night"))
    for place, step in enumerate(steps_of(trace)):
        expect(heading(page, f"{place + 1}. {step.heading}")).to_be_visible()
        if step.title == "Output":
            break
        tab.settled()  # a press before the page has answered the last one may not count
        page.keyboard.press("ArrowRight" if place % 2 else "PageDown")
    output = trace["output"].value
    for row, column in np.ndindex(output.shape):
        expected = f"{output[row, column]:.2f}".replace("-0.00", "0.00").replace("-", "−")
        expect(grid(page, "Output O").first.locator(f'[data-row="{row}"][data-column="{column}"]')).to_have_text(
            expected
        )
    tab.settled()
    page.keyboard.press("PageUp")
    expect(heading(page, STEPS[8].heading)).to_be_visible()


def test_pick_a_cell_by_mouse_and_find_the_core_s_number(visit):
    page = visit().open(at(step="Scores"))
    cell(page, "Scores", 5, 3).click()
    trace = trace_of(Settings(SENTENCE))
    expect(
        page.get_by_role("heading", name=f"scores[head 1, mat, on] = {digits(trace['scores'].value[0, 5, 3])}")
    ).to_be_visible()
    expect(page.get_by_role("status")).to_have_text(
        f"scores[head 1, mat, on] = {float(trace['scores'].value[0, 5, 3])!r}"
    )
    page.get_by_role("radio", name="Weighted sum").or_(
        page.get_by_role("button", name="Weighted sum", exact=True)
    ).first.click()
    expect(heading(page, "Collect the values")).to_be_visible()
    becomes(page, lambda: outlined(page, "Attention"), [(5, key) for key in range(6)])
    assert "cell=1.6.4.1.1" in page.url


def test_pick_a_cell_by_keyboard_without_turning_the_page(visit):
    page = visit().open(at(step="Softmax", cell="2.1.1.1.1"))
    cell(page, "Attention", 0, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    expect(cell(page, "Attention", 1, 1)).to_be_focused()
    value = trace_of(Settings(SENTENCE))["attention"].value[1, 1, 1]
    expect(page.get_by_role("status")).to_have_text(f"attention[head 2, cat, cat] = {float(value)!r}")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=f"attention[head 2, cat, cat] = {digits(value)}")).to_be_visible()
    expect(heading(page, "Scores become shares")).to_be_visible()
    expect(cell(page, "Attention", 1, 1)).to_be_focused()


def test_hovering_outlines_what_a_number_was_made_from(visit):
    page = visit().open(at(step="Scores"))
    cell(page, "Scores", 2, 4).hover()
    becomes(page, lambda: outlined(page, "Queries"), [(2, feature) for feature in range(4)])
    becomes(page, lambda: outlined(page, "Keys"), [(feature, 4) for feature in range(4)])
    expect(page.locator(".picture[data-complete=true]")).to_be_attached()  # what was prefetched moves no outline
    assert outlined(page, "Queries") == [(2, feature) for feature in range(4)]
    page.mouse.move(5, 5)
    becomes(page, lambda: outlined(page, "Queries"), [(1, feature) for feature in range(4)])


def test_a_band_of_the_big_matrix_is_the_head_s_own(visit):
    page = visit().open(at(step="Q, K, V"))
    grid(page, "Query parameters").locator('[data-row="3"][data-column="6"]').click()  # column 3 of head 2
    expect(page.get_by_role("heading", name="w_q[head 2, 4, 3]")).to_be_visible()
    becomes(page, lambda: outlined(page, "Query parameters"), [(row, 6) for row in range(8)])


def test_a_step_that_was_clicked_does_not_keep_the_arrow_keys(visit):
    tab = visit()
    page = tab.open()
    page.get_by_role("radio", name="Scores").click()
    expect(heading(page, "3. How well")).to_be_visible()
    tab.settled()
    page.keyboard.press("ArrowRight")
    expect(heading(page, "4. Keep the scores")).to_be_visible()


def test_any_cell_of_the_whole_pass_can_be_taken_apart(visit):
    tab = visit()
    page = tab.open(at(step="Whole pass"))
    cells = {"Keys": "k[head 1, mat, 4]", "Output parameters": "w_o[8, 8]", "Masked scores": "masked[head 2, mat, "}
    for title, name in cells.items():
        grid(page, title).locator("[data-row]").last.click()
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        tab.settled()  # a click before the page has answered the last one may not count


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_every_step_is_quiet_and_fits_the_screen(visit, theme, width):
    tab = visit(theme, width)
    for step in STEPS:
        page = tab.open(at(step=step.title, positions="sinusoidal", mask="causal"))
        expect(heading(page, step.heading)).to_be_visible()
        assert page.locator('[data-testid="stException"]').count() == 0
        # the page itself never scrolls sideways; what is in it does
        overhang = "(e => e.scrollWidth - e.clientWidth)(document.querySelector('[data-testid=\"stMain\"]'))"
        assert page.evaluate(overhang) <= 0
    page = tab.open("numpy_code")
    expect(heading(page, "The same in NumPy")).to_be_visible()


def test_large_pictures_are_drawn_with_the_very_numbers(visit):
    page = visit().open(at(step="Scores", d_model=32, sentence=" ".join(f"w{i}" for i in range(20))))
    expect(page.locator(".st-key-large_picture_0 .heatmaplayer").last).to_be_visible()
    drawn = page.evaluate(
        "document.querySelector('.st-key-large_picture_0 .js-plotly-plot')._fullData.at(-1).z.map(r => [...r])"
    )
    trace = trace_of(Settings(" ".join(f"w{i}" for i in range(20)), d_model=32))
    assert np.array_equal(drawn, trace["scores"].value[0])


HOSTILE = (
    "<b>bold</b> ![](http://evil.example/x.png) [a](http://evil.example) $x^2$ :red[x] %{y} __dunder__ _it_ & → :cat:"
)


@pytest.mark.parametrize(("step", "d_model"), [("Tokens", 8), ("Softmax", 8), ("Softmax", 32), ("Whole pass", 32)])
def test_markup_typed_as_words_appears_as_those_very_characters(visit, step, d_model):
    tab = visit()
    words = trace_of(Settings(HOSTILE)).labels["query"]
    for word in ("<", "__dunder__", "_it_"):
        cell = f"1.{words.index(word) + 1}.1.1.1"
        page = tab.open(at(step=step, d_model=d_model, sentence=HOSTILE, cell=cell))
        caption = "numbers in all" if step == "Whole pass" else f"“{word}”"
        expect(page.locator('.caption, [data-testid="stMarkdown"]', has_text=caption).first).to_be_visible()
        assert page.locator('[data-testid="stMain"]').locator("img, a[href*=evil], em").count() == 0


@pytest.mark.parametrize("source", ["000 word", "001 with", "002 multihead", "003 steps", "004 sum"])
def test_a_worked_example_opens_in_the_walkthrough_and_steps_to_its_end(visit, source):
    example, variant = source.split()
    tab = visit()
    page = tab.open(at(source=source))
    steps = steps_of(EXAMPLES[example].variant(variant).trace)
    for place, step in enumerate(steps):
        expect(heading(page, f"{place + 1}. {step.heading}")).to_be_visible()
        if step is not steps[-1]:
            tab.settled()
            page.locator(".st-key-Next_top button").first.click()
    expect(heading(page, "Every stage and its shape")).to_be_visible()


PICTURE = ROOT / "docs" / "walkthrough.png"
CONTENT = PICTURE.with_suffix(".txt")
"""What the page of the picture said when it was taken, as a screen reader is given it."""


def test_the_readme_s_picture_is_the_app(visit, request):
    page = visit().open(at(step="Scores"))
    page.set_viewport_size({"width": 1440, "height": 1000})
    expect(cell(page, "Scores", 1, 2)).to_have_class(re.compile("read"))
    main = page.get_by_test_id("stMain")
    if request.config.getoption("--remake-picture"):
        page.screenshot(path=PICTURE)
        CONTENT.write_text(main.aria_snapshot(), "utf-8")
    assert struct.unpack(">II", PICTURE.read_bytes()[16:24]) == (1440, 1000)  # where a PNG holds its size
    remake = "the page is not what docs/walkthrough.png shows: pytest tests/test_browser.py -k readme --remake-picture"
    becomes(page, main.aria_snapshot, CONTENT.read_text("utf-8"), remake)
