"""axe-core on a page: what it finds that somebody could not see, hear or reach."""

import json
import string
from pathlib import Path

import axe_playwright_python
from alone import painted
from contrast import FAINT
from needs import in_page
from tab import frames

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
PAGES = {"light": "rgb(255, 254, 251)", "dark": "rgb(21, 22, 26)"}
"""The colours of the page, as `.streamlit/config.toml` has them."""

_RULES = {
    "color-contrast": {"enabled": False},
    "identical-links-same-purpose": {"enabled": True},
    "landmark-complementary-is-top-level": {"enabled": True},
}
"""What axe does otherwise than by itself. Left off: a contrast of 7 (level AAA) and those rules that it has given up.

Contrast is measured by `contrast.FAINT`, and the size of targets by `_CRAMPED`: axe's own rules for them take ten times
and twice as long as all others together.
"""

_SHOWN = """(colour) => getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor === colour"""
_CRAMPED = in_page("cramped.js")
_FOUND = string.Template("""async ([within, isColoured]) => {
  const rules = $rules, cramped = $cramped, faint = $faint;
  const shadows = [...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean);
  const place = [document, ...shadows].map((root) => root.querySelector(within)).find(Boolean);
  const { violations } = await axe.run(place, { resultTypes: ["violations"], rules });
  const told = (id, { html, failureSummary }) => [id, html.slice(0, 160), failureSummary].join(": ");
  const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => told(id, node)));
  return [...found, ...cramped(place), ...(isColoured ? faint(place) : [])];
}""").substitute(rules=json.dumps(_RULES), cramped=_CRAMPED, faint=FAINT)


def violations(page, theme, within="html"):
    """What axe's rules of levels A and AA and its best practices find on a page, or in a part of it, in a theme."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no colour is on its way to another
    page.wait_for_function(_SHOWN, arg=PAGES[theme])
    frames(page)
    return _found(page, within)


def violations_but_contrast(page):
    """What the rules find where the colours are those of another page."""
    return _found(page, is_coloured=False)


def _found(page, within="html", *, is_coloured=True):
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE)
    if is_coloured:
        painted(page)
    return page.evaluate(_FOUND, [within, is_coloured])


def violations_of_page(page, theme):
    """What all rules find in a theme on a page without Streamlit."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    frames(page)
    return _found(page)


def violations_of_viewer(page):
    """What the rules find in the viewer alone, in the page that tests mount it in, but for colours."""
    page.evaluate("() => Object.assign(document, { title: 'attnviz' }) && (document.documentElement.lang = 'en')")
    return _found(page, ".viewer", is_coloured=False)
