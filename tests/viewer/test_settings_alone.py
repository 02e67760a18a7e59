"""The settings without a server: what is typed and picked, the room they take, the keyboard, what is seen and heard."""

import re

import pytest
from alone import sent
from axe import violations
from boxes import MODEL, OWN, more, of, sentence
from tab import becomes, expect

from attnviz.core.limits import MAX_CHARACTERS
from attnviz.core.settings import OPTIONS
from attnviz.scene.document.controls import MAX_SEED_CHARACTERS
from attnviz.scene.presets import PRESETS
from attnviz.viewer.bundle import module

WORDS = '.settings .more-settings [aria-label="animals"] button'


@pytest.fixture
def page(drawn):
    """The settings of a sentence of one's own."""
    return drawn(**of(**OWN))


def test_settings_are_sent_in_order(page):
    page.get_by_role("combobox", name="d_model", exact=True).select_option("16")
    page.get_by_role("combobox", name="Mask", exact=True).select_option("causal")
    page.get_by_role("button", name="Another seed").click()
    seed = page.get_by_role("textbox", name="Seed", exact=True)
    seed.press_sequentially("1")
    seed.press("Enter")
    panel = more(page)
    panel.get_by_role("switch", name="Divide scores by √d_k").click()
    panel.get_by_role("combobox", name="Positions", exact=True).select_option("sinusoidal")
    panel.get_by_role("textbox", name="Keys and values from another sentence", exact=True).fill("der Hund")
    ordered = [
        ["d_model", 16],
        ["mask", "causal"],
        ["another_seed", True],
        ["seed", seed.input_value()],
        ["scaled", False],
        ["positions", "sinusoidal"],
        ["context", "der Hund"],
    ]
    becomes(page, lambda: sent(page), ordered)


def test_quick_typing_is_one_action(page):
    between = "wait(100).then(() => type('ab')).then(() => wait(100)).then(() => [...sent, type('abc').value])"
    later = page.evaluate(f"(type('a'), {between})")
    assert later == ["abc"], "sent between two keys"
    becomes(page, lambda: sent(page), [["sentence", "abc"]])
    sentence(page).press("Enter")
    page.locator("#other").focus()
    page.evaluate("say('sentence', 'abc')")
    page.evaluate("type('x'), type('abc'), answer(given), end()")
    assert sent(page) == [["sentence", "abc"]]


def test_half_typed_word_waits(drawn):
    page = drawn(**of(**MODEL))
    wait = "wait(200).then(() => [...sent])"  # longer than the pause after which what is typed is sent

    def sent_of(text):
        return page.evaluate(f"(start(given), type({text!r}), {wait})")

    for text in ("the anim", "The ANIM", "t", "the tir dog"):
        assert sent_of(text) == []
    for text in ("the animal", "the dog ", "the animals", "hello the anim", ""):
        assert sent_of(text) == [["sentence", text]]
    page.evaluate("start(given), type('the anim')")
    becomes(page, lambda: sent(page), [["sentence", "the anim"]])
    assert page.evaluate("(start(given), type('the anim'), document.querySelector('.live .typed').onblur(), sent)") == [
        ["sentence", "the anim"]
    ]


@pytest.mark.parametrize(
    ("done", "after"),
    [
        ("typed.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))", []),
        ("typed.focus(), document.querySelector('#other').focus()", []),
        ("document.querySelector('.press').click()", [["another_seed", True]]),
        ("given.settings.line.splice(1, 1), answer(given)", []),
        ("end()", []),
    ],
    ids=["Enter", "leaving", "something else", "taken away", "the end"],
)
def test_typed_text_is_sent_before_the_next_action(page, done, after):
    assert page.evaluate(f"(() => {{ const typed = type('a dog'); {done}; return sent; }})()") == [
        ["sentence", "a dog"],
        *after,
    ]


def test_seed_is_sent_when_complete(page):
    seed = page.get_by_role("textbox", name="Seed", exact=True)
    seed.fill("1234")
    page.evaluate("say('seed', '7')")
    assert page.evaluate("wait(200).then(() => sent)") == []
    seed.press("Enter")
    assert sent(page) == [["seed", "1234"]]


def test_typed_text_is_kept_until_answered(page):
    box = sentence(page)
    box.fill("a dog sat")
    box.evaluate("(box) => box.setSelectionRange(2, 4)")
    page.evaluate("say('sentence', 'a', true)")
    becomes(page, lambda: sent(page), [["sentence", "a dog sat"]])
    page.evaluate("say('sentence', 'a do', true)")
    state = "(box) => [box.value, box.selectionStart, box.selectionEnd, box === document.activeElement]"
    assert box.evaluate(state) == ["a dog sat", 2, 4, True]
    page.evaluate("say('sentence', 'a dog sat down')")
    assert box.evaluate(state) == ["a dog sat down", 2, 4, True]


def test_box_shows_the_servers_last_value(page):
    page.evaluate("say('sentence', 'an owl')")
    expect(sentence(page)).to_have_value("an owl")
    assert page.evaluate("type('a bat'), say('sentence', 'a cow'), type('an owl').value") == "an owl"
    expect(sentence(page)).to_have_value("a cow")  # typed back to what it was, so that there is nothing to send
    page.evaluate("type('owls'), end(), say('sentence', 'a cow')")
    expect(sentence(page)).to_have_value("owls")  # what is refused stays: a notice says what is shown instead
    assert sent(page) == [["sentence", "owls"]]


