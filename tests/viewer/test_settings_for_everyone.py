"""The settings without a server: the room they take, More, the keyboard, and what is seen and heard of them."""

import re

import pytest
from alone import sent
from axe import violations
from boxes import MODEL, OWN, YELLOW, more, of, sentence
from tab import expect

from attnviz.core.limits import MAX_CHARACTERS
from attnviz.scene.document.controls import MAX_SEED_CHARACTERS
from attnviz.viewer.bundle import module

pytestmark = pytest.mark.browser


KEYCAPS = {"ArrowRight": "→", "ArrowLeft": "←", "PageDown": "Page Down", "PageUp": "Page Up", "Escape": "Esc"}
KEYS = re.findall(r'\["([^"]+)", "', module("shortcuts").read_text("utf-8"))
"""All that the viewer listens to, as the browser calls them; on a keyboard some are called otherwise."""


def test_pills_are_one_stop_of_the_keyboard_and_one_is_pressed(drawn):
    page = drawn(**of(**MODEL))
    examples = page.get_by_role("toolbar", name="Examples").get_by_role("button")
    tired, wide = examples.nth(0), examples.nth(1)
    page.evaluate("keys()")
    sentence(page).focus()
    page.keyboard.press("Tab")
    expect(tired).to_be_focused()
    page.keyboard.press("Enter")
    assert sent(page) == [], "it is pressed already"
    page.keyboard.press("ArrowRight")
    expect(wide).to_be_focused()
    page.keyboard.press("Enter")
    expect(wide).to_have_attribute("aria-pressed", "true")
    page.evaluate("answer(given, true)")
    expect(wide).to_have_attribute("aria-pressed", "true")
    expect(tired).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name="Seed")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(wide).to_be_focused()
    assert sent(page) == [["example", page.evaluate("box('example').options[1].value")]]
    assert page.evaluate("heard") == []


def test_keys_in_boxes_are_no_shortcuts(drawn):
    page = drawn(**of(**OWN))
    page.evaluate("keys()")
    for key in ("p", "]", "ArrowLeft", "ArrowRight"):
        sentence(page).press(key)
        page.get_by_role("combobox", name="Mask").press(key)
    for key in ("PageDown", "PageUp"):
        sentence(page).press(key)
    more(page).get_by_role("switch", name="Divide scores by √d_k").press("ArrowRight")
    assert page.evaluate("heard") == []


def test_more_says_what_keys_do_in_a_viewer_and_switches_single_characters_off_for_good(drawn):
    page = drawn(**of(**OWN))
    switch = more(page).get_by_role("switch", name="Single-key shortcuts: letters, digits, dot, [ and ]")
    expect(switch).to_be_hidden()  # where no viewer is, keys do nothing
    page = drawn(settings={"line": [], "more": []}, view="pass")
    keys = more(page).get_by_role("group", name="Keyboard")
    assert {"PageDown", "p", "["} < set(KEYS)
    assert set(keys.locator("kbd").all_inner_texts()) == {KEYCAPS.get(key, key.capitalize()) for key in KEYS} | {
        "1",
        "12",
    }
    expect(switch).to_be_checked()
    switch.press("Space")
    page.evaluate("keys()")
    for key in ("p", "]", "[", "ArrowRight"):
        page.locator("#other").press(key)
    assert page.evaluate("heard") == ["on"]
    page.reload()
    page = drawn(**of(**OWN), view="pass")
    more(page)
    expect(switch).not_to_be_checked()
    switch.press("Space")
    page.evaluate("keys()")
    page.locator("#other").press("p")
    assert page.evaluate("heard") == ["present"]
    assert sent(page) == [], "it is nobody's business but the browser's"


def test_more_stays_open_until_it_is_left(drawn):
    page = drawn(**of(**OWN))
    opener = page.get_by_role("button", name="Settings", exact=True)
    opener.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("group", name="More settings")
    expect(panel).to_be_visible()
    expect(opener).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name="Parameters")).to_be_focused()
    page.get_by_role("combobox", name="Positions").select_option("sinusoidal")
    page.evaluate("say('positions', 'sinusoidal')")
    panel.get_by_text("Divide scores by √d_k").click()
    page.evaluate("say('scaled', false)")
    expect(panel).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(opener).to_be_focused()
    expect(opener).to_have_attribute("aria-expanded", "false")
    opener.click()
    page.locator("h1").click()
    expect(panel).to_be_hidden()
    opener.click()
    page.evaluate("given.settings.more = [], answer(given)")
    expect(panel).to_be_hidden()
    expect(opener).to_be_hidden()
    page.evaluate("answer({ ...given, view: 'pass' })")
    expect(opener).to_be_visible()


