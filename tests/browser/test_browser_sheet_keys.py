"""Presenting: what a class sees, and a speaker's keys, black screen and QR code, in a real browser."""

import io
import json
import re
from pathlib import Path

import pytest
from alone import painted, sent
from page import SENTENCE
from PIL import Image
from sight import digits_sizes
from tab import at, becomes, beyond, expect, from_menu, parameters, pick, resized, sentence, step_is

from attnviz.models import MODELS

CODES = json.loads((Path(__file__).parents[1] / "data" / "qr_codes.json").read_text("utf-8"))
LETTERS_OFF = "localStorage.setItem('attnviz-letters', 'off')"
LETTERS_ON = "localStorage.removeItem('attnviz-letters')"
PRESENTED = "?view=sheet&step=scores&present=1"


def place(page):
    here = parameters(page)
    return here.get("step", ""), here.get("reveal", "")


def code(page):
    return page.get_by_role("dialog", name="QR code of this page")


def is_black(page):
    painted(page)
    return {most for _, most in Image.open(io.BytesIO(page.screenshot())).convert("RGB").getextrema()} == {0}


def test_b_blackens_the_screen(visit):
    page = visit().open(at(model="who-is-it", step="scores", present=1, route="every-step"))
    expect(page.locator(".way .place")).to_have_text("step 4 of 9")  # of those that one walks through
    page.mouse.click(2, 300)
    for key, shown, leads_to in (
        ("b", "b", "scores"),
        (".", ".", "scores"),
        (".", "PageDown", "scores"),
        ("b", "PageUp", "scores"),
        ("b", "5", "softmax"),
    ):
        page.keyboard.press(key)
        becomes(page, lambda: is_black(page), True)
        page.keyboard.press(shown)
        becomes(page, lambda: is_black(page), False, shown)
        assert place(page) == (leads_to, "")
    held = "[document.activeElement.localName, getComputedStyle(document.activeElement).outlineStyle]"
    assert page.evaluate(held) == ["main", "none"], "no ring around what a click gives the keyboard to"
    page.keyboard.press("b")
    page.keyboard.press("Escape")
    becomes(page, lambda: is_black(page), False)
    becomes(page, lambda: "present" in parameters(page), False)
    page.keyboard.press("b")
    expect(page.locator(".viewer")).not_to_have_class(re.compile("blank"))


def test_single_keys_can_be_switched_off(opened):
    page = opened(PRESENTED + "&reveal=0", model="who-is-it")
    page.evaluate(LETTERS_OFF)
    try:
        before = parameters(page)
        for key in "bwpq3.BWPQ":
            page.keyboard.press(key)
        becomes(page, lambda: parameters(page), before)
        expect(page.locator(".viewer")).not_to_have_class(re.compile("blank"))
        expect(code(page)).to_be_hidden()
        page.keyboard.press("PageDown")
        assert place(page) == ("scores", "")
        from_menu(page, "QR code").click()
        expect(code(page)).to_be_visible()
        page.keyboard.press("q")
        expect(code(page)).to_be_visible()
        page.keyboard.press("Escape")
        expect(code(page)).to_be_hidden()
        page.keyboard.press("Escape")
        assert "present" not in parameters(page)
    finally:
        page.evaluate(LETTERS_ON)


def drawn_rows(page):
    """The modules of the code that is shown, its margin of white ones included."""
    picture = code(page).get_by_role("img")
    left, top, width, height = map(int, picture.get_attribute("viewBox").split())
    dark = {
        (int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", picture.locator("path").get_attribute("d"))
    }
    return ["".join("#" if (left + x, top + y) in dark else "." for x in range(width)) for y in range(height)]


def with_margin(rows):
    white = ["." * (len(rows) + 8)] * 4
    return [*white, *(f"....{row}...." for row in rows), *white]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_qr_code_is_the_address(opened, theme):
    recorded = CODES[0]
    page = opened("?step=scores", theme)
    page.keyboard.press("q")
    expect(code(page).locator(".address")).to_have_text(recorded["text"])
    assert drawn_rows(page) == with_margin(recorded["rows"])
    colours = "(box) => [getComputedStyle(box).backgroundColor, getComputedStyle(box.querySelector('path')).fill]"
    assert code(page).evaluate(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    picture = code(page).get_by_role("img").bounding_box()
    assert min(picture["width"], picture["height"]) > 0.6 * 768, "large, on a screen of 768 lines"


def test_qr_dialog_keeps_focus(opened):
    page = opened(PRESENTED + "&reveal=0", model="who-is-it")
    before, opener = parameters(page), page.get_by_role("button", name="Share", exact=True)
    close = code(page).get_by_role("button", name="Close")
    leave = (
        lambda: page.keyboard.press("Q"),
        lambda: page.keyboard.press("Escape"),
        lambda: page.keyboard.press("Enter"),
        lambda: page.mouse.click(300, 200),
    )
    for show in (lambda: page.keyboard.press("q"), lambda: from_menu(page, "QR code").click()):
        for hide in leave:
            opener.focus()
            show()
            expect(close).to_be_focused()
            hide()
            expect(code(page)).to_be_hidden()
            expect(opener).to_be_focused()
            assert parameters(page) == before, "one presents as before"


def test_other_keys_close_the_qr_code(opened):
    page = opened(PRESENTED + "&route=every+step&reveal=0", model="who-is-it")
    for key, leads_to in (("PageDown", ("scores", "")), ("PageUp", ("scores", "0")), ("4", ("scaling", ""))):
        page.keyboard.press("q")
        expect(code(page)).to_be_visible()
        page.keyboard.press(key)
        expect(code(page)).to_be_hidden()
        assert place(page) == leads_to
    page.keyboard.press("q")
    page.keyboard.press("b")
    expect(code(page)).to_be_hidden()
    becomes(page, lambda: is_black(page), True)
    page.keyboard.press("q")
    expect(code(page)).to_be_visible()
    assert not is_black(page)


_TO_THE_END_OF_THE_STEP = """() => {
  const on = { key: "PageDown", bubbles: true, cancelable: true };
  for (let left = 60; left > 0 && new URLSearchParams(location.search).has("reveal"); left -= 1)
    document.body.dispatchEvent(new KeyboardEvent("keydown", on));
}"""


def test_presented_digits_are_large(visit):
    page = visit(width=1920).open(at(step="Tokens", view="matrices", present=1, reveal=0))
    resized(page, 1920, 1080)
    for number in range(2, 10):
        step_is(page, number)
        page.evaluate(_TO_THE_END_OF_THE_STEP)
        expect(page.locator(".panel h3")).to_contain_text("=")
        # three matrices of 8 columns beside each other, with labels, have no room for more on the Output step
        becomes(page, lambda: min(digits_sizes(page)) >= 28, True, number)
        becomes(page, lambda: beyond(page)[0], 0, number)
        page.keyboard.press("PageDown")
    for hidden in (page.get_by_test_id("stHeader"), page.locator(".settings"), page.locator(".way .map")):
        expect(hidden).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".settings")).to_be_visible()
    assert "present" not in parameters(page)


