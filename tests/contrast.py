"""The contrast of all that is written, as it comes out: of colours over each other, seen through, pointed at, held."""

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
