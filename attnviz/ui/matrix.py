"""The matrix component: equations of matrices as real tables, drawn and explored in the browser."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from attnviz import palette
from attnviz.pictures import Matrix
from attnviz.terms import Terms, digits
from attnviz.trace import Trace
from attnviz.vocabulary import VOCABULARY

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "attnviz.matrix",
    html='<div class="picture"></div>',
    css=(_HERE / "matrix.css").read_text("utf-8"),
    js=(_HERE / "matrix.js").read_text("utf-8"),
)


def picture(
    trace: Trace,
    equations: Sequence[Sequence[Matrix]],
    breakdowns: Sequence[tuple[str, Terms]],
    on_pick: Callable[[Matrix, int, int], None],
    key: str,
) -> None:
    """Draw equations, and under them breakdowns (a title and terms) of selected cells.

    `on_pick(matrix, row, column)` is called when a cell is clicked, or chosen with Enter.
    """

    def picked() -> None:
        e, m, row, column = st.session_state[key].pick
        on_pick(equations[e][m], row, column)

    _component(
        key=key,
        data={
            "equations": [[_matrix(trace, matrix) for matrix in equation] for equation in equations],
            "breakdowns": [_breakdown(trace, *each) for each in breakdowns],
            "colours": {
                "negative": palette.NEGATIVE,
                "positive": palette.POSITIVE,
                "share": palette.SHARE,
            },
        },
        on_pick_change=picked,
    )


def _matrix(trace: Trace, matrix: Matrix) -> dict:
    entry = VOCABULARY[matrix.stage]
    return {
        "symbol": matrix.symbol,
        "title": matrix.title,
        "shape": matrix.shape,
        "rows": matrix.row_labels,
        "columns": matrix.column_labels,
        "values": _jsonable(matrix.values),
        "scale": entry.scale if matrix.values.dtype == bool or entry.scale != "flag" else "signed",
        "limit": matrix.limit,
        "role": entry.role,
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


def _breakdown(trace: Trace, title: str, terms: Terms) -> dict:
    return {
        "title": title,
        "lines": [
            [" × ".join(trace.name_of(cell) for cell in line.cells), line.sum, digits(line.value)]
            for line in terms.lines()
        ],
        "conclusion": terms.conclusion(),
        "total": digits(terms.total()),
    }
