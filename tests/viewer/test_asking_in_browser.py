"""Asking a class, in a browser without a server: what comes late, or not at all, once a question is put."""

import pytest
from alone import Alone
from tab import expect, frames

from attnviz.viewer.bundle import bundle, module

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta charset="utf-8"><main></main><script type="module">
    %s
    const later = setTimeout, listeners = new Set(), led = [], asked = [];
    window.setTimeout = (act, ms, ...rest) => later(act, ms / 20, ...rest);
    const speaker = {
        room: { code: "KTQWRM" }, message: "", isUpToDate: true,
        now: { round: { number: 1, isOpen: true }, isShown: false, audience: { here: 2, answered: 0, counts: [[]] } },
        shows: (place) => {
            led.push(place.question.kind);
            if (place.isShown) window.shown = place;
        },
        openAnswers: (isOpen) => led.push(isOpen ? "opens" : "closes"), again: () => led.push("again"),
        moment: () => new Promise(answer => asked.push(answer)),
        onChange: (listener) => { listeners.add(listener); return () => listeners.delete(listener); },
    };
    const pass = {
        stages: new Map([["q", { rule: {} }]]), isOverridden: () => false, number: () => 1,
        nameOf: () => "q[1]", address: () => "q[0]",
    };
    const asking = classQuestion_js.makeClassQuestion(speaker, document.querySelector("main"), () => led.push("back"));
    document.querySelector("main").append(asking.button, asking.menu);
    asking.setPlace({ at: "step=softmax", selected: () => ({ pass, focus: { name: "q", index: [0] } }) });
    Object.assign(window, {
        led, asked, asking, speaker,
        tell: () => { for (const each of [...listeners]) each(); },
        join: (kind) => asking.join({ kind, cell: "q[0]" }, false),
        come: (nth, prompt) => asked[nth]({ isDone: true, status: 200, data: { question: {
            kind: "choose", prompt: [["", prompt]], candidates: [{ label: "a", feedback: [] }], right: [0],
        } } }),
    });
</script>"""
TEXT = PAGE % bundle(module("classBar"))


@pytest.fixture
def page(browser):
    tab = Alone(browser.new_context())
    yield tab.show(TEXT, "main button")
    tab.page.context.close()
    assert tab.errors == []


def test_a_question_that_does_not_come_is_asked_for_again_and_one_that_never_will_says_why(page):
    stage, count = page.locator("dialog"), page.locator(".class-count")
    page.evaluate("join('word')")
    expect(count).to_have_text("The question is put …")
    page.evaluate("asked[0]({ isDone: false, status: 0, message: 'The server does not answer.', data: null })")
    expect(count).to_have_text("The question has not come. It is asked for again in a moment.")
    page.wait_for_function("asked.length === 2")
    page.evaluate("come(1, 'Which word?')")
    expect(stage.locator("h2")).to_have_text("Which word?")
    expect(count).to_have_text("2 here · 0 answered")
    page.evaluate("join('number')")
    page.evaluate("asked[2]({ isDone: false, status: 400, message: 'No such cell.', data: null })")
    expect(count).to_have_text("No such cell.")


def test_what_comes_late_stands_in_no_other_question(page):
    stage = page.locator("dialog")
    page.evaluate("join('word')")
    page.keyboard.press("Escape")
    expect(stage).to_have_count(0)
    page.evaluate("join('number')")
    page.evaluate("come(0, 'Which word?')")
    frames(page)
    expect(stage.locator("h2")).to_have_text("")
    page.evaluate("come(1, 'Which number?')")
    expect(stage.locator("h2")).to_have_text("Which number?")


def test_the_refusal_of_a_question_that_was_left_closes_no_other(page):
    page.get_by_role("button", name="Ask the class").click()
    page.get_by_role("button", name="Which number is it?").click()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.evaluate("join('word')")
    page.evaluate("speaker.message = 'The server refuses it.'; tell()")
    frames(page)
    expect(page.locator("dialog[open]")).to_have_count(1)


def test_a_class_that_is_asked_again_at_once_is_not_led_back_by_the_question_before(page):
    page.evaluate("join('word'); document.querySelector('dialog').close(); join('number')")
    frames(page)
    assert page.evaluate("led") == ["word", "number"]
    page.evaluate("asking.leave(); join('word')")
    frames(page)
    page.keyboard.press("Escape")
    page.wait_for_function("led.length > 3")
    assert page.evaluate("led") == ["word", "number", "word", "back"], (
        "the class is led back once somebody closes it here"
    )


def test_an_answer_is_shown_where_it_was_asked_and_not_before_its_question_is_there(page):
    page.evaluate("asking.setPlace({ at: 'lesson=masks&moment=2', scene: 'step=softmax', selected: () => null })")
    page.evaluate("join('word')")
    page.keyboard.press("PageDown")
    expect(page.get_by_role("button", name="Reveal")).to_have_count(0)
    page.evaluate("come(0, 'Which word?')")
    expect(page.get_by_role("button", name="Reveal")).to_be_visible()
    assert page.evaluate("[led, window.shown]") == [["word"], None]
    page.keyboard.press("PageDown")
    expect(page.locator(".verdict")).to_have_text("It is a.")
    asked = {"kind": "word", "cell": "q[0]"}
    assert page.evaluate("shown") == {"at": "step=softmax", "question": asked, "isShown": True}
    page.get_by_role("button", name="Back to the pass").click()
    page.evaluate("join('number')")
    expect(page.locator("dialog footer button")).to_have_count(0)  # that of the question before


def test_answers_are_closed_opened_and_asked_for_again_as_the_buttons_say(page):
    page.evaluate("join('word'); come(0, 'Which word?')")
    page.get_by_role("button", name="Close answers").click()
    page.evaluate("speaker.now.round.isOpen = false; asking.update()")
    page.get_by_role("button", name="Open answers").click()
    page.get_by_role("button", name="Ask again").click()
    page.evaluate("speaker.now.round = { number: 2, isOpen: true }; asking.update()")
    expect(page.get_by_role("button", name="Ask again")).to_have_count(0)
    page.get_by_role("button", name="Close answers").click()
    assert page.evaluate("led") == ["word", "closes", "opens", "again", "closes"]
