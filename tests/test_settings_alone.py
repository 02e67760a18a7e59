"""The settings without a server: what is drawn from data, and what somebody does with it, which is noted."""

import tomllib

import pytest
from alone import MODULES, STYLES, Alone, sent
from axe import violations
from page import ROOT
from tab import becomes, expect

from attnviz.core.settings import MAX_CHARACTERS
from attnviz.scene.address import parse
from attnviz.scene.settings import LONGEST_SEED, settings

pytestmark = pytest.mark.browser

THEMES = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
YELLOW = {"light": "#fffae5", "dark": "#302917"}
"""What Streamlit 1.67 makes of a theme for the box of a warning."""
PAGE = """
<!doctype html><html lang="en"><meta charset="utf-8"><title>Settings</title><style>%s</style><style>%s
    body { margin: 0 }
    main { padding: 12px; color: var(--st-text-color); background: var(--st-background-color) }
</style>
<main data-testid="stApp"><h1>Settings</h1><div id="given"></div><button id="other">Elsewhere</button></main>
<script type="module">
    %s
    const place = document.querySelector("#given");
    let settings = null, notices = null, deaf = () => {};
    window.start = (shown) => {
        settings?.end();
        deaf();
        Object.assign(window, { sent: [], heard: [] });
        const act = (...message) => sent.push(message);
        settings = settings_js.makeSettings(act);
        notices = notices_js.makeNotices(act);
        place.replaceChildren(settings.element, notices.element);
        answer(shown);
    };
    window.answer = (shown, isWaiting = false) => {
        window.given = { notices: [], offer: null, ...shown };
        settings.update(structuredClone(given), isWaiting);
        notices.update(given);
    };
    window.end = () => settings.end();
    window.keys = () => {
        deaf = shortcuts_js.listenToKeys(document, (command) => heard.push(command), () => false);
    };
    window.box = (event) => [...given.settings.line, ...given.settings.more].find((each) => each.event === event);
    window.say = (event, value, isWaiting = false) => {
        box(event).value = value;
        answer(given, isWaiting);
    };
    window.wait = (ms) => new Promise((done) => setTimeout(done, ms)); // in turn with all other timers, on any machine
    window.type = (text) => {
        const typed = document.querySelector(".live .typed");
        typed.value = text;
        typed.dispatchEvent(new Event("input"));
        return typed;
    };
</script>
"""
OWN = {"sentence": "the cat sat"}
MODEL = {"model": "who-is-it"}
WORDS = '.settings .more-settings [aria-label="animals"] button'


def of(**address):
    """The boxes of the scene of an address."""
    return {"settings": settings(parse(address).scene)}


def colours():
    """The themes as Streamlit gives them to a component."""
    names = {"background": "backgroundColor", "secondary-background": "secondaryBackgroundColor", "text": "textColor"}
    names |= {"primary": "primaryColor"}
    themes = {
        theme: "".join(f"--st-{name}-color: {THEMES[theme][key]};" for name, key in names.items())
        + f"--st-yellow-background-color: {yellow}; color-scheme: {theme};"
        for theme, yellow in YELLOW.items()
    }
    return f"html {{ {themes['light']} }} @media (prefers-color-scheme: dark) {{ html {{ {themes['dark']} }} }}"


@pytest.fixture(scope="module")
def tab(browser):
    """A tab of their own: it is dark at times, and printed."""
    tab = Alone(browser.new_context())
    tab.show(PAGE % (STYLES, colours(), MODULES), "#given")
    yield tab
    tab.page.context.close()


@pytest.fixture
def drawn(tab):
    """Draw what an answer holds, as if it was the first; it must make no errors."""

    def start(**shown):
        tab.page.set_viewport_size({"width": 1366, "height": 768})
        tab.page.evaluate("(shown) => start(shown)", shown)
        return tab.page

    yield start
    assert tab.errors == []


def sentence(page):
    return page.get_by_role("textbox", name="Sentence", exact=True)


def more(page):
    """The panel that More opens, open."""
    page.get_by_role("button", name="More").click()
    return page.get_by_role("group", name="More settings")


def height(page):
    return page.locator(".settings").bounding_box()["height"]


def test_what_is_set_is_sent_in_order_and_as_it_was_given(drawn):
    page = drawn(**of(**OWN))
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


def test_keys_in_a_row_are_one_act_and_what_was_sent_is_not_sent_again(drawn):
    page = drawn(**of(**OWN))
    between = "wait(100).then(() => type('ab')).then(() => wait(100)).then(() => [...sent, type('abc').value])"
    later = page.evaluate(f"(type('a'), {between})")
    assert later == ["abc"], "sent between two keys"
    becomes(page, lambda: sent(page), [["sentence", "abc"]])
    sentence(page).press("Enter")
    page.locator("#other").focus()
    page.evaluate("say('sentence', 'abc')")
    page.evaluate("type('x'), type('abc'), answer(given), end()")
    assert sent(page) == [["sentence", "abc"]]


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
def test_what_was_typed_is_sent_before_anything_else_is_done(drawn, done, after):
    page = drawn(**of(**OWN))
    assert page.evaluate(f"(() => {{ const typed = type('a dog'); {done}; return sent; }})()") == [
        ["sentence", "a dog"],
        *after,
    ]


