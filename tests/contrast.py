"""The contrast of all that is written, as it comes out: of colours over each other, seen through, pointed at, held."""

import numpy as np
from alone import painted
from needs import in_page

FAINT = in_page("faint.js")
"""What is too faint within an element, and in what stands in its shadows."""
_NOW = f"() => ({FAINT})(document.body)"
_IN = in_page("faint_in_state.js")


def faint(page):
    """What is written with a contrast below 4.5, or 3 if it is large, as it is, or were it pointed at or held; and the
    rings and edges of controls below 3.
    """
    painted(page)
    return [page.evaluate(_NOW), *(page.evaluate(_IN % FAINT, state) for state in (":hover", ":focus-visible"))]


def channels(colour):
    """#rrggbb as numbers."""
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(colour) / 255]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one, other):
    """The contrast of two colours, as WCAG 2.2 has it."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)
