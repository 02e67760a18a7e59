"""axe-core on a page: what it finds that somebody could not see, hear or reach."""

from pathlib import Path

import axe_playwright_python
from tab import frames

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
PAGES = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 20, 27)"}
"""The colours of the page, as `.streamlit/config.toml` has them."""

_OFF_BY_ITSELF = ("identical-links-same-purpose", "landmark-complementary-is-top-level")
"""Rules that axe follows if it is asked to. Left off: a contrast of 7 (level AAA) and those that it has given up.

The size of targets is measured by `_CRAMPED`: axe's own rule takes twice as long as all others together.
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
_FOUND = """async ([rules, within]) => {
  const cramped = %s;
  const shadows = [...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean);
  const place = [document, ...shadows].map((root) => root.querySelector(within)).find(Boolean);
  const { violations } = await axe.run(place, { resultTypes: ["violations"], rules });
  const told = (id, { html, failureSummary }) => `${id}: ${html.slice(0, 160)}: ${failureSummary}`;
  return [...violations.flatMap(({ id, nodes }) => nodes.map((node) => told(id, node))), ...cramped(place)];
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
    return page.evaluate(_FOUND % _CRAMPED, [{rule: {"enabled": True} for rule in _OFF_BY_ITSELF} | rules, within])


def violations_of_page(page, theme):
    """What all rules find in a theme on a page without Streamlit."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    frames(page)
    return _found(page, {})


def violations_of_viewer(page):
    """What the rules find in the viewer alone, in the page that tests mount it in, but for colours."""
    page.evaluate("() => Object.assign(document, { title: 'attnviz' }) && (document.documentElement.lang = 'en')")
    return _found(page, {"color-contrast": {"enabled": False}}, ".viewer")
