"""Presenting and playing: what a class sees, and a remote's buttons, in a real browser."""

import pytest
from alone import sent
from page import SENTENCE
from sight import digits_sizes
from tab import at, becomes, expect, parameters, pick, resized, sentence, step_is

from attnviz.models import MODELS

pytestmark = pytest.mark.browser


_TO_THE_END_OF_THE_STEP = """() => {
  const on = { key: "PageDown", bubbles: true, cancelable: true };
  for (let left = 60; left > 0 && new URLSearchParams(location.search).has("reveal"); left -= 1)
    document.body.dispatchEvent(new KeyboardEvent("keydown", on));
}"""


def test_in_a_room_every_digit_is_large_and_nothing_else_is_there(visit):
    page = visit(width=1920).open(at(step="Tokens", view="matrices", present=1, reveal=0))
    resized(page, 1920, 1080)
    main = page.get_by_test_id("stMain")
    for number in range(2, 10):
        step_is(page, number)
        page.evaluate(_TO_THE_END_OF_THE_STEP)
        expect(page.locator(".panel h3")).to_contain_text("=")
        # three matrices of 8 columns beside each other, with labels, have no room for more on the Output step
        becomes(page, lambda: min(digits_sizes(page)) >= 28, True, number)
        becomes(page, lambda: main.evaluate("e => e.scrollHeight - e.clientHeight"), 0, number)
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
def test_all_words_and_answers_of_an_example_are_seen(visit, shown):
    page = visit().open(at(**shown))
    for size in SMALL:
        resized(page, *size)
        for each in page.locator(".thread .words button, .thread .answer").all():
            expect(each).to_be_in_viewport(ratio=0.99)


def test_letters_are_for_the_viewer_and_its_settings_alone_and_page_keys_for_all_but_what_is_typed_in(visit):
    page = visit().open(at(sentence=SENTENCE, heads=4, step="Scores"))
    step_is(page, 4)
    link, more = page.get_by_test_id("stTopNavLink").first, page.get_by_role("button", name="Settings", exact=True)
    for key in ("]", "p"):
        link.press(key)
    page.get_by_role("button", name="Copy link").press("]")
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


def test_a_talk_takes_the_next_example_by_a_key_and_keys_work_after_a_chip_and_after_a_sentence_was_typed(visit):
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


def test_a_talk_says_when_it_is_over_and_only_then(opened):
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
