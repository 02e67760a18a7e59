"""Colours of numbers. Each is laid over the page at a strength of its own, so that they suit light and dark alike.

Blue and vermilion, and the four roles in `.streamlit/config.toml`, can be
told apart by colour-blind eyes (Okabe and Ito 2008).
"""

NEGATIVE = (36, 99, 196)
POSITIVE = (208, 74, 22)
SHARE = (112, 56, 190)
HIDDEN = (128, 134, 145)

ROLES = {"q": "#2a86c7", "k": "#d07a1c", "v": "#139a78", "output": "#bd5795", "": "#7f8794"}
"""Colours of Q, K, V and the output in charts; texts take the theme's blue, orange, green and violet."""

HEADS = ("#cc6677", "#4f46b8", "#d8c560", "#1e8a45", "#7cc4ea", "#9a3363", "#3fa596", "#8a8a2a")
"""Eight heads beside each other, on light and dark, for colour-blind eyes too (after Paul Tol's "muted")."""

MARK, MARK_EDGE = "#ffffff", "#30343b"  # a mark that stands out on bars of any colour

Colour = tuple[int, int, int]


def shade(colour: Colour, strength: float) -> str:
    """A colour at a strength from 0 (the page shows through) to 1, as CSS."""
    return f"rgba({colour[0]},{colour[1]},{colour[2]},{strength:g})"


SIGNED_SCALE = [[0, shade(NEGATIVE, 0.9)], [0.5, shade((128, 128, 128), 0)], [1, shade(POSITIVE, 0.9)]]
SHARE_SCALE = [[0, shade(SHARE, 0)], [1, shade(SHARE, 0.95)]]
HIDDEN_SCALE = [[0, shade(HIDDEN, 0.35)], [1, shade(HIDDEN, 0.35)]]
