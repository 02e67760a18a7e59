"""axe-core finds nothing on any page and any step, in light and dark, by its rules of levels A and AA."""

import pytest
from axe import violations, violations_but_contrast
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
    "a sentence that is refused": at(model="who-is-it", sentence="the cat sat"),
}
_GREYED = """() => {
  const old = document.querySelector("[data-testid=stElementContainer]");
  old.style.transition = "opacity 1s ease-in 0.5s"; // as Streamlit has it where a run is long
  const { transitionDuration, transitionDelay } = getComputedStyle(old);
  return { duration: transitionDuration, delay: transitionDelay };
}"""
PAGES = ("by_hand", "what_attention_says", "audit", "numpy_code")


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
    opened = alone().open(page + at(sentence="the cat sat", changes="scores[0,1,2]=3"))
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


def test_where_motion_is_reduced_nothing_moves_and_what_comes_late_comes_as_late(alone):
    page = alone(reduced_motion="reduce").open("worked_examples")
    assert page.evaluate(_GREYED) == {"duration": "0s", "delay": "0.5s"}


@pytest.mark.parametrize(("address", "theme"), [(at(sentence="the cat sat"), "light"), ("", "dark")])
def test_what_is_behind_more_is_for_everyone(alone, address, theme):
    page = alone(color_scheme=theme).open(address)
    page.get_by_role("button", name="More").click()
    expect(page.get_by_role("group", name="More settings")).to_be_visible()
    assert violations(page, theme) == []
