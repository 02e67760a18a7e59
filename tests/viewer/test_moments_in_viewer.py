"""The kinds of moments of a lesson, in a browser: a worked example, gaps, recalls, an optional card, the end."""

import json
import tomllib

import msgspec
import pytest
from axe import violations_but_contrast
from needs import in_page
from tab import becomes, expect, resized

from attnviz.lessons.lesson import LESSONS, Lesson

PHONE = (390, 844)
ANSWERED = """() => Object.fromEntries(
  Object.entries(JSON.parse(localStorage["attnviz lessons"] ?? null)?.answered ?? {}).filter(([, is]) => is !== null),
)"""
"""What the browser remembers of the answers: whether each was right."""


@pytest.fixture
def made_up(monkeypatch, taught):
    """Show a made-up lesson with each kind of moment: `made_up(2)`."""
    lesson = msgspec.convert(tomllib.loads(in_page("made_up_lesson.toml")), Lesson)
    monkeypatch.setitem(LESSONS, "made-up", lesson)
    return lambda moment, **how: taught(f"?lesson=made-up&moment={moment}", **how)


def count_is(page, text):
    expect(page.locator(".count")).to_have_text(text)


@pytest.mark.parametrize(("press", "size"), [("Enter", (1366, 768)), ("button", PHONE)])
def test_worked_example_comes_line_by_line(made_up, press, size):
    page = made_up("worked", size=size)
    lines, after = page.locator(".worked > li:visible"), page.locator(".lesson-said .after")
    expect(page.locator(".why")).to_have_text("A test needs one of each.")
    for n, heard in enumerate(("Each score becomes a power of 2", "Their sum is 7.", "“the” gets 4/7 of it"), start=1):
        if press == "button":
            page.get_by_role("button", name="Next line").click()
        else:
            page.keyboard.press(press)
        expect(lines).to_have_count(n)
        expect(lines.last).to_be_in_viewport(ratio=1)
        expect(page.locator(".lesson-page > [role=status]")).to_contain_text(heard)
        expect(after).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(after).to_be_in_viewport(ratio=1)
    for n in (3, 2):
        page.get_by_role("button", name="Back").click()
        expect(lines).to_have_count(n)
    expect(after).to_have_count(0)
    assert page.evaluate(ANSWERED) == {}, "there is nothing to score"


def test_gaps_are_filled_by_keyboard(made_up):
    page = made_up("filled")
    gap = lambda name: page.get_by_role("textbox", name=name)  # noqa: E731
    gap("2^score, cat").focus()
    page.keyboard.type("2")
    expect(page.locator(".tick").first).to_have_text("✓")
    page.keyboard.press("Enter")
    expect(gap("2^score, sat")).to_be_focused()
    page.keyboard.type("0")
    page.keyboard.press("Tab")
    expect(gap("weight, the")).to_be_focused()
    expect(gap("2^score, sat")).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".gaps-box [role=status]")).to_have_text(
        "2score, sat: Any number to the power of 0 is 1, not 0."
    )
    page.keyboard.type("4/7")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_contain_text("All right now.")
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_focused()
    expect(page.locator(".gaps td.gap")).to_have_text(["2", "1", "4/7"])
    becomes(page, lambda: page.evaluate(ANSWERED), {"made-up.filled": False})


def test_gaps_are_kept_by_the_way_or_shown(made_up):
    page = made_up(2)
    gap = page.locator(".gaps input").first
    gap.fill("−3")
    page.get_by_role("button", name="Back").click()
    count_is(page, "1 of 5")
    for _ in range(5):
        page.keyboard.press("PageDown")
    count_is(page, "2 of 5")
    expect(gap).to_have_value("−3")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(".gaps td.gap")).to_have_text(["2", "1", "4/7"])
    assert page.evaluate(ANSWERED) == {}


def test_gaps_fit_and_are_labelled(made_up):
    page = made_up("filled")
    page.locator(".gaps input").first.fill("5")
    page.locator(".gaps input").nth(1).focus()
    expect(page.locator(".gaps input").first).to_have_attribute("aria-invalid", "true")
    for size in ((1366, 768), PHONE):
        resized(page, *size)
        assert page.locator(".gaps").evaluate("each => each.scrollWidth - each.clientWidth") <= 1
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert violations_but_contrast(page) == []
    page.locator(".gaps button.number").first.click()
    expect(page.locator(".number-line")).to_contain_text("scores[head 1, cat, the] = 2")


def test_next_skips_the_card_and_begins_with_what_was_wrong(made_up):
    page = made_up("filled", kept=json.dumps({"answered": {"made-up.filled": False}}))
    page.get_by_role("button", name="Show me").click()
    page.get_by_role("button", name="Next", exact=True).click()
    count_is(page, "3 of 5")
    expect(page.locator(".lesson-said h2")).to_have_text("And who fits best?")
    expect(page.locator(".of-kind")).to_have_text("Asked again: A made-up lesson")
    page.get_by_role("button", name="Back").click()
    count_is(page, "2 of 5")
    page.get_by_role("button", name="For engineers: In PyTorch").click()
    count_is(page, "For engineers")
    page.keyboard.press("PageDown")
    count_is(page, "3 of 5")


def test_end_has_a_sentence_to_tell(made_up):
    page = made_up("second")
    for _ in range(2):
        page.keyboard.press("PageDown")
    count_is(page, "5 of 5")
    expect(page.locator(".tell")).to_have_count(0)
    page.get_by_role("button", name="Compare with an answer").click()
    expect(page.locator(".verdict.shown ~ .tell")).to_contain_text(
        "A softmax turns any scores into shares of one whole."
    )
    page.get_by_role("button", name="All lessons").click()
    expect(page.get_by_role("group", name="All lessons")).to_contain_text("A test needs one of each.")


def test_handout_has_every_line_and_filled_gaps(made_up):
    page = made_up(1)
    page.evaluate("""() => { window.print = () => {
        dispatchEvent(new Event("beforeprint"));
        window.printed = [...document.querySelectorAll(".handout article")].map((each) => each.innerText);
        dispatchEvent(new Event("afterprint"));
    }; }""")
    page.get_by_role("button", name="Teach").click()
    page.get_by_role("button", name="Print a handout").click()
    page.wait_for_function("window.printed")
    worked, filled, card, recall, *_ = page.evaluate("printed")
    assert "Their sum is 7." in worked
    assert "they add up to 1" in worked
    assert "4/7" in filled
    assert "For engineers" in card
    assert "Asked again: A made-up lesson" in recall
