"""axe-core on a page: what it finds that somebody could not see, hear or reach."""

from pathlib import Path

import axe_playwright_python
from tab import frames

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
PAGES = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 20, 27)"}
"""The colours of the page, as `.streamlit/config.toml` has them."""

_OFF_BY_ITSELF = ("target-size", "identical-links-same-purpose", "landmark-complementary-is-top-level")
"""Rules that axe follows if it is asked to. Left off: a contrast of 7 (level AAA) and those that it has given up."""

_SHOWN = """(colour) => getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor === colour"""
_FOUND = """async ([rules, within]) => {
  const shadows = [...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean);
  const place = [document, ...shadows].map((root) => root.querySelector(within)).find(Boolean);
  const { violations } = await axe.run(place, { resultTypes: ["violations"], rules });
  const told = (id, { html, failureSummary }) => `${id}: ${html.slice(0, 160)}: ${failureSummary}`;
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => told(id, node)));
}"""


def violations(page, theme, within="html"):
    """What axe's rules of levels A and AA and its best practices find on a page, or in a part of it, in a theme."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no colour is on its way to another
    page.wait_for_function(_SHOWN, arg=PAGES[theme])
    frames(page)
    return _found(page, {}, within)


def violations_but_contrast(page):
    """What the rules find that cost little: the colours of every letter take ten times as long as all others."""
    return _found(page, {"color-contrast": {"enabled": False}})


def _found(page, rules, within="html"):
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE)
    return page.evaluate(_FOUND, [{rule: {"enabled": True} for rule in _OFF_BY_ITSELF} | rules, within])


def violations_of_page(page, theme):
    """What all rules find in a theme on a page without Streamlit."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    frames(page)
    return _found(page, {})


def violations_of_viewer(page):
    """What the rules find in the viewer alone, in the page that tests mount it in, but for colours."""
    page.evaluate("() => Object.assign(document, { title: 'attnviz' }) && (document.documentElement.lang = 'en')")
    return _found(page, {"color-contrast": {"enabled": False}}, ".viewer")
