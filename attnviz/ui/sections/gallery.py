"""Galleries: matrices on the page, as tables of written numbers where those can be read, else as heatmaps."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from attnviz.core.terms import Cell
from attnviz.ui.state.store import Shown
from attnviz.ui.viewer import matrix
from attnviz.views import charts
from attnviz.views.matrices import Matrix

BARE = {"displayModeBar": False}
Pick = Callable[[Shown, Cell], None]


def equations(
    shown: Shown, drawn: Sequence[Sequence[Matrix]], pick: Pick, key: str = "picture", **options: object
) -> None:
    """Draw equations one under the other; `options` are those of `matrix.picture`."""
    for number, equation in enumerate(drawn):
        if not legible(equation):
            st.plotly_chart(charts.equation(equation), key=shown.key(f"large_{key}_{number}"), config=BARE)
    written = [equation for equation in drawn if legible(equation)]
    if written or "answer" in options:
        matrix.picture(shown.trace, written, partial(pick, shown), shown.key(key), **options)


def draw(shown: Shown, drawn: Sequence[Matrix], pick: Pick, key: str) -> None:
    """Draw matrices that are not of one equation, as many on a line as fit; large ones small, in one figure."""
    written, large = [m for m in drawn if m.legible], [m for m in drawn if not m.legible]
    if written:
        matrix.picture(shown.trace, [(each,) for each in written], partial(pick, shown), shown.key(key), flowing=True)
    if large:
        st.plotly_chart(charts.overview(large), key=shown.key(f"large_{key}"), config=BARE)


def legible(equation: Sequence[Matrix]) -> bool:
    """Whether every number of an equation can be written out."""
    return all(each.legible for each in equation)
