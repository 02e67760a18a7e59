"""The matrix component: equations of matrices as real tables, drawn and explored in the browser."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from attnviz import palette
from attnviz.numerals import digits
from attnviz.pictures import Matrix
from attnviz.terms import Cell, Line, Terms
from attnviz.trace import Trace
from attnviz.trail import format_trail
from attnviz.vocabulary import VOCABULARY

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "attnviz.matrix",
    html='<div class="picture"></div>',
    css=(_HERE / "matrix.css").read_text("utf-8"),
    js=(_HERE / "matrix.js").read_text("utf-8"),
)

MOST_AHEAD = 2_000  # terms that are sent before anyone has asked for them
_EMPTY = {"equations": [], "trail": [], "breakdowns": []}


def breakdowns(trace: Trace, cells: Sequence[Cell], on_follow: Callable[[str], None], key: str) -> None:
    """List, beside each other, how some cells were made: for each its terms, which add up.

    `on_follow(trail)` is called when a cell is clicked that one of them was made
    from, with the trail from that one to it, as an address has it.
    """

    def followed() -> None:
        on_follow(st.session_state[key].follow)

    shown = [_breakdown(trace, cell, lambda terms: terms.lines(), digits) for cell in cells]
    _component(key=key, data=_EMPTY | {"breakdowns": shown}, on_follow_change=followed)


def trail(
    trace: Trace,
    cells: Sequence[Cell],
    ordered: Callable[[Terms], Sequence[Line]],
    on_follow: Callable[[str], None],
    key: str,
) -> None:
    """Draw the cells that were unfolded one after the other, and the terms of the last, at full precision.

    `ordered` gives terms their lines. What a click would show is sent along, if
    it is not too much, so that the browser shows it before the server answers;
    so `on_follow` gets the whole trail that a click led to, as an address has it.
    """

    def followed() -> None:
        on_follow(st.session_state[key].follow)

    def shown(cell: Cell) -> dict:
        return _breakdown(trace, cell, ordered, repr)

    lines = ordered(trace.terms(cells[-1].stage, cells[-1].index))
    n_ahead = sum(len(trace.terms(cell.stage, cell.index).cells) for line in lines for cell in line.cells)
    _component(
        key=key,
        data=_EMPTY
        | {
            "trail": [_named(trace, cell) for cell in cells],
            "breakdowns": [shown(cells[-1])],
            "ahead": [[shown(cell) for cell in line.cells] for line in lines] if n_ahead <= MOST_AHEAD else [],
            "behind": [shown(cell) for cell in cells],
        },
        on_follow_change=followed,
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


def _breakdown(
    trace: Trace, cell: Cell, ordered: Callable[[Terms], Sequence[Line]], written: Callable[[float], str]
) -> dict:
    terms = trace.terms(cell.stage, cell.index)
    return {
        "cell": _named(trace, cell),
        "title": f"{trace.name_of(cell)} = {written(cell.value)}",
        "between": terms.between,
        "lines": [
            [[_named(trace, each) for each in line.cells], line.sum, written(line.value)] for line in ordered(terms)
        ],
        "conclusion": terms.conclusion(),
        "total": written(terms.total()),
    }


def _named(trace: Trace, cell: Cell) -> tuple[str, str]:
    """A cell as a person says it, and as an address has it."""
    return trace.name_of(cell), format_trail([cell])
