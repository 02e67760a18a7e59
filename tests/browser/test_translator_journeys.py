"""A translator in the whole app: written with keys, opened, changed, and given as a talk."""

import re

import pytest
from tab import at, becomes, expect, forget, parameters, resized, typed
from tab import sentence as sentence_box

from attnviz.core.changes import parse_change
from attnviz.core.numerals import digits
from attnviz.explain.wording import percent
from attnviz.models import MODELS

ENGLISH = "the black cow sleeps"
END = "<end>"
MOMENTS = [
    {"sentence": ENGLISH},
    {"sentence": ENGLISH, "written": "la vache"},
    {"sentence": ENGLISH, "changes": "heads_1[:]=0"},
    {"sentence": "the cat does not cross the street because it is too wide", "step": "softmax-3"},
    {"sentence": ENGLISH, "step": "softmax-3", "view": "heads"},
    {"sentence": "the judge is not tired", "written": "la juge", "step": "softmax-2"},
]
ASKED = {1: "vache", 4: "traverse"}  # the word of the question, by moment

_OUT_OF_FRAME = """(words) => words.filter((word) => {
  const { left, right } = word.getBoundingClientRect(), frame = word.closest(".viewer").getBoundingClientRect();
  return left < frame.left - 1 || right > frame.right + 1;
}).map((word) => word.textContent)"""


@pytest.fixture(scope="module")
def model():
    return MODELS["translator"].at(0)


def french(page):
    return page.locator(".two-rows .written [role=option] .text")


def reads(page, words):
    """Wait until these are the French words, with the next one."""
    becomes(page, french(page).all_inner_texts, list(words))


def test_sentence_is_typed_and_written_with_keys(visit, model):
    tab = visit()
    page = tab.open(at(model="translator", sentence="the cat sleeps"))
    typed(sentence_box(page), ENGLISH)
    words = [*model.translate(ENGLISH), END]
    reads(page, words)
    page = tab.open(at(model="translator", sentence=ENGLISH, written=""))
    reads(page, words[:1])
    for n_words, word in enumerate(words[:-1], 1):
        page.get_by_role("button", name=f"Next word: {word}", exact=True).press("Enter")
        reads(page, words[: n_words + 1])
        so_far = " ".join(words[:n_words]) if n_words < len(words) - 1 else None  # as whole without it
        becomes(page, lambda: parameters(page).get("written"), so_far)
    expect(page.get_by_role("button", name=re.compile("^Next word"))).to_have_count(0)
    page.get_by_role("button", name="Delete", exact=True).press("Enter")
    reads(page, words[:-1])
    page.reload()
    tab.settled()
    reads(page, words[:-1])
    assert tab.errors == []


def test_french_word_leads_to_its_numbers(visit, model):
    page = visit().open(at(model="translator", sentence=ENGLISH))
    attention = model.trace(ENGLISH)["attention_3"].value[0]
    row = len(attention) - 1
    weight = attention[row].max()
    french(page).nth(row).click()
    expect(page.locator(".two-rows .caption")).to_contain_text(percent(weight))
    expect(page.locator(".panel h3")).to_contain_text(f"] = {digits(weight)}")
    page.locator(".panel .said").get_by_role("button", name=percent(weight), exact=True).click()
    becomes(page, lambda: parameters(page).get("step"), "softmax-3")
    expect(page.locator(".panel .terms")).to_be_visible()
    expect(page.locator(".panel h3")).to_contain_text(f"] = {digits(weight)}")


def test_muted_part_writes_another_sentence(visit, model):
    page = visit().open(at(model="translator", sentence=ENGLISH))
    change = "heads_1[:]=0"
    whole, muted = (model.translate(ENGLISH, changes) for changes in ((), (parse_change(change),)))
    assert whole != muted
    reads(page, [*whole, END])
    page.get_by_role("button", name="Settings", exact=True).click()
    switch = page.get_by_role("switch", name="English looks at English (encoder)")
    switch.click()
    reads(page, [*muted, END])
    becomes(page, lambda: parameters(page).get("changes"), change)
    switch.click()
    reads(page, [*whole, END])
    becomes(page, lambda: "changes" in parameters(page), False)


def test_hidden_word_is_not_read(visit, model):
    tab = visit()
    page = tab.open(at(model="translator", sentence=ENGLISH))
    tokens, written = model.tokens(ENGLISH), ("<begin>", *model.translate(ENGLISH))
    query, key = written.index("vache"), tokens.index("black")
    page.get_by_role("button", name="Hide English “black” from what comes after “vache”").click()
    change = f"mask_3[{query},{key}]=0"
    becomes(page, lambda: parameters(page).get("changes"), change)
    reads(page, [*model.translate(ENGLISH, (parse_change(change),)), END])
    expect(page.locator(f'.two-rows [data-line="{query}-{key}"]')).to_have_count(0)
    assert tab.errors == []


@pytest.fixture
def lecturer(visit):
    """A tab with the drawer of a talk that holds nothing."""
    tab = visit(width=1366, afresh=True)
    tab.page.goto(f"{tab.address}/healthz")
    forget(tab.page)
    yield tab
    forget(tab.page)


def test_talk_of_six_moments_is_given_on_screens_and_a_phone(lecturer, model):
    drawer = lecturer.page.get_by_role("dialog", name="Your talk")
    for n_moments, moment in enumerate(MOMENTS, 1):
        page = lecturer.open(at(model="translator", **moment))
        page.keyboard.press("m")
        expect(drawer.locator(".moment")).to_have_count(n_moments)
        if n_moments in ASKED:
            question = drawer.get_by_role("combobox")
            expect(question.locator("option").nth(1)).to_contain_text(
                f"Which word will “{ASKED[n_moments]}” look at most"
            )
            question.select_option(index=1)
        if n_moments < len(MOMENTS):
            page.keyboard.press("Escape")
            expect(drawer).to_be_hidden()
    drawer.get_by_role("button", name="Give the talk").click()
    for n_moments, moment in enumerate(MOMENTS, 1):
        count = page.get_by_text(re.compile(rf"^{n_moments} of {len(MOMENTS)}$"))
        expect(count).to_be_visible()
        shown = page.locator(f".viewer :is({'.tile' if 'view' in moment else '.words [role=option]'}):visible")
        expect(shown.first).to_be_visible()
        for size in ((390, 844), (1024, 768), (1366, 768)):
            resized(page, *size)
            becomes(page, lambda words=shown: words.evaluate_all(_OUT_OF_FRAME), [], f"{moment} at {size}")
        if n_moments in ASKED:
            page.keyboard.press("PageDown")  # reveals
            expect(page.locator(".choices .right")).to_have_count(1)
        if n_moments < len(MOMENTS):
            page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    expect(page.get_by_text(re.compile(rf"^{len(MOMENTS) - 1} of {len(MOMENTS)}$"))).to_be_visible()
    assert lecturer.errors == []
