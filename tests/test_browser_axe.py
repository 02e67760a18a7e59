"""axe-core finds nothing on any page and any step, in light and dark, by its rules of levels A and AA."""

from pathlib import Path

import pytest
from axe import violations, violations_but_contrast
from boxes import THEMES as THEME
from page import REDIRECTS, ROOT, ROUTED
from tab import at, becomes, expect, resized, step_is

from attnviz.examples import EXAMPLES

pytestmark = pytest.mark.browser

SIDEWAYS = "(main) => main.scrollWidth - main.clientWidth"
THEMES = ("light", "dark")
LARGE = {"sentence": "the cat sat on the mat and saw a small bird that sang so very well", "d_model": 64, "heads": 8}
VIEWS = {
    "a large pass, which is drawn": at(**LARGE, step="scores"),
    "the whole of a large pass": at(**LARGE, step="Whole pass"),
    "presenting": at(step="softmax", sentence="the cat sat", present=1),
    "what would move a number": at(step="scores", sentence="the cat sat", ask="what would move it"),
    "what if": at(step="scores", sentence="the cat sat", ask="what if", changes="scores[0,1,2]=3"),
    "a word that a model does not know": at(model="who-is-it", sentence="the cat sat"),
}
_GREYED = """() => {
  const old = document.querySelector("[data-testid=stElementContainer]");
  old.style.transition = "opacity 1s ease-in 0.5s"; // as Streamlit has it where a run is long
  const { transitionDuration, transitionDelay } = getComputedStyle(old);
  return { duration: transitionDuration, delay: transitionDelay };
}"""
PAGES = {Path(each).stem: "" if each == "pages/walkthrough.py" else Path(each).stem for each in ROUTED}
PAGES = {name: path for name, path in PAGES.items() if ROOT / "pages" / f"{name}.py" not in REDIRECTS}
"""All pages of the router, and where in the address they are; those that lead to another are that one."""

_HELD = """() => {
  const held = document.activeElement, { left, right } = held.getBoundingClientRect(), seen = getComputedStyle(held);
  const isOurs = held.shadowRoot !== null;
  const isSeen = left < innerWidth && right > 0 && seen.outlineStyle === "solid" && parseFloat(seen.outlineWidth) >= 2;
  return { isOurs, isSeen, text: held.innerText.slice(0, 40), colour: seen.outlineColor };
}"""


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({"model": "who-is-it"}, 11),
        ({"sentence": "the quick brown fox", "heads": 4, "mask": "causal", "positions": "sinusoidal"}, 12),
    ],
)
def test_every_step_is_for_everyone(alone, settings, steps):
    page = alone().open(at(**settings))
    for number in range(1, steps + 1):
        step_is(page, number)
        assert violations(page, THEMES[number % 2]) == [], number
        page.keyboard.press("PageDown")
    expect(page.locator(".way .end button")).to_be_disabled()


def test_every_step_of_two_layers_is_for_everyone(alone):
    page = alone().open(at(model="recall"))
    for number in range(1, 24):  # their colours are those of a model of one layer
        step_is(page, number)
        assert violations_but_contrast(page) == [], number
        page.keyboard.press("PageDown")
    expect(page.locator(".way .end button")).to_be_disabled()


@pytest.mark.parametrize(("theme", "view"), list(zip(THEMES * len(VIEWS), VIEWS, strict=False)))
def test_every_view_is_for_everyone(alone, view, theme):
    page = alone(color_scheme=theme).open(VIEWS[view])
    assert violations(page, theme) == []
    if view != "presenting":  # which is for a projector
        nothing_is_sideways(page)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_for_everyone(alone, page):
    opened = alone().open(PAGES[page] + at(sentence="the cat sat", changes="scores[0,1,2]=3"))
    for theme in THEMES:
        assert violations(opened, theme) == [], theme
    nothing_is_sideways(opened)


def nothing_is_sideways(page):
    """At 200 and at 400 % of a usual screen the page grows downwards alone."""
    for width in (683, 320):
        resized(page, width, 384)
        becomes(page, lambda: page.get_by_test_id("stMain").evaluate(SIDEWAYS), 0, width)


def test_every_worked_example_is_for_everyone(alone):
    tab = alone()
    for place, notebook in enumerate(EXAMPLES):
        page = tab.open("worked_examples" + at(notebook=notebook))
        assert violations(page, THEMES[place % 2]) == [], notebook
        nothing_is_sideways(page)
        resized(page, 1440, 900)


@pytest.mark.parametrize("theme", THEMES)
def test_the_keyboard_is_seen_on_all_that_streamlit_draws(alone, theme):
    page = alone(color_scheme=theme).open()
    colour = THEME[theme]["linkColor"]
    for width, menu in ((1440, page.get_by_test_id("stTopNavLink").all_inner_texts()), (390, [])):
        resized(page, width, 844)
        page.get_by_test_id("stSkipToContent").focus()
        stops = []
        while not stops or not stops[-1]["isOurs"]:
            page.keyboard.press("Tab")
            stops.append(page.evaluate(_HELD))
            assert len(stops) < 20, stops
        assert all(each["isSeen"] for each in stops[:-1]), stops
        assert {each["colour"] for each in stops[:-1]} == {f"rgb{tuple(bytes.fromhex(colour[1:]))}"}
        assert [each["text"] for each in stops if each["text"] in menu] == menu


def test_where_motion_is_reduced_nothing_moves_and_what_comes_late_comes_as_late(alone):
    page = alone(reduced_motion="reduce").open("worked_examples")
    assert page.evaluate(_GREYED) == {"duration": "0s", "delay": "0.5s"}


@pytest.mark.parametrize(("address", "theme"), [(at(sentence="the cat sat"), "light"), ("", "dark")])
def test_what_is_behind_more_is_for_everyone(alone, address, theme):
    page = alone(color_scheme=theme).open(address)
    page.get_by_role("button", name="More").click()
    expect(page.get_by_role("group", name="More settings")).to_be_visible()
    assert violations(page, theme) == []
