"""The page of the model built by hand: a string of one's own, its matrices, and what breaks when they are others."""

from page import ROOT

PAGE = ROOT / "pages" / "by_hand.py"


def matrix(at, key):
    """The numbers of a heatmap."""
    chart = next(each for each in at.get("plotly_chart") if each.proto.id.endswith(f"-{key}"))
    return chart
