"""What our styles and scripts find in Streamlit's pages is still there, in a real browser."""

import pytest

from attnviz.ui import seams

pytestmark = pytest.mark.browser

WIDE, PHONE = 1440, 600
PAGES = (
    ("", WIDE),
    ("", PHONE),
    ("?embed=true", WIDE),
    ("?present=1", WIDE),
    ("audit?sentence=", WIDE),
    ("by_hand?seed=-1", WIDE),
    ("what_attention_says", WIDE),
)
"""Between them they have all that our styles are for."""

FOUND = """(names) => {
  const rules = ({ cssRules = [] }) => [...cssRules].flatMap((rule) => rule.selectorText || rules(rule));
  const ours = [...document.styleSheets].filter(({ ownerNode }) => ownerNode?.textContent.includes("st-key-address"));
  const all = [...names, ...new Set(ours.flatMap(rules))];
  const elementOf = (name) => name.replaceAll(/:focus-visible|(?<=\\]|main)::(before|after)/g, "");
  return all.map((name) => [name, document.querySelector(elementOf(name)) !== null]);
}"""
"""Each name, and each selector of our styles in this page, and whether anything is found by it."""


def test_streamlits_pages_still_have_what_our_styles_and_scripts_find_there(visit):
    tab, known, found = visit(), set(), set()
    for path, width in PAGES:
        tab.page.set_viewport_size({"width": width, "height": 900})
        answers = tab.open(path).evaluate(FOUND, list(seams.SELECTORS))
        known |= {name for name, _ in answers}
        found |= {name for name, is_there in answers if is_there}
    assert len(known) > len(seams.SELECTORS), "our styles are in the pages"
    assert known - found == set(), "which Streamlit no longer has, or which we no longer use"