def test_how_much_room_is_left_is_said_where_nothing_is_written(drawn):
    page = drawn(**of(**OWN))
    box, counter = sentence(page), page.locator(".live .counter").first
    three_quarters = "m" * (MAX_CHARACTERS * 3 // 4)
    box.fill(three_quarters)
    expect(counter).to_be_hidden()
    box.press("End")
    box.press_sequentially("m")
    expect(counter).to_have_text(f"{len(three_quarters) + 1}/{MAX_CHARACTERS}")
    expect(counter).to_be_visible()
    end = box.evaluate("(box) => box.getBoundingClientRect().right - parseFloat(getComputedStyle(box).paddingRight)")
    assert counter.bounding_box()["x"] >= end
    assert box.get_attribute("maxlength") == str(MAX_CHARACTERS)
    assert page.get_by_role("textbox", name="Seed").get_attribute("maxlength") == str(MAX_SEED_CHARACTERS)
    page.locator("#other").focus()
    expect(counter).to_be_hidden()


def test_notices_are_lines_that_are_said_once_with_what_is_offered(drawn):
    offers = [
        {"event": "replace", "value": ["dragon", "dog"], "label": "dragon → dog"},
        {"event": "source", "value": "who-is-it", "label": "Back to Who is “it”?"},
    ]
    page = drawn(**of(**MODEL), notices=["<b>one</b>", "two"], offers=offers)
    alert = page.get_by_role("alert")
    assert alert.locator("p").all_inner_texts() == ["<b>one</b>", "two"]
    page.evaluate("window.line = document.querySelector('.notices p'), answer(given)")
    assert page.evaluate("line.isConnected")
    for button in alert.get_by_role("button").all():
        button.click()
    assert sent(page) == [["replace", ["dragon", "dog"]], ["source", "who-is-it"]]
    page.evaluate("answer({ settings: given.settings })")
    expect(alert).to_be_hidden()


def test_help_is_seen_and_heard_and_every_box_has_a_name(drawn):
    page = drawn(**of(**OWN, mask="window"))
    panel = more(page)
    for role, name in [
        ("textbox", "Sentence"),
        ("combobox", "Show"),
        ("combobox", "d_model"),
        ("combobox", "Heads"),
        ("combobox", "Mask"),
        ("combobox", "Keys seen on either side"),
        ("textbox", "Seed"),
        ("button", "Another seed"),
        ("combobox", "Parameters"),
        ("combobox", "Positions"),
        ("textbox", "Keys and values from another sentence"),
    ]:
        expect(page.get_by_role(role, name=name, exact=True)).to_be_visible()
        if role != "button" and name not in ("Sentence", "Show"):  # what they hold says what they are
            expect(page.locator(".name", has_text=name).first).to_be_visible()
    expect(panel).to_be_visible()
    seed = page.get_by_role("textbox", name="Seed")
    said = page.evaluate("box('seed').help")
    assert (seed.get_attribute("aria-description"), page.get_by_title(said).locator("input").count()) == (said, 1)


@pytest.mark.parametrize("theme", YELLOW)
def test_settings_are_for_everyone(drawn, theme):
    shown = {"notices": ["“dragon”: not among the words."], "offers": [{"label": "dragon → dog"}], "view": "pass"}
    page = drawn(**of(**MODEL), **shown)
    more(page)
    assert violations(page, theme) == []
    page.evaluate("(shown) => answer(shown)", of(**OWN) | {"view": "pass"})
    assert violations(page, theme) == []


def test_while_presenting_and_on_paper_there_are_none(drawn):
    page = drawn(**of(**OWN), notices=["one"])
    page.evaluate("document.querySelector('#given').insertAdjacentHTML('beforeend', '<p class=\"viewer presenting\">')")
    for each in (".settings", ".notices"):
        expect(page.locator(each)).to_be_hidden()
    page.evaluate("document.querySelector('.presenting').remove()")
    expect(page.locator(".settings")).to_be_visible()
    page.emulate_media(media="print")
    for each in (".settings", ".notices"):
        expect(page.locator(each)).to_be_hidden()
    page.emulate_media(media="screen")
