"""axe-core on a page: what it finds that somebody could not see, hear or reach."""

import json
import string
from pathlib import Path

import axe_playwright_python
from alone import painted
from contrast import FAINT
from tab import frames

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
PAGES = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 20, 27)"}
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
_CRAMPED = """(place) => {
  const LEAST = 24 - 0.1;  // px (WCAG 2.5.8): of its own, or of room from middle to middle
  const within = (root) => [...root.querySelectorAll("*")]
    .flatMap((each) => [each, ...(each.shadowRoot ? within(each.shadowRoot) : [])]);
  const hasWords = (block) => {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement: own } = texts.currentNode;
      if (data.trim() && !own.closest("a, button, select, summary")) return true;
    }
    return false;
  };
  const isInText = (each) => getComputedStyle(each).display.startsWith("inline") && each.parentElement !== null
    && (hasWords(each.parentElement) || isInText(each.parentElement));
  const isTarget = (each) => each.tabIndex >= 0 && !each.disabled
    && each.matches("a[href], button, input, select, textarea, summary, [role][tabindex]")
    && each.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && !isInText(each);
  const isCovered = (each, box) => {
    const seen = each.getRootNode().elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    return seen && !each.contains(seen) && !seen.contains(each);
  };
  const targets = within(place).filter(isTarget).map((each) => ({ each, box: each.getBoundingClientRect() }))
    .filter(({ each, box }) => box.width > 1 && box.height > 1 && !isCovered(each, box));
  const isSmall = ({ box }) => Math.min(box.width, box.height) < LEAST;
  const middle = ({ box }) => [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const nearest = ([x, y], { box }) =>
    [Math.max(box.left, Math.min(x, box.right)), Math.max(box.top, Math.min(y, box.bottom))];
  const room = (one, other) => {
    const [x, y] = middle(one), [to, down] = isSmall(other) ? middle(other) : nearest([x, y], other);
    return Math.hypot(to - x, down - y) * (isSmall(other) ? 1 : 2);
  };
  const areApart = (one, other) => one === other || one.each.contains(other.each) || other.each.contains(one.each)
    || room(one, other) >= LEAST;
  return targets.filter((one) => isSmall(one) && !targets.every((other) => areApart(one, other)))
    .map(({ each, box }) => `target of ${box.width} x ${box.height} px: ${each.outerHTML.slice(0, 160)}`);
}"""
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
