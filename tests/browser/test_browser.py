"""The README's pictures and the elements of Streamlit that our styles need, in a real browser."""

import re
import struct

import pytest
from page import ROOT
from tab import resized

from attnviz.app import streamlit_private

pytestmark = pytest.mark.browser

DOCS = ROOT / "docs"
CARD = (1200, 630)
"""What pages that show links want."""


def test_readmes_pictures_are_recorded_by_the_script_and_light():
    recorded = set(re.findall(r'"([\w-]+\.(?:gif|png))"', (DOCS / "record.py").read_text("utf-8")))
    shown = set(re.findall(r"\(docs/([^)]+\.(?:gif|png))\)", (ROOT / "README.md").read_text("utf-8")))
    assert shown
    assert shown <= recorded == {path.name for path in DOCS.iterdir() if path.suffix in (".gif", ".png")}
    assert max((DOCS / name).stat().st_size for name in recorded) <= 2_000_000
    assert struct.unpack(">II", (DOCS / "social-card.png").read_bytes()[16:24]) == CARD  # where a PNG holds its size


PHONE = 600
OTHERS = ("worked_examples", "your_own_numbers")
PAGES = ("?present=1", "audit?sentence=", "by_hand?seed=-1", "what_attention_says", *OTHERS, "")
"""Between them, with an embedded one and the last on a phone, they have all that our styles are for."""

FOUND = """(names) => {
  const rules = ({ cssRules = [] }) => [...cssRules].flatMap((rule) => rule.selectorText || rules(rule));
  const ours = [...document.styleSheets].filter(({ ownerNode }) => ownerNode?.textContent.includes("st-key-address"));
  const all = [...names, ...new Set(ours.flatMap(rules))];
  const elementOf = (name) => name.replaceAll(/:focus-visible|(?<=\\]|main|button)::(before|after)/g, "");
  return all.map((name) => [name, document.querySelector(elementOf(name)) !== null]);
}"""
"""Each name, and each selector of our styles in this page, and whether anything is found by it."""


def test_streamlit_still_has_our_selectors(visit):
    known, found = set(), set()

    def look(page):
        answers = page.evaluate(FOUND, list(streamlit_private.SELECTORS))
        known.update(name for name, _ in answers)
        found.update(name for name, is_there in answers if is_there)

    look(visit(afresh=True).open("?embed=true"))
    tab = visit()
    for path in PAGES:
        look(tab.open(path))
    resized(tab.page, PHONE, 900)
    tab.settled().get_by_test_id("stMainMenu").click()
    tab.page.get_by_test_id("stMainMenuList").wait_for()
    look(tab.page)
    tab.page.keyboard.press("Escape")
    tab.page.get_by_test_id("stExpandSidebarButton").click()
    closes = tab.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button")
    closes.wait_for()
    look(tab.page)
    closes.click()
    assert len(known) > len(streamlit_private.SELECTORS), "our styles are in the pages"
    dialog = '[data-testid="stDialog"]'  # Streamlit's own, where its server is away
    unseen = {dialog, f"[data-presenting] {dialog}"} | {name for name in known if "data-drawn" in name}  # for a moment
    assert known - found == unseen, "which Streamlit no longer has, or which we no longer use"
