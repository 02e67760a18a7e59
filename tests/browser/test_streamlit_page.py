"""What our styles and scripts find in Streamlit's pages is still there, in a real browser."""

import pytest
from tab import resized

from attnviz.app import streamlit_private

pytestmark = pytest.mark.browser

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


def test_streamlits_pages_still_have_what_our_styles_and_scripts_find_there(visit):
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
