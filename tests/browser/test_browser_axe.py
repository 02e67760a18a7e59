"""axe-core finds nothing on any page and any kind of step, in light and dark, by its rules of levels A and AA."""

import itertools
import re

import pytest
from axe import violations, violations_but_contrast
from boxes import THEMES as COLOURS
from page import ROOT
from tab import Tab, at, becomes, beyond, cell, expect, heading, resized, sentence, to_page

from attnviz.examples import EXAMPLES

THEMES = ("light", "dark")
NARROW = (683, 320)
LARGE = {"sentence": "the cat sat on the mat and saw a small bird that sang so very well", "d_model": 64, "heads": 8}
SMALL = {"sentence": "the cat sat", "d_model": "4"}
"""Of few numbers: the contrast of each takes its time."""
_GREYED = """() => {
  const old = document.querySelector("[data-testid=stElementContainer]");
  old.style.transition = "opacity 1s ease-in 0.5s"; // as Streamlit has it where a run is long
  const { transitionDuration, transitionDelay } = getComputedStyle(old);
  return { duration: transitionDuration, delay: transitionDelay };
}"""
TITLES = dict(re.findall(r'st\.Page\("pages/(\w+)\.py", title="(.+?)"', (ROOT / "app.py").read_text("utf-8")))
PAGES = {
    "light": ("by_hand", "walkthrough", "your_own_numbers", "audit", "translator"),
    "dark": ("worked_examples", "what_attention_says", "numpy_code", "microgpt"),
}
"""All pages of the router that read an address, each in one of the themes."""

_HELD = """() => {
  const held = document.activeElement, { left, right } = held.getBoundingClientRect(), seen = getComputedStyle(held);
  const isOurs = held.shadowRoot !== null;
  const isSeen = left < innerWidth && right > 0 && seen.outlineStyle === "solid" && parseFloat(seen.outlineWidth) >= 2;
  const isLink = held.tagName === "A"; // Chromium's focus stops at what scrolls, too
  return { isOurs, isSeen, isLink, text: held.innerText.slice(0, 40), colour: seen.outlineColor };
}"""


@pytest.fixture(scope="module")
def still(browser):
    """A tab in which nothing moves, for all of these tests; to each page its person is new."""
    tab = Tab(browser.new_context(reduced_motion="reduce"))
    tab.page.add_init_script("""if (location.protocol !== "about:") localStorage.clear();""")
    yield tab
    tab.page.context.close()


@pytest.fixture
def tab(still, server):
    yield still.begin(server, afresh=True)
    still.leave()
    assert (still.errors, still.elsewhere) == ([], set())


@pytest.fixture(scope="module")
def beside(still, server):
    """Another tab beside it, which shows the walkthrough to all tests that change nothing there."""
    tab = Tab(still.page.context).begin(server, afresh=True)
    tab.open(at(**SMALL, step="scores", view="matrices"))
    yield tab
    assert (tab.errors, tab.elsewhere) == ([], set())


@pytest.fixture
def walkthrough(beside):
    beside.page.bring_to_front()
    resized(beside.page, 1440, 900)
    return beside.page


def test_axe_finds_nothing_in_the_walkthrough(tab):
    """Colours are those of the pages, and of the viewer alone."""
    page = tab.open()
    expect(page.locator(".welcome")).to_be_visible()
    assert violations_but_contrast(page) == [], "a first visit"
    page.keyboard.press("p")
    expect(page.locator(".viewer.presenting")).to_be_visible()
    assert violations_but_contrast(page) == [], "presenting"
    page.keyboard.press("Escape")
    nothing_is_sideways(page)
    sentence(page).fill("the cat sat")
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations_but_contrast(page) == [], "a word that a model does not know"
    nothing_is_sideways(page, NARROW[::-1])
    page = tab.open(at(**LARGE, step="scores"))
    assert violations_but_contrast(page) == [], "a large pass, which is drawn"
    nothing_is_sideways(page)


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_in_any_page(tab, theme):
    assert {"lessons", *PAGES["light"], *PAGES["dark"]} == TITLES.keys()
    page = tab.open(PAGES[theme][0] + at(**SMALL, changes="scores[0,1,2]=3"))
    for name in PAGES[theme]:
        if name != PAGES[theme][0]:
            to_page(page, TITLES[name])
            expect(page.locator("h1")).to_have_text(TITLES[name])
            tab.settled()
        assert violations(page, theme) == [], name
        nothing_is_sideways(page)
        resized(page, 1440, 900)


def nothing_is_sideways(page, widths=NARROW):
    """At 200 and at 400 % of a usual screen the page grows downwards alone."""
    for width in widths:
        resized(page, width, 384)
        becomes(page, lambda width=width: (width, beyond(page)[1]), (width, 0))


def test_qr_dialog_names_who_can_open_it(walkthrough):
    page = walkthrough
    code = page.get_by_role("dialog", name="QR code of this page")
    for theme in THEMES:
        page.keyboard.press("q")
        expect(code).to_contain_text("This address only works on this computer")
        expect(code).to_contain_text("attnviz --address 0.0.0.0")
        assert violations(page, theme, "dialog[open]") == [], theme
        page.keyboard.press("Escape")
        expect(code).to_be_hidden()
        page.keyboard.press("p")  # in the other theme, while presenting
        expect(page.locator(".viewer.presenting")).to_be_visible(visible=theme == "light")
    resized(page, 390, 844)
    page.keyboard.press("q")
    assert violations_but_contrast(page) == []
    page.keyboard.press("Escape")


def test_axe_finds_nothing_in_worked_examples(tab):
    page = tab.open("worked_examples")
    for example, widths in zip(EXAMPLES.values(), itertools.cycle([NARROW, NARROW[::-1]])):  # colours are the page's
        page.get_by_role("radio", name=example.title).check()
        expect(heading(page, example.title)).to_be_visible()
        tab.settled()
        assert violations_but_contrast(page) == [], example.id
        nothing_is_sideways(page, widths)


def test_focus_is_visible_on_streamlit_parts(walkthrough, beside):
    page = walkthrough
    for theme, width in zip(THEMES, (1440, 390), strict=True):
        page.emulate_media(color_scheme=theme)
        beside.settled()
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
        assert [each["text"] for each in stops if each["isLink"] and each["text"] in menu] == menu


def test_reduced_motion_stops_animation(tab):
    page = tab.open(at(**SMALL, step="scores", view="matrices"))
    expect(cell(page, "Scores", 0, 0)).to_be_visible()
    assert page.evaluate("document.getAnimations().filter(each => each.playState === 'running').length") == 0
    assert page.evaluate(_GREYED) == {"duration": "0s", "delay": "0.5s"}
