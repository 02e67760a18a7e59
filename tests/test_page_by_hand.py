"""The page of the model built by hand: a string of one's own, its matrices, and what breaks when they are others."""

import re

import pytest
from page import ROOT, opened, quiet, texts, warnings

from attnviz.core.changes import format_changes
from attnviz.models.byhand import MODEL
from attnviz.models.ideas import IDEAS
from attnviz.models.strings import tried
from attnviz.scene.scene import OWN
from attnviz.ui.sections.blocks import PARTS

PAGE = ROOT / "pages" / "by_hand.py"


def matrix(at, key):
    """The numbers of a heatmap."""
    chart = next(each for each in at.get("plotly_chart") if each.proto.id.endswith(f"-{key}"))
    return chart
