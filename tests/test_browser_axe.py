"""axe-core finds nothing on any page and any kind of step, in light and dark, by its rules of levels A and AA."""

from pathlib import Path

import pytest
from axe import violations, violations_but_contrast
from boxes import THEMES as COLOURS
from page import ROUTED
from tab import Tab, at, becomes, cell, expect, heading, resized

from attnviz.examples import EXAMPLES

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SIDEWAYS = "(main) => main.scrollWidth - main.clientWidth"
THEMES = ("light", "dark")
LARGE = {"sentence": "the cat sat on the mat and saw a small bird that sang so very well", "d_model": 64, "heads": 8}
SMALL = {"sentence": "the cat sat", "d_model": "4"}
"""Of few numbers: the contrast of each takes its time."""
VIEWS = {
    "the first model": "walkthrough",
    "a large pass, which is drawn": at(**LARGE, step="scores"),
    "presenting": at(step="softmax", **SMALL, present=1),
    "a word that a model does not know": at(model="who-is-it", **SMALL),
}
_GREYED = """() => {
  const old = document.querySelector("[data-testid=stElementContainer]");
  old.style.transition = "opacity 1s ease-in 0.5s"; // as Streamlit has it where a run is long
  const { transitionDuration, transitionDelay } = getComputedStyle(old);
  return { duration: transitionDuration, delay: transitionDelay };
}"""
PAGES = [Path(each).stem for each in ROUTED if each != "pages/lessons.py"]
"""All pages of the router that read an address."""

_HELD = """() => {
  const held = document.activeElement, { left, right } = held.getBoundingClientRect(), seen = getComputedStyle(held);
  const isOurs = held.shadowRoot !== null;
  const isSeen = left < innerWidth && right > 0 && seen.outlineStyle === "solid" && parseFloat(seen.outlineWidth) >= 2;
  return { isOurs, isSeen, text: held.innerText.slice(0, 40), colour: seen.outlineColor };
}"""


def in_turn(cases):
    """Cases, each in one of the themes."""
    return [(case, THEMES[place % 2]) for place, case in enumerate(cases)]


@pytest.fixture(scope="module")
def still(browser):
    """A tab in which nothing moves, for all of these tests; to each page its person is new."""
    tab = Tab(browser.new_context(reduced_motion="reduce"))
    tab.page.add_init_script("""if (location.protocol !== "about:") localStorage.clear();""")
    yield tab
    tab.page.context.close()


@pytest.fixture
def tab(still, server):
    yield still.begin(server)
    still.leave()
    assert (still.errors, still.elsewhere) == ([], set())


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_for_everyone(tab, view):
    page = tab.open(VIEWS[view])
    assert violations_but_contrast(page) == []  # colours are those of the pages, and of the viewer alone
    if view != "presenting":  # which is for a projector
        nothing_is_sideways(page)


@pytest.mark.parametrize(("page", "theme"), in_turn(PAGES))
def test_every_page_is_for_everyone(tab, page, theme):
    opened = tab.open(page + at(**SMALL, changes="scores[0,1,2]=3"))
    assert violations(opened, theme) == []
    nothing_is_sideways(opened)


def nothing_is_sideways(page):
    """At 200 and at 400 % of a usual screen the page grows downwards alone."""
    for width in (683, 320):
        resized(page, width, 384)
        becomes(page, lambda: page.get_by_test_id("stMain").evaluate(SIDEWAYS), 0, width)


@pytest.mark.parametrize(("theme", "present"), [("light", {}), ("dark", {"present": 1})])
def test_the_code_of_a_page_is_for_everyone_and_says_who_can_open_it(tab, theme, present):
    page = tab.open(at(**SMALL, step="scores", view="matrices", **present))
    page.keyboard.press("q")
    code = page.get_by_role("dialog", name="QR code of this page")
    expect(code).to_contain_text("No one else can open it")
    expect(code).to_contain_text("attnviz --address 0.0.0.0")
    assert violations(page, theme, "dialog[open]") == []
    resized(page, 390, 844)
    assert violations_but_contrast(page) == []


def test_every_worked_example_is_for_everyone(tab):
    page = tab.open("worked_examples")
    for example in EXAMPLES.values():  # their colours are those of the page
        page.get_by_role("radio", name=example.title).check()
        expect(heading(page, example.title)).to_be_visible()
        tab.settled()
        assert violations_but_contrast(page) == [], example.id
        nothing_is_sideways(page)
        resized(page, 1440, 900)


def test_the_keyboard_is_seen_on_all_that_streamlit_draws(tab):
    page = tab.open()
    for theme, width in zip(THEMES, (1440, 390), strict=True):
        page.emulate_media(color_scheme=theme)
        tab.settled()
        menu = page.get_by_test_id("stTopNavLink").all_inner_texts() if width == 1440 else []
        resized(page, width, 844)
        page.get_by_test_id("stSkipToContent").focus()
        stops = []
        while not stops or not stops[-1]["isOurs"]:
            page.keyboard.press("Tab")
            stops.append(page.evaluate(_HELD))
            assert len(stops) < 20, stops
        colour = COLOURS[theme]["linkColor"]
        assert all(each["isSeen"] for each in stops[:-1]), stops
        assert {each["colour"] for each in stops[:-1]} == {f"rgb{tuple(bytes.fromhex(colour[1:]))}"}
        assert [each["text"] for each in stops if each["text"] in menu] == menu


def test_where_motion_is_reduced_nothing_moves_and_what_comes_late_comes_as_late(tab):
    page = tab.open("worked_examples")
    assert page.evaluate(_GREYED) == {"duration": "0s", "delay": "0.5s"}
    expect(cell(tab.open(at(step="Scores")), "Scores", 0, 0)).to_be_visible()
    assert page.evaluate("document.getAnimations().filter(each => each.playState === 'running').length") == 0