def test_a_seed_is_sent_when_it_is_whole(drawn):
    page = drawn(**of(**OWN))
    seed = page.get_by_role("textbox", name="Seed", exact=True)
    seed.fill("1234")
    page.evaluate("say('seed', '7')")
    assert page.evaluate("wait(200).then(() => sent)") == []
    seed.press("Enter")
    assert sent(page) == [["seed", "1234"]]


def test_what_is_typed_is_kept_until_it_is_answered(drawn):
    page = drawn(**of(**OWN))
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


def test_a_box_ends_up_with_what_the_server_says_last(drawn):
    page = drawn(**of(**OWN))
    page.evaluate("say('sentence', 'an owl')")
    expect(sentence(page)).to_have_value("an owl")
    assert page.evaluate("type('a bat'), say('sentence', 'a cow'), type('an owl').value") == "an owl"
    expect(sentence(page)).to_have_value("a cow")  # typed back to what it was, so that there is nothing to send
    page.evaluate("type('owls'), end(), say('sentence', 'a cow')")
    expect(sentence(page)).to_have_value("owls")  # what is refused stays: a notice says what is shown instead
    assert sent(page) == [["sentence", "owls"]]


def test_an_answer_to_earlier_keys_never_replaces_later_ones(drawn):
    page = drawn(**of(**OWN))
    page.evaluate(
        "type('the cat sa').dispatchEvent(new Event('blur')), type('the cat sat on'), say('sentence', 'the cat sa')"
    )
    becomes(page, lambda: sent(page), [["sentence", "the cat sa"], ["sentence", "the cat sat on"]])
    expect(sentence(page)).to_have_value("the cat sat on")  # which has no answer yet


def test_letters_are_not_sent_while_a_word_is_put_together_from_them(drawn):
    page = drawn(**of(**OWN))
    compose = "new InputEvent('input', { isComposing: true })"
    page.evaluate(f"type('n'), type('n').dispatchEvent({compose}), say('sentence', 'another')")
    assert page.evaluate("wait(200).then(() => sent)") == []
    expect(sentence(page)).to_have_value("n")
    page.evaluate("document.querySelector('.live .typed').dispatchEvent(new CompositionEvent('compositionend'))")
    becomes(page, lambda: sent(page), [["sentence", "n"]])


def test_what_is_picked_stays_until_all_is_answered(drawn):
    page = drawn(**of(**OWN))
    mask = page.get_by_role("combobox", name="Mask", exact=True)
    mask.select_option("causal")
    switch = more(page).get_by_role("switch")
    switch.click()
    page.evaluate("answer(given, true)")
    expect(mask).to_have_value("causal")
    expect(switch).not_to_be_checked()
    page.evaluate("answer(given)")
    expect(mask).to_have_value("none")
    expect(switch).to_be_checked()


def test_boxes_come_and_go_around_the_one_that_has_the_keyboard(drawn):
    page = drawn(**of(**OWN))
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


def test_a_word_can_be_added_twice_before_there_is_an_answer(drawn):
    page = drawn(**of(**MODEL))
    more(page).get_by_role("button", name="dog", exact=True).dblclick()
    assert sent(page) == [["word", "dog"]] * 2
    assert page.locator(WORDS).first.get_attribute("aria-pressed") == "false"


def test_keys_in_boxes_are_no_shortcuts(drawn):
    page = drawn(**of(**OWN))
    page.evaluate("keys()")
    for key in ("p", "]", "ArrowLeft", "ArrowRight"):
        sentence(page).press(key)
        page.get_by_role("combobox", name="Mask").press(key)
    more(page).get_by_role("switch").press("ArrowRight")
    assert page.evaluate("heard") == []


def test_more_stays_open_until_it_is_left(drawn):
    page = drawn(**of(**OWN))
    opener = page.get_by_role("button", name="More")
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
    assert page.get_by_role("textbox", name="Seed").get_attribute("maxlength") == str(LONGEST_SEED)
    page.locator("#other").focus()
    expect(counter).to_be_hidden()


def test_notices_are_lines_that_are_said_once_with_what_is_offered(drawn):
    offer = {"event": "source", "value": "your own sentence", "label": "Show it with random parameters"}
    page = drawn(**of(**MODEL), notices=["<b>one</b>", "two"], offer=offer)
    alert = page.get_by_role("alert")
    assert alert.locator("p").all_inner_texts() == ["<b>one</b>", "two"]
    page.evaluate("window.line = document.querySelector('.notices p'), answer(given)")
    assert page.evaluate("line.isConnected")
    alert.get_by_role("button", name="Show it with random parameters").click()
    assert sent(page) == [["source", "your own sentence"]]
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


@pytest.mark.parametrize("address", [OWN, MODEL, {"source": "002 v1"}], ids=["own", "model", "example"])
def test_the_line_has_the_room_it_is_given(drawn, address):
    page = drawn(**of(**address))
    assert height(page) <= 40
    for width, most in ((1024, 72), (390, 160)):
        page.set_viewport_size({"width": width, "height": 700})
        assert height(page) <= most
        assert page.evaluate("document.documentElement.scrollWidth") == width
    if "source" in address:
        return
    box = more(page).bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 700


@pytest.mark.parametrize("theme", YELLOW)
def test_settings_are_for_everyone(drawn, theme):
    page = drawn(**of(**MODEL), notices=["“dragon”: not among the words."], offer={"label": "Show it"})
    more(page)
    assert violations(page, theme) == []
    page.evaluate("(shown) => answer(shown)", of(**OWN))
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
