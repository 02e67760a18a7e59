"""A speaker's keys on the sheet, in a real browser: a clicker, single keys, a black screen, the QR code, and Play."""

import io
import json
import re
from pathlib import Path

import pytest
from alone import hasten, painted
from PIL import Image
from tab import PLAYED_AND_PAUSED, at, becomes, expect, parameters

pytestmark = pytest.mark.browser

CODES = json.loads((Path(__file__).parents[1] / "data" / "qr_codes.json").read_text("utf-8"))
LETTERS_OFF = "localStorage.setItem('attnviz-letters', 'off')"
LETTERS_ON = "localStorage.removeItem('attnviz-letters')"
PRESENTED = "?view=sheet&step=scores&present=1"


def place(page):
    """The step and the reveal, as the address says them."""
    here = parameters(page)
    return here.get("step", ""), here.get("reveal", "")


def bands(page):
    """The steps that have bands, in order."""
    return page.evaluate("given.steps.filter(({ bands }) => bands.length).map(({ id }) => id)")


def code(page):
    return page.get_by_role("dialog", name="QR code of this page")


def is_black(page):
    """Whether a person sees nothing but black."""
    painted(page)
    return {most for _, most in Image.open(io.BytesIO(page.screenshot())).convert("RGB").getextrema()} == {0}


@pytest.mark.slow
def test_a_clicker_walks_all_of_it_and_back(opened):
    page = opened("?view=sheet&route=every+step", mask="causal")
    page.keyboard.press("p")
    onward = [place(page)]
    for _ in range(60):
        page.keyboard.press("PageDown")
        if place(page) == onward[-1]:
            break
        onward.append(place(page))
    assert len(set(onward)) == len(onward), "each press leads somewhere else"
    assert list(dict.fromkeys(step for step, _ in onward)) == ["", *bands(page)], "the question, and every step"
    assert onward[-1] != ("", "all"), "no question was asked that is answered in the end"
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    for each in reversed(onward[:-1]):
        page.keyboard.press("PageUp")
        assert place(page) == each
    becomes(page, lambda: parameters(page).get("present"), "1")


@pytest.mark.slow
def test_a_digit_leads_to_the_band_of_that_number_all_of_it_there(opened):
    page = opened(PRESENTED + "&reveal=0&route=every+step", model="who-is-it")
    for number, step in enumerate(bands(page), 1):
        page.keyboard.press(str(number))
        assert place(page) == (step, "")
    page.keyboard.press("9")
    assert place(page) == (bands(page)[-1], ""), "there is none of that number"


def test_one_key_makes_the_screen_black_and_the_next_shows_it_again(visit):
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


def test_single_keys_can_be_switched_off_and_nothing_else_goes_with_them(opened):
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
        page.get_by_role("button", name="QR code").click()
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


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_code_is_that_of_the_page_s_address_black_on_white(opened, theme):
    recorded = CODES[0]
    page = opened("?step=scores", theme)
    page.keyboard.press("q")
    expect(code(page).locator(".address")).to_have_text(recorded["text"])
    assert drawn_rows(page) == with_margin(recorded["rows"])
    colours = "(box) => [getComputedStyle(box).backgroundColor, getComputedStyle(box.querySelector('path')).fill]"
    assert code(page).evaluate(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    picture = code(page).get_by_role("img").bounding_box()
    assert min(picture["width"], picture["height"]) > 0.6 * 768, "large, on a screen of 768 lines"


@pytest.mark.slow
def test_a_key_shows_the_code_and_the_keyboard_is_in_it_until_it_is_closed(opened):
    page = opened(PRESENTED + "&reveal=0", model="who-is-it")
    before, opener = parameters(page), page.get_by_role("button", name="QR code")
    close = code(page).get_by_role("button", name="Close")
    leave = (
        lambda: page.keyboard.press("Q"),
        lambda: page.keyboard.press("Escape"),
        lambda: page.keyboard.press("Enter"),
        lambda: page.mouse.click(300, 200),
    )
    for show in (lambda: page.keyboard.press("q"), opener.click):
        for hide in leave:
            opener.focus()
            show()
            expect(close).to_be_focused()
            hide()
            expect(code(page)).to_be_hidden()
            expect(opener).to_be_focused()
            assert parameters(page) == before, "one presents as before"


def test_what_else_a_speaker_presses_closes_the_code_and_is_done(opened):
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


@pytest.mark.slow
def test_play_plays_the_sheet_and_can_be_paused(opened):
    page = opened("?view=sheet&step=softmax", model="who-is-it")
    page.keyboard.press("p")
    page.get_by_role("button", name="Play").evaluate(PLAYED_AND_PAUSED)
    assert place(page) == ("softmax", "0"), "it begins where one is"
    go_on, on = page.get_by_role("button", name="Go on"), page.get_by_role("button", name="One reveal on")
    expect(go_on).to_be_visible()
    played = [place(page)]
    while played[-1][0] != "answer":
        on.click()
        played.append(place(page))
    page.get_by_role("button", name="One reveal back").click()
    assert place(page) == played[-2]
    hasten(page)
    page.get_by_role("combobox", name="Speed").select_option("fast")
    go_on.click()
    becomes(page, lambda: place(page), ("answer", ""))
    play = page.get_by_role("button", name="Play", exact=False)
    expect(play).to_be_visible()
    play.evaluate(PLAYED_AND_PAUSED)
    assert place(page)[0] == bands(page)[0], "from its end it plays once more"
    expect(go_on).to_be_visible()
