"""The settings without a server: what somebody does with their boxes is noted, and what is typed is kept."""

import pytest
from alone import sent
from boxes import MODEL, OWN, more, of, sentence
from tab import becomes, expect

pytestmark = pytest.mark.browser

WORDS = '.settings .more-settings [aria-label="animals"] button'


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_word_that_is_half_typed_waits_for_its_last_letter(drawn):
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
    switch = more(page).get_by_role("switch", name="Divide scores by √d_k")
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


def test_a_word_can_be_added_twice_before_there_is_an_answer(drawn):
    page = drawn(**of(**MODEL))
    more(page).get_by_role("button", name="dog", exact=True).dblclick()
    assert sent(page) == [["word", "dog"]] * 2
    assert page.locator(WORDS).first.get_attribute("aria-pressed") == "false"
