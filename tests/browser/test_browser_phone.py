"""The sheet on a phone: each word a row, what a number is computed from below it, and the way to the other pages."""

import re

import numpy as np
import pytest
from axe import violations, violations_but_contrast
from documents import fitted_at
from page import SENTENCE
from readback import go
from sight import digits_sizes
from tab import at, becomes, expect, heading, lesson, parameters, resized

from attnviz import Settings, trace_of
from attnviz.models import MODELS
from attnviz.scene.with_pass import resolve

EIGHT = "the quick brown fox jumps over lazy dogs"
PASSES = {
    "who is it": {"model": "who-is-it"},
    "recall": {"model": "recall"},
    "mirror": {"model": "mirror"},
    "one's own": {"sentence": SENTENCE, "heads": "2", "mask": "causal"},
}
LEAST_TARGET = 44

MEASURED = """(root) => {
  const seen = [...root.querySelectorAll("*")].filter((each) => each.checkVisibility());
  const told = (each) => `${each.localName}.${each.className} “${each.textContent.slice(0, 30)}”`;
  const hasDigit = ({ childNodes }) => [...childNodes].some(({ nodeType, data }) => nodeType === 3 && /\\d/.test(data));
  const box = (each) => each.getBoundingClientRect();
  const digits = seen.filter(hasDigit), buttons = seen.filter(({ localName }) => localName === "button");
  return {
    digits: digits.length,
    small: digits.filter((each) => parseFloat(getComputedStyle(each).fontSize) < 15).map(told),
    low: buttons.filter((each) => box(each).height < 44 || box(each).width < 44).map(told),
    cut: buttons.filter((each) => each.scrollWidth > each.clientWidth + 1).map(told),
    over: seen.filter((each) => each.closest(".hand, .way") && box(each).right > innerWidth).map(told),
    sideways: document.documentElement.scrollWidth - innerWidth,
  };
}"""
FINE = {"small": [], "low": [], "cut": [], "over": [], "sideways": 0}


def number(page, address):
    return page.locator(f'.hand button.stop[data-cell="{address}"]')


@pytest.mark.parametrize("settings", PASSES.values(), ids=PASSES)
def test_phone_steps_fit_and_are_touchable(opened, settings):
    page = opened("?view=sheet", **settings)
    resized(page, 360, 844)
    for step in page.evaluate("given.steps.filter(({ bands }) => bands.length).map(({ id }) => id)"):
        go(page, step=step)
        measured = page.locator(".viewer").evaluate(MEASURED)
        assert measured.pop("digits") > 0
        assert measured == FINE, step
        assert page.locator(".sheet > table").is_hidden()


def test_tapped_number_opens_its_working(opened):
    page = opened("?view=sheet&step=softmax", model="who-is-it")
    resized(page, 390, 844)
    query, key = 11, 9
    number(page, f"scores[0,{query},{key}]").click()
    workings = page.locator(".workings")
    tapped, opened_at = number(page, f"scores[0,{query},{key}]").bounding_box(), workings.bounding_box()
    assert 0 <= opened_at["y"] - (tapped["y"] + tapped["height"]) < 20
    assert tapped["y"] >= 0
    assert opened_at["y"] + opened_at["height"] <= page.locator(".way").bounding_box()["y"]
    assert violations_but_contrast_of(page) == []
    page.locator(f'[data-act="attention #exp@0,{key}"]').click()
    expect(workings).to_contain_text("exp(")
    page.locator(f'[data-act="attention #exp@0,{key}"]').click()
    expect(workings).to_have_count(0)


def violations_but_contrast_of(page):
    """The page alone has no language, title or main part, which are Streamlit's."""
    theirs = ("html-has-lang", "document-title", "landmark-one-main", "region", "page-has-heading-one", "label")
    return [each for each in violations_but_contrast(page) if not each.startswith(theirs)]


def test_tapped_word_becomes_the_query(opened):
    trace = trace_of(Settings(SENTENCE))
    page = opened("?view=sheet&step=softmax", sentence=SENTENCE)
    resized(page, 390, 844)
    for place in (3, 0):
        page.locator(".hand").get_by_role("rowheader").locator("button").nth(place).click()
        expect(page.locator(".hand th.asks")).to_have_count(1)
        expect(page.locator(".hand .who")).to_contain_text(f"“{SENTENCE.split()[place]}” asks")
        expect(number(page, f"scores[0,{place},2]")).to_have_text(
            f"{trace['scores'].value[0, place, 2]:.2f}".replace("-", "−")
        )


def test_arrows_move_and_enter_opens(opened):
    page = opened("?view=sheet&step=softmax", sentence=SENTENCE)
    resized(page, 390, 844)
    number(page, "scores[0,1,0]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(number(page, "scaled[0,1,1]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(number(page, "scaled[0,1,1]")).to_be_focused()
    expect(number(page, "scaled[0,1,1]")).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".workings")).to_contain_text("÷ 2.0000")
    becomes(page, lambda: parameters(page).get("picked"), "scaled")


