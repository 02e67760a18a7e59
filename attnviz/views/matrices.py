"""Pictures: a stage and what it was made from, as matrices to be drawn beside each other.

Pure data, from a trace and a selection: the browser's tables and Plotly's heatmaps
draw the same picture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from attnviz.core.axes import side_by_side
from attnviz.core.selection import Selection
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.text.vocabulary import AXES, VOCABULARY, symbol

LEGIBLE = 16  # rows or columns up to which every number is written out
MANY_HEADS = 8  # beyond which heads are not drawn one by one
ROWS = (
    ("embeddings", "positions", "x"),
    ("context_embeddings", "context_positions", "context"),
    ("w_q", "w_k", "w_v"),
    ("q", "k", "v"),
    ("scores", "scaled", "mask", "masked", "attention"),
    ("heads", "concat"),
    ("w_o", "contributions", "output"),
)
"""Stages of one kind, which the picture of a whole pass has in one row."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """One matrix of a picture: a stage, or one head of it.

    Attributes
    ----------
    stage : str
    values : ndarray (rows, columns)
    head : int or None
        The head that is shown, if the stage has heads and is not drawn in bands.
    row_axis, column_axis : str
    row_labels, column_labels : tuple of str
    limit : float
        The largest finite size in the whole stage: the end of its colour scale.
    selected : (int, int) or None
        The selected cell.
    sign, after : str
        What is written before it, "×" or "=" say, and behind it.
    reads : {"row", "column", "cell", ""}
        Which part of it one cell of the result comes from.
    shift : int
        What is added to the result's column to find the column here.
    band : int
        The width of one head's band of columns, or 0.
    scale : {"signed", "share", "flag"}
        How its numbers are coloured.
    gap : str
        What is written where a number is not finite.
    marked : ndarray of bool (rows, columns), optional
        The cells to be marked: those set by hand, or all that are not what they were.
    place : tuple
        Where a cell of the picture is in the stage: an entry for each axis, a
        number or one of "row", "column", "band" and "column in band".
    """

    stage: str
    values: np.ndarray
    head: int | None
    row_axis: str
    column_axis: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    limit: float
    selected: tuple[int, int] | None
    place: tuple[int | str, ...]
    scale: str
    gap: str = "-inf"
    marked: np.ndarray | None = None
    sign: str = ""
    after: str = ""
    reads: str = ""
    shift: int = 0
    band: int = 0

    @property
    def symbol(self) -> str:
        """The symbol over it."""
        written = symbol(self.stage, self.head)
        if self.head is None and self.row_axis != "head":
            written = written.replace("_i", "")
        return f"{written}^⊤" if self.place[-2:] == ("column", "row") else written

    @property
    def title(self) -> str:
        """The name of its stage."""
        return VOCABULARY[self.stage].title

    @property
    def counts(self) -> str:
        """What its rows and columns count."""
        return f"{AXES.get(self.row_axis, 'row')} × {AXES[self.column_axis]}"

    @property
    def legible(self) -> bool:
        """Whether every number can be written out."""
        return max(self.values.shape) <= LEGIBLE

    def index(self, row: int, column: int) -> tuple[int, ...]:
        """The cell of the stage at a place of the picture."""
        band, in_band = divmod(column, self.band) if self.band else (0, column)
        at = {"row": row, "column": column, "band": band, "column in band": in_band}
        return tuple(at[entry] if isinstance(entry, str) else entry for entry in self.place)


def matrix(trace: Trace, name: str, selection: Selection, *, transposed: bool = False, **drawn: str | int) -> Matrix:
    """The stage as one matrix: of the selected head, if it has heads."""
    stage = trace[name]
    fixed = 1 if stage.axes[0] == "head" else 0
    index = trace.cell_at(name, selection).index
    head = index[0] if fixed else None
    axes, selected = stage.axes[fixed:], index[fixed:]
    place: tuple[int | str, ...] = ("row", "column")
    if len(axes) == 1:  # a bias: one row
        axes, selected, place = ("", *axes), (0, *selected), ("column",)
    if transposed:
        axes, selected, place = axes[::-1], selected[::-1], place[::-1]

    def laid_out(array: np.ndarray) -> np.ndarray:
        rows = np.atleast_2d(array[index[:fixed]])
        return rows.T if transposed else rows

    values, by_hand = laid_out(stage.value), _by_hand(stage)
    return Matrix(
        name,
        values,
        head,
        *axes,
        _labels(trace, axes[0], values.shape[0]),
        _labels(trace, axes[1], values.shape[1]),
        limit(stage),
        selected,
        (*index[:fixed], *place),
        scale(stage),
        marked=None if by_hand is None else laid_out(by_hand),
        band=trace.axes(name)[-1].band,
        **drawn,
    )


def whole(trace: Trace, name: str, selection: Selection, **drawn: str | int) -> Matrix:
    """A parameter (heads, rows, columns) as the one big matrix whose bands of columns are the heads' own."""
    stage = trace[name]
    heads, rows, inner = trace.axes(name)
    columns = side_by_side(heads, inner)
    by_hand = _by_hand(stage)
    return Matrix(
        name,
        np.concatenate(stage.value, axis=-1),
        None,
        rows.name,
        columns.name,
        rows.labels,
        columns.labels,
        limit(stage),
        (rows.place(selection), columns.place(selection)),
        ("band", "row", "column in band"),
        scale(stage),
        marked=None if by_hand is None else np.concatenate(by_hand, axis=-1),
        band=columns.band,
        shift=heads.place(selection) * columns.band,
        **drawn,
    )


