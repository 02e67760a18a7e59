"""What of the viewer is in sight, as measured in the page: what is cut off, what overlaps, what has to be scrolled."""

from needs import in_page

TEXTS = [
    ".sheet .said > *, .sheet td, .sheet .names button, .step-text p, .matrix .symbol, .labels span",
    ".legend .scale, .panel h3, .panel .said, .readout h4",
]
"""What counts as far as its letters reach."""
BOXES = [
    ".step-text h2, .step-text header > math, .matrix .cells, .bands .band, .setting, .questions, .terms .total",
    ".way > button, .way .end > *, .toolbar > button, .whole .stage-of",
]
"""What counts as far as its box does."""
SCROLLERS = ".sheet, .picture, .matrices, .step-text, .main, .panel, .reply, .whole"
"""What may hold no more than it shows."""

_MEASURED = in_page("out_of_sight.js")
_DIGITS = """(root) => [...root.querySelectorAll(".cells td:not(.hidden):not(.flag)")]
  .map((each) => (each.textContent ? parseFloat(getComputedStyle(each).fontSize) : 0))"""


_RECTANGLES = """(selectors) => Object.fromEntries(selectors.flatMap((selector) =>
  [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility()).map((each, n) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [`${selector} ${n}`, [x, y, width, height].map(Math.round)];
  })))"""


def rectangles(page, selectors):
    """Where the visible elements of some selectors are, and how large, in whole pixels."""
    return page.evaluate(_RECTANGLES, selectors)


def out_of_sight(page):
    """What is not seen whole, by what is wrong with it."""
    found = page.locator(".viewer").evaluate(_MEASURED, {"texts": TEXTS, "boxes": BOXES, "scrollers": SCROLLERS})
    return {wrong: those for wrong, those in found.items() if those}


def digits_sizes(page):
    """The font sizes of all numbers in tables; 0 where there are no digits."""
    return page.locator(".viewer").evaluate(_DIGITS)


INK = in_page("ink.js")

"""Of what is written in the viewer, the least first: its zero in per cent of the window's height, and what it says.

What is out of sight is as small as nothing.
"""