def test_phone_shows_eight_words_and_the_pages(visit):
    page = visit(width=390).open(at(sentence=EIGHT, view="sheet", step="softmax"))
    resized(page, 390, 844)
    end = page.locator(".way").bounding_box()["y"]
    asks = page.locator(".hand .who").bounding_box()
    shares = page.locator('.hand button[data-act^="attention @0"]')
    expect(shares).to_have_count(8)
    assert asks["y"] >= 44
    assert min(each.bounding_box()["height"] for each in shares.all()) >= LEAST_TARGET
    bars = page.locator(".score-to-weight .key .weight")
    expect(bars).to_have_count(8)
    assert max(box["y"] + box["height"] for box in (each.bounding_box() for each in bars.all())) <= end
    number(page, "scores[0,1,2]").or_(shares.first).last.click()
    for theme in ("light", "dark"):
        assert violations(page, theme) == [], theme
    pages = page.get_by_test_id("stExpandSidebarButton")
    assert pages.evaluate("(each) => getComputedStyle(each, '::after').content") == '"Pages"'
    assert pages.bounding_box()["height"] >= LEAST_TARGET
    pages.click()
    link = page.get_by_role("link", name=re.compile("Worked examples"))
    expect(link).to_be_in_viewport()
    assert link.bounding_box()["height"] >= LEAST_TARGET
    link.click()
    expect(heading(page, "Worked examples")).to_be_attached()
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()  # which Streamlit leaves over the page


def test_panel_keeps_the_number_visible(opened):
    page = opened("?view=sheet&step=softmax", model="who-is-it")
    resized(page, 390, 844)
    number(page, "scores[0,11,9]").click()
    page.get_by_role("button", name="What if?").click()
    panel, row = page.locator(".panel"), number(page, "scores[0,11,9]")
    expect(panel.get_by_role("textbox")).to_be_in_viewport()
    becomes(page, lambda: row.bounding_box()["y"] + 44 <= panel.bounding_box()["y"], True)
    panel.get_by_role("button", name="what made it").click()
    expect(panel.locator("h3")).to_be_hidden()
    expect(page.locator(".workings")).to_be_visible()


PAIRS = {
    "masks": {"mask": "causal", "beside": "mask="},
    "seeds": {"seed": "7", "beside": "seed=42"},
    "other words": {"positions": "sinusoidal", "beside": "sentence=mat the on sat cat"},
}


def text_of(value):
    return "−∞" if value == -np.inf else f"{value:.2f}".replace("-", "−")


@pytest.mark.parametrize("settings", PAIRS.values(), ids=PAIRS)
def test_phone_pair_shows_a_above_b(opened, settings):
    b = fitted_at({"sentence": SENTENCE} | settings)
    a, at_in_b = resolve(b.scene.other).trace, b.trace.labels["key"]
    at_in_a = a.labels["key"]
    page = opened("?view=sheet&step=softmax&cell=1.3.1.1.1", **{"sentence": SENTENCE} | settings)
    resized(page, 360, 844)
    seen = 0
    for each in page.locator(".hand .rows button[data-cell]").all():
        name, *index = re.findall(r"[a-z]+|\d+", each.get_attribute("data-cell"))
        head, query, key = map(int, index)
        lines = each.inner_text().split()
        words = [at_in_b[place] for place in (query, key)]
        if not all(word in at_in_a for word in words) or "#" in each.get_attribute("data-act"):
            continue
        one = a[name].value[head, at_in_a.index(words[0]), at_in_a.index(words[1])]
        now = b.trace[name].value[head, query, key]
        differ = one != now and not abs(one - now) < 1e-9
        assert lines == ([text_of(one)] if differ else []) + [text_of(now)], each.get_attribute("data-cell")
        seen += differ
    assert seen > 0
    measured = page.locator(".viewer").evaluate(MEASURED)
    assert measured.pop("digits") > 0
    assert measured == FINE


def test_all_words_have_digits_that_can_be_read_and_are_scrolled_to_the_side(opened):
    page = opened("?view=matrices&step=softmax", model="who-is-it")
    resized(page, 390, 844)
    becomes(page, lambda: min(digits_sizes(page), default=0) >= 10, True)
    board = page.locator(".matrices")
    assert board.evaluate("(each) => each.scrollWidth > each.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_a_question_about_covered_scores_has_the_numbers_that_answer_it(visit):
    page = lesson(visit(), at(lesson="who-is-it", moment=2))
    resized(page, 390, 844)
    trace = MODELS["who-is-it"].at(0, 9).trace("the animal did not cross the street because it was too tired")
    asked, *keys = [row.locator("i").all_inner_texts() for row in page.locator(".hand tr:has(.strip)").all()]
    assert asked == [written(each) for each in trace["q"].value[0, 11]]
    assert keys == [[written(each) for each in key] for key in trace["k"].value[0]]
    expect(page.locator(".hand [data-stage=scores]")).to_have_count(0)


def written(value):
    return f"{value:z.2f}".replace("-", "−")


def test_settings_are_one_line_until_they_are_wanted(visit):
    page = visit().open(at(model="who-is-it", view="sheet", step="softmax"))
    resized(page, 390, 844)
    box, seed = page.locator(".settings"), page.get_by_label("Seed")
    expect(seed).to_be_hidden()
    assert box.bounding_box()["height"] < LEAST_TARGET
    box.get_by_role("button", name="Settings").click()
    expect(seed).to_be_visible()
    panel = page.locator(".more-settings").bounding_box()
    assert panel["y"] >= box.bounding_box()["y"] + box.bounding_box()["height"], "they are not behind the panel"
