"""The matrix component: equations of matrices as real tables, and what is said of their cells, in the browser."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from attnviz.core.changes import HIDEABLE
from attnviz.core.numerals import digits, tex
from attnviz.core.terms import Cell, Copy, Given, Line, Terms
from attnviz.core.trace import Trace
from attnviz.text.explanations import Explanation
from attnviz.text.vocabulary import VOCABULARY, symbol
from attnviz.ui.viewer.bundle import bundle
from attnviz.ui.viewer.messages import cells_in
from attnviz.views import palette
from attnviz.views.matrices import Matrix

_BROWSER = Path(__file__).parent / "browser"
_component = st.components.v2.component(
    "attnviz.matrix",
    html='<div class="picture"></div>',
    css=(_BROWSER / "picture.css").read_text("utf-8"),
    js=bundle(_BROWSER / "component.js"),
)

MOST_AHEAD = 30_000  # cells among the terms that are sent before anyone has asked for them: some 0.1 s of one run
_COLOURS = {"negative": palette.NEGATIVE, "positive": palette.POSITIVE, "share": palette.SHARE}


def picture(
    trace: Trace,
    equations: Sequence[Sequence[Matrix]],
    on_pick: Callable[[Cell], None],
    key: str,
    *,
    answer: Explanation | None = None,
    on_follow: Callable[[tuple[Cell, ...]], None] | None = None,
    small: bool = False,
    flowing: bool = False,
    scene: str = "",
) -> None:
    """Draw equations, and an answer under them: its captions, and how its cells were made.

    `small` equations are in dots, without labels and digits; of `flowing` ones
    several stand on a line. When another `scene` is drawn than before, the page
    goes back to its top.

    `on_pick(cell)` is called when a cell is clicked, or chosen with Enter. So
    that its answer is there at once, the browser asks for how all of them were
    made as soon as a pointer or the keyboard comes to the picture: few pictures
    are picked from, and sending it always would double the work of each run.
    `on_follow(trail)` is called when a cell is clicked that one of the answer's
    was made from, with the trail from that one to it.
    """

    def picked() -> None:
        for cell in cells_in(trace, st.session_state[key].pick):
            on_pick(cell)

    def prefetched() -> None:
        st.session_state[f"{key}_prefetch"] = True

    data = {
        "equations": [[_matrix(trace, matrix) for matrix in equation] for equation in equations],
        "small": small,
        "flowing": flowing,
        "scene": scene,
        "colours": _COLOURS,
    }
    if answer:
        prefetch = st.session_state.pop(f"{key}_prefetch", False)  # for this run alone
        cells = {*answer.cells, *(_pickable(trace, equations) if prefetch else ())}
        data |= {
            "answer": _said(answer.cells, captions=answer.captions),
            "explained": answer.explained_for,
            "selection": vars(answer.selection),
            "captioned": answer.captioned,
            "captions": _captions(trace, answer) if prefetch else {},
            "complete": prefetch,
            "breakdowns": {str(cell): _breakdown(trace, cell, lambda terms: terms.lines(), digits) for cell in cells},
        }
    _component(
        key=key,
        data=_naming(trace) | data,
        on_pick_change=picked,
        on_follow_change=_following(trace, on_follow, key),
        on_prefetch_change=prefetched,
    )


def trail(
    trace: Trace,
    cells: Sequence[Cell],
    ordered: Callable[[Terms], Sequence[Line]],
    on_follow: Callable[[tuple[Cell, ...]], None],
    key: str,
) -> None:
    """Draw the cells that were unfolded one after the other, and the terms of the last, at full precision.

    `ordered` gives terms their lines. What a click would show is sent along, if
    it is not too much, so that the browser shows it before the server answers;
    so `on_follow` gets the whole trail that a click led to.
    """
    before = trace.terms(cells[-1].stage, cells[-1].index).cells
    shown = {*cells, *(before if _n_terms(trace, before) <= MOST_AHEAD else ())}
    _component(
        key=key,
        data={
            **_naming(trace),
            "equations": [],
            "answer": _said(cells[-1:], trail=cells),
            "breakdowns": {str(cell): _breakdown(trace, cell, ordered, repr) for cell in shown},
        },
        on_follow_change=_following(trace, on_follow, key),
    )


def _following(trace: Trace, on_follow: Callable[[tuple[Cell, ...]], None] | None, key: str) -> Callable[[], None]:
    """What to do when a trail is followed: pass on as much of it as is one."""

    def followed() -> None:
        cells = cells_in(trace, st.session_state[key].follow)
        if cells and on_follow:
            on_follow(cells)

    return followed


def _pickable(trace: Trace, equations: Sequence[Sequence[Matrix]]) -> set[Cell]:
    """The cells of the equations; none if explaining them all would be too much."""
    cells = {
        trace[matrix.stage].cell(matrix.index(*place))
        for equation in equations
        for matrix in equation
        for place in np.ndindex(matrix.values.shape)
    }
    return cells if _n_terms(trace, cells) <= MOST_AHEAD else set()


def _n_terms(trace: Trace, cells: Iterable[Cell]) -> int:
    return sum(len(trace.terms(cell.stage, cell.index).cells) for cell in cells)


def _naming(trace: Trace) -> dict:
    """What the browser needs to name a cell by its address, and to find the selected cells."""
    return {
        "axes": {
            stage.name: [{"labels": axis.labels, "coordinates": axis.coordinates} for axis in trace.axes(stage.name)]
            for stage in trace.stages
        }
    }


def _captions(trace: Trace, answer: Explanation) -> dict:
    """The captions of each stage, nested by the places on its axes but the last."""
    return {
        name: by_head if trace[name].axes[0] == "head" else by_head[0]
        for name, by_head in answer.captions_by_row().items()
    }


def _matrix(trace: Trace, matrix: Matrix) -> dict:
    n_rows, n_columns = matrix.values.shape
    cell = trace[matrix.stage].cell
    return {
        "cells": [[str(cell(matrix.index(row, column))) for column in range(n_columns)] for row in range(n_rows)],
        "symbol": matrix.symbol,
        "title": matrix.title,
        "counts": matrix.counts,
        "rows": matrix.row_labels,
        "columns": matrix.column_labels,
        "values": _jsonable(matrix.values),
        "scale": matrix.scale,
        "gap": matrix.gap,
        "marked": None if matrix.marked is None else matrix.marked.tolist(),
        "limit": matrix.limit,
        "role": VOCABULARY[matrix.stage].role,
        "selected": matrix.selected,
        "sign": matrix.sign,
        "after": matrix.after,
        "reads": matrix.reads,
        "shift": matrix.shift,
        "band": matrix.band,
        "selectedBand": matrix.shift // matrix.band if matrix.band and matrix.reads == "column" else None,
        "whyHidden": _why_hidden(trace),
    }


def _why_hidden(trace: Trace) -> str:
    by_hand = any(change.stage in HIDEABLE for change in trace.changes)
    return f"{trace['mask'].operation.recipe}{', or it was set by hand' * by_hand}" if "mask" in trace else ""


def _jsonable(values: np.ndarray) -> list:
    """Nested lists; -inf, for which JSON has no word, as None."""
    if values.dtype == bool or np.isfinite(values).all():
        return values.tolist()
    return np.where(np.isfinite(values), values, None).tolist()


def _said(cells: Iterable[Cell], *, captions: Sequence[str] = (), trail: Iterable[Cell] = ()) -> dict:
    return {"captions": captions, "trail": list(map(str, trail)), "cells": list(map(str, cells))}


def _breakdown(
    trace: Trace, cell: Cell, ordered: Callable[[Terms], Sequence[Line]], written: Callable[[float], str]
) -> dict:
    terms = trace.terms(cell.stage, cell.index)
    return {
        "value": written(cell.value),
        "formula": "" if isinstance(terms, Copy | Given) else _formula(trace, cell, terms),
        "between": terms.between,
        "lines": [[list(map(str, line.cells)), line.sum, written(line.value)] for line in ordered(terms)],
        "conclusion": terms.conclusion(),
        "total": written(terms.total()),
    }


def _formula(trace: Trace, cell: Cell, terms: Terms) -> str:
    """A cell as a formula in its own numbers, its places counted from 1."""
    in_head = trace[cell.stage].axes[0] == "head"
    place = ", ".join(str(i + 1) for i in cell.index[in_head:])
    entry = f"({symbol(cell.stage, cell.index[0] if in_head else None)})_{{{place}}}"
    return f"{entry} = {terms.latex()} = {tex(cell.value)}"