def equation(trace: Trace, name: str, selection: Selection) -> tuple[Matrix, ...]:
    """The matrices that a stage was made from, and the stage: `operand sign operand = result`."""
    stage, inputs = trace[name], trace.inputs(name)
    operands: list[Matrix] = []
    for operand, read in zip(stage.operation.operands, inputs, strict=False):
        drawn = {"sign": operand.sign, "after": operand.after, "reads": operand.reads}
        if _has_heads(read) and not _has_heads(stage):
            operands += each_head(trace, read.name, selection)
        elif _has_heads(read) and len(read.axes) == 3 and not _has_heads(inputs[0]):
            operands.append(whole(trace, read.name, selection, **drawn))  # all heads multiply the same matrix by theirs
        else:
            operands.append(matrix(trace, read.name, selection, transposed=operand.transposed, **drawn))
    return (*operands, matrix(trace, name, selection, sign="=" if operands else ""))


def each_head(trace: Trace, name: str, selection: Selection) -> list[Matrix]:
    """Each head of a stage that is put side by side; of more than 8 heads only the selected one."""
    n_heads, _, width = trace[name].shape
    shown = range(n_heads) if n_heads <= MANY_HEADS else (selection.head,)
    drawn = [matrix(trace, name, replace(selection, head=head), reads="cell") for head in shown]
    return [
        replace(each, shift=-head * width, selected=each.selected if head == selection.head else None)
        for head, each in zip(shown, drawn, strict=True)
    ]


def contributions(trace: Trace, selection: Selection) -> tuple[Matrix, Matrix]:
    """For the selected query: one row of numbers from each head, and the row of the output that they add up to."""
    stage = trace["contributions"]
    n_heads, _, width = stage.shape
    columns = _labels(trace, "d_model", width)
    query = (trace.label("query", selection.query),)
    by_hand = _by_hand(stage)
    from_heads = Matrix(
        "contributions",
        stage.value[:, selection.query],
        None,
        "head",
        "d_model",
        _labels(trace, "head", n_heads),
        columns,
        limit(stage),
        (selection.head, selection.dimension),
        ("row", selection.query, "column"),
        scale(stage),
        marked=None if by_hand is None else by_hand[:, selection.query],
        reads="column",
    )
    output = matrix(trace, "output", selection, sign="added up:")
    return from_heads, replace(
        output,
        values=output.values[selection.query][None],
        marked=None if output.marked is None else output.marked[selection.query][None],
        row_labels=query,
        selected=(0, selection.dimension),
        place=(selection.query, "column"),
    )


def rows_of(trace: Trace, selection: Selection) -> list[tuple[Matrix, ...]]:
    """The whole pass: every stage but the biases once, those of one kind in one row.

    A computed stage that no row names stands after the stage that it is computed from.
    """
    rows = [list(row) for row in ROWS]
    for stage in trace.stages:
        if stage.inputs and not any(stage.name in row for row in rows):
            row = next(row for row in rows if stage.inputs[0] in row)
            row.insert(row.index(stage.inputs[0]) + 1, stage.name)
    drawn = [tuple(matrix(trace, name, selection) for name in row if name in trace) for row in rows]
    return [row for row in drawn if row]


def scale(stage: Stage) -> str:
    """How a stage's numbers are coloured: as the vocabulary says, but for a mask that is not of booleans."""
    if stage.value.dtype == bool:
        return "flag"
    named = VOCABULARY[stage.name].scale
    return "signed" if named == "flag" else named


def limit(stage: Stage) -> float:
    """The largest finite size in a stage, over all heads, so that the heads share one colour scale."""
    finite = stage.value[np.isfinite(stage.value)]
    return float(np.abs(finite).max(initial=0.0)) or 1.0


def _has_heads(stage: Stage) -> bool:
    return stage.axes[0] == "head"


def _by_hand(stage: Stage) -> np.ndarray | None:
    """The cells that were set by hand, as booleans in the stage's shape; None if there are none."""
    if not stage.overridden:
        return None
    cells = np.zeros(stage.shape, dtype=bool)
    cells[tuple(np.transpose([*stage.overridden]))] = True
    return cells


def _labels(trace: Trace, axis: str, length: int) -> tuple[str, ...]:
    return tuple(trace.label(axis, place) for place in range(length)) if axis else ("",)