SMALL = ((1280, 720), (1366, 768))
"""Screens of projectors and laptops."""


@pytest.mark.parametrize(
    "shown",
    [
        {"model": "who-is-it", "step": "scaling", "changes": "scores[0,11,1]=-50"},
        {"model": "mirror", "step": "scores", "changes": "scores[0,7,0]=-50", "present": 1, "view": "matrices"},
    ],
)
def test_presented_words_and_answers_are_visible(visit, shown):
    page = visit().open(at(**shown))
    for size in SMALL:
        resized(page, *size)
        for each in page.locator(".thread .words button, .thread .answer").all():
            expect(each).to_be_in_viewport(ratio=0.99)


def test_letters_and_page_keys_by_focus(visit):
    page = visit().open(at(sentence=SENTENCE, heads=4, step="Scores"))
    step_is(page, 4)
    link, more = page.get_by_test_id("stTopNavLink").first, page.get_by_role("button", name="Settings", exact=True)
    for key in ("]", "p"):
        link.press(key)
    page.get_by_role("button", name="Share", exact=True).press("]")
    expect(page.get_by_role("radio", name="head 2")).to_be_checked()
    more.press("]")
    expect(page.get_by_role("radio", name="head 3")).to_be_checked()
    page.keyboard.press("[")
    assert "present" not in parameters(page)
    page.locator(".step-text h2").click()  # which gives the keyboard to Streamlit's main part
    page.keyboard.press("[")
    expect(page.get_by_role("radio", name="head 1")).to_be_checked()

    pick(page, "Mask", "causal")
    becomes(page, lambda: parameters(page).get("mask"), "causal")
    page.keyboard.press("PageDown")
    step_is(page, 5)
    sentence(page).fill("owls see mice")
    for key in ("ArrowLeft", "PageDown", "PageDown", "PageUp"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Next").press("PageDown")
    step_is(page, 6)
    page.keyboard.press("PageUp")
    step_is(page, 5)
    expect(sentence(page)).to_have_value("owls see mice")
    becomes(page, lambda: parameters(page).get("sentence"), "owls see mice")


def test_e_shows_the_next_example(visit):
    page = visit().open(at(model="who-is-it", view="sheet", present=1))
    page.keyboard.press("e")
    becomes(page, lambda: parameters(page).get("sentence", "").split()[-1:], ["wide"])
    becomes(page, lambda: parameters(page).get("present"), "1")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="tired", exact=True).click()
    becomes(page, lambda: "sentence" in parameters(page), False)
    page.keyboard.press("w")
    becomes(page, lambda: "view" in parameters(page), False)
    page.keyboard.press("PageDown")
    step_is(page, 2)
    page.keyboard.press("PageUp")
    typed = "the animal did not cross the street because it was too narrow"
    sentence(page).fill(typed)
    page.keyboard.press("Enter")
    page.keyboard.press("p")
    becomes(page, lambda: parameters(page).get("present"), "1")
    page.keyboard.press("Escape")
    expect(sentence(page)).to_have_value(typed)


WIDE = MODELS["who-is-it"].task.examples[1][1]


def test_talk_announces_its_end(opened):
    page = opened(at(view="sheet", present=1), model="who-is-it")
    said, on = page.locator(".viewer .edge"), page.get_by_role("button", name="Next")
    page.keyboard.press("PageUp")
    expect(said).to_have_text("This is the first reveal.")
    page.keyboard.press("PageDown")
    page.keyboard.press("Home")
    becomes(page, lambda: parameters(page).get("step"), None)
    page.keyboard.press("End")
    becomes(page, lambda: parameters(page).get("reveal"), "all")
    expect(page.locator(".offer")).to_have_text("What if it were “wide”?")
    expect(on).to_be_enabled()
    page.keyboard.press("PageDown")
    on.click()
    assert sent(page) == [["example", WIDE]] * 2
    expect(said).not_to_have_text("This is the last reveal. Home begins again, Esc leaves.")

    page = opened(at(view="sheet", present=1), model="who-is-it", sentence=WIDE)
    page.keyboard.press("End")
    expect(page.locator(".offer")).to_be_hidden()
    expect(on).to_be_disabled()
    page.keyboard.press("PageDown")
    expect(said).to_have_text("This is the last reveal. Home begins again, Esc leaves.")
    assert (sent(page), parameters(page).get("reveal")) == ([], "all")
