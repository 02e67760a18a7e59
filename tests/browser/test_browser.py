"""The worked examples, the README's picture and the elements of Streamlit that our styles need, in a real browser."""

import struct

import pytest
from page import ROOT
from tab import at, becomes, expect, lesson, resized

from attnviz.app import streamlit_private

pytestmark = pytest.mark.browser

PICTURE = ROOT / "docs" / "lesson.png"
CONTENT = PICTURE.with_suffix(".txt")
"""What the page of the picture said when it was taken, as a screen reader is given it."""
SIZE = (1366, 768)


def test_readme_picture_is_current(visit, server, request):
    page = lesson(visit(), at(lesson="who-is-it", moment=3))
    resized(page, *SIZE)
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".lesson-said .verdict")).to_contain_text("You said 50 %")
    main = page.get_by_test_id("stMain")

    def said():
        return main.aria_snapshot().replace(server, "")  # which links lead back to

    if request.config.getoption("--remake-picture"):
        page.screenshot(path=PICTURE)
        CONTENT.write_text(said(), "utf-8")
    assert struct.unpack(">II", PICTURE.read_bytes()[16:24]) == SIZE  # where a PNG holds its size
    remake = (
        "the page is not what docs/lesson.png shows: pytest tests/browser/test_browser.py -k readme --remake-picture"
    )
    becomes(page, said, CONTENT.read_text("utf-8"), remake)


PHONE = 600
PAGES = ("?embed=true", "?present=1", "audit?sentence=", "by_hand?seed=-1", "what_attention_says", "")
"""Between them, and the last on a phone, they have all that our styles are for."""

FOUND = """(names) => {
  const rules = ({ cssRules = [] }) => [...cssRules].flatMap((rule) => rule.selectorText || rules(rule));
  const ours = [...document.styleSheets].filter(({ ownerNode }) => ownerNode?.textContent.includes("st-key-address"));
  const all = [...names, ...new Set(ours.flatMap(rules))];
  const elementOf = (name) => name.replaceAll(/:focus-visible|(?<=\\]|main)::(before|after)/g, "");
  return all.map((name) => [name, document.querySelector(elementOf(name)) !== null]);
}"""
"""Each name, and each selector of our styles in this page, and whether anything is found by it."""


def test_streamlit_still_has_our_selectors(visit):
    tab, known, found = visit(afresh=True), set(), set()

    def look(page):
        answers = page.evaluate(FOUND, list(streamlit_private.SELECTORS))
        known.update(name for name, _ in answers)
        found.update(name for name, is_there in answers if is_there)

    for path in PAGES:
        look(tab.open(path))
    resized(tab.page, PHONE, 900)
    look(tab.settled())
    assert len(known) > len(streamlit_private.SELECTORS), "our styles are in the pages"
    dialog = '[data-testid="stDialog"]'  # Streamlit's own, where its server is away
    unseen = {dialog, f"[data-presenting] {dialog}"}
    assert known - found == unseen, "which Streamlit no longer has, or which we no longer use"