def test_late_answer_keeps_newer_typing(page):
    page.evaluate(
        "type('the cat sa').dispatchEvent(new Event('blur')), type('the cat sat on'), say('sentence', 'the cat sa')"
    )
    becomes(page, lambda: sent(page), [["sentence", "the cat sa"], ["sentence", "the cat sat on"]])
    expect(sentence(page)).to_have_value("the cat sat on")  # which has no answer yet


def test_composition_is_not_sent(page):
    compose = "new InputEvent('input', { isComposing: true })"
    page.evaluate(f"type('n'), type('n').dispatchEvent({compose}), say('sentence', 'another')")
    assert page.evaluate("wait(200).then(() => sent)") == []
    expect(sentence(page)).to_have_value("n")
    page.evaluate("document.querySelector('.live .typed').dispatchEvent(new CompositionEvent('compositionend'))")
    becomes(page, lambda: sent(page), [["sentence", "n"]])


def test_picked_value_stays_until_answered(page):
    mask = page.get_by_role("combobox", name="Mask", exact=True)
    mask.select_option("causal")
    switch = more(page).get_by_role("switch", name="Divide scores by √d_k")
    switch.click()
    page.evaluate("answer(given, true)")
    expect(mask).to_have_value("causal")
    expect(switch).not_to_be_checked()
    page.evaluate("answer(given)")
    expect(mask).to_have_value("none")
    expect(switch).to_be_checked()


def test_boxes_appear_without_losing_focus(page):
    for mask in ("window", "none"):
        sentence(page).press("End")
        sentence(page).press_sequentially("s")
        page.evaluate("(shown) => answer(shown)", of(**OWN, mask=mask))
        assert sentence(page).evaluate(
            "(box) => box === document.activeElement && box.selectionStart === box.value.length"
        )
        labels = page.locator(".settings > .labelled .name").all_inner_texts()
        assert ("Keys seen on either side" in labels) == (mask == "window")
        assert labels[-1] == "Seed"
    expect(sentence(page)).to_have_value("the cat satss")


def test_word_can_be_added_twice(drawn):
    page = drawn(**of(**MODEL))
    more(page).get_by_role("button", name="dog", exact=True).dblclick()
    assert sent(page) == [["word", "dog"]] * 2
    assert page.locator(WORDS).first.get_attribute("aria-pressed") == "false"


KEYCAPS = {"ArrowRight": "→", "ArrowLeft": "←", "PageDown": "Page Down", "PageUp": "Page Up", "Escape": "Esc"}
KEYS = re.findall(r'\["([^"]+)", "', module("shortcuts").read_text("utf-8"))
"""All that the viewer listens to, as the browser calls them; on a keyboard some are called otherwise."""


def test_pills_are_one_tab_stop(drawn):
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


def test_shortcuts_are_listed_and_can_be_switched_off(drawn):
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


def test_settings_panel_stays_open_until_left(page):
    opener = page.get_by_role("button", name="Settings", exact=True)
    opener.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("group", name="More settings")
    expect(panel).to_be_visible()
    expect(opener).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name="Positions")).to_be_focused()
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


def test_character_counter_covers_no_text(page):
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


def test_notices_are_announced_once(drawn):
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


def test_every_box_has_name_and_help(drawn):
    page = drawn(**of(**OWN, mask="window"))
    panel = more(page)
    lists = ("Show", "d_model", "Heads", "Mask", "Keys seen on either side", "Parameters", "Positions")
    texts = ("Sentence", "Seed", "Keys and values from another sentence")
    for role, name in [
        *(("combobox", each) for each in lists),
        *(("textbox", each) for each in texts),
        ("button", "Another seed"),
    ]:
        expect(page.get_by_role(role, name=name, exact=True)).to_be_visible()
        if role != "button" and name not in ("Sentence", "Show"):  # what they hold says what they are
            expect(page.locator(".name", has_text=name).first).to_be_visible()
    expect(panel).to_be_visible()
    seed = page.get_by_role("textbox", name="Seed")
    said = page.evaluate("box('seed').help")
    assert (seed.get_attribute("aria-description"), page.get_by_title(said).locator("input").count()) == (said, 1)


def test_axe_finds_nothing_in_settings(drawn):
    shown = {"notices": ["“dragon”: not among the words."], "offers": [{"label": "dragon → dog"}], "view": "pass"}
    page = drawn(**of(**MODEL), **shown)
    more(page)
    for theme in ("light", "dark"):
        assert violations(page, theme) == []
    page.evaluate("(shown) => answer(shown)", of(**OWN) | {"view": "pass"})
    for theme in ("light", "dark"):
        assert violations(page, theme) == []


def test_settings_are_hidden_while_presenting_and_printing(drawn):
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


def test_presets_are_in_sight_as_the_settings_open(page):
    page.set_viewport_size({"width": 1366, "height": 768})
    panel = more(page)
    for name in PRESETS:
        expect(panel.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)


def test_what_is_seen_below_a_choice_is_about_its_value(page):
    panel = more(page)
    box = panel.get_by_role("combobox", name="Parameters")
    seen = panel.locator("label", has_text="Parameters").locator(".why")
    expect(seen).to_contain_text("normal: ")
    expect(seen).not_to_contain_text("xavier: ")
    assert all(f"{value}: " in box.get_attribute("aria-description") for value in OPTIONS["initialiser"].allowed)
