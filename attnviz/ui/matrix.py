"""The matrix component: equations of matrices as real tables, drawn and explored in the browser."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from attnviz import palette
from attnviz.pictures import Matrix
from attnviz.terms import Cell, Line, Terms, digits
from attnviz.trace import Trace
from attnviz.vocabulary import VOCABULARY

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "attnviz.matrix",
    html='<div class="picture"></div>',
    css=(_HERE / "matrix.css").read_text("utf-8"),
    js=(_HERE / "matrix.js").read_text("utf-8"),
)

_EMPTY = {"equations": [], "trail": [], "breakdowns": []}


def breakdowns(
    trace: Trace,
    cells: Sequence[tuple[str, Terms]],
    on_unfold: Callable[[int, Cell], None],
    key: str,
) -> None:
    """List, beside each other, how some cells were made: for each a title and its terms, which add up.

    `on_unfold(number, cell)` is called when a cell is clicked that the one of that number was made from.
    """
    shown = [_breakdown(trace, title, terms, terms.lines(), digits) for title, terms in cells]

    def unfolded() -> None:
        number, line, place = st.session_state[key].unfold
        on_unfold(number, cells[number][1].lines()[line].cells[place])

    _component(key=key, data=_EMPTY | {"breakdowns": shown}, on_unfold_change=unfolded)


def trail(
    trace: Trace,
    cells: Sequence[Cell],
    lines: Sequence[Line],
    on_back: Callable[[int], None],
    on_unfold: Callable[[Cell], None],
    key: str,
) -> None:
    """Draw the cells that were unfolded one after the other, and `lines`, the terms of the last, at full precision.

    `on_back(place)` is called when an earlier cell is clicked, and
    `on_unfold(cell)` when one is that the last was made from.
    """
    last = cells[-1]
    terms = trace.terms(last.stage, last.index)
    shown = _breakdown(trace, f"{trace.name_of(last)} = {last.value!r}", terms, lines, repr)

    def went_back() -> None:
        on_back(st.session_state[key].back)

    def unfolded() -> None:
        _, line, place = st.session_state[key].unfold
        on_unfold(lines[line].cells[place])

    _component(
        key=key,
        data=_EMPTY | {"trail": [trace.name_of(cell) for cell in cells], "breakdowns": [shown]},
        on_back_change=went_back,
        on_unfold_change=unfolded,
    )


def picture(
    trace: Trace,
    equations: Sequence[Sequence[Matrix]],
    on_pick: Callable[[Matrix, int, int], None],
    key: str,
    *,
    small: bool = False,
    flowing: bool = False,
    scene: str = "",
) -> None:
    """Draw equations: `small` ones in dots, without labels and digits; `flowing` ones several to a line.

    When another `scene` is drawn than before, the page goes back to its top.

    `on_pick(matrix, row, column)` is called when a cell is clicked, or chosen with Enter.
    """

    def picked() -> None:
        e, m, row, column = st.session_state[key].pick
        on_pick(equations[e][m], row, column)

    _component(
        key=key,
        data=_EMPTY
        | {
            "equations": [[_matrix(trace, matrix) for matrix in equation] for equation in equations],
            "small": small,
            "flowing": flowing,
            "scene": scene,
            "breakdowns": [],
            "colours": {
                "negative": palette.NEGATIVE,
                "positive": palette.POSITIVE,
                "share": palette.SHARE,
            },
        },
        on_pick_change=picked,
    )


def _matrix(trace: Trace, matrix: Matrix) -> dict:
    return {
        "stage": matrix.stage,
        "head": "" if matrix.head is None else trace.label("head", matrix.head),
        "symbol": matrix.symbol,
        "title": matrix.title,
        "counts": matrix.counts,
        "rows": matrix.row_labels,
        "columns": matrix.column_labels,
        "values": _jsonable(matrix.values),
        "scale": matrix.scale,
        "gap": matrix.gap,
        "moved": None if matrix.moved is None else matrix.moved.tolist(),
        "limit": matrix.limit,
        "role": VOCABULARY[matrix.stage].role,
        "selected": matrix.selected,
        "sign": matrix.sign,
        "after": matrix.after,
        "reads": matrix.reads,
        "shift": matrix.shift,
        "band": matrix.band,
        "focusBand": matrix.shift // matrix.band if matrix.band and matrix.reads == "column" else None,
        "hidden": trace["mask"].operation.recipe if "mask" in trace else "",
    }


def _jsonable(values: np.ndarray) -> list:
    """Nested lists; -inf, for which JSON has no word, as None."""
    if values.dtype == bool or np.isfinite(values).all():
        return values.tolist()
    return np.where(np.isfinite(values), values, None).tolist()


def _breakdown(trace: Trace, title: str, terms: Terms, lines: Sequence[Line], written: Callable[[float], str]) -> dict:
    return {
        "title": title,
        "between": terms.between,
        "lines": [[[trace.name_of(cell) for cell in line.cells], line.sum, written(line.value)] for line in lines],
        "conclusion": terms.conclusion(),
        "total": written(terms.total()),
    }
