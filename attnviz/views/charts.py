"""Figures: Plotly charts of a trace, for what is too large for tables of written numbers, or is no table."""

import textwrap
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.core.numerals import digits
from attnviz.core.operations.softmax import Share
from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.steps.output import relative_lengths
from attnviz.text.vocabulary import AXES, VOCABULARY
from attnviz.views import palette
from attnviz.views.matrices import MANY_HEADS, Matrix
from attnviz.views.panels import LETTER, PAGE, Axis, Panel, escaped, figure, heat, outline

MANY_BARS = 10
LONG_LINE = 18  # letters of a title
TALLEST = 1e300  # beyond, the length of an axis may be no number of float64


def heads(trace: Trace, selection: Selection) -> go.Figure:
    """The attention of all heads side by side, of more than 8 those around the selected one; its cell is outlined."""
    attention = trace["attention"].value
    hidden = np.isneginf(trace["masked"].value) & (attention == 0)
    n_heads = len(attention)
    shown = min(n_heads, MANY_HEADS)
    first = min(max(selection.head - shown // 2, 0), n_heads - shown)
    columns = shown if shown <= 4 else -(-shown // 2)
    scale = {"coloraxis": "coloraxis"}
    panels = []
    for number, head in enumerate(range(first, first + shown)):
        leftmost, lowest = number % columns == 0, number + columns >= shown
        queries = _axis_of(trace, "query", attention.shape[1], 32 if leftmost else 0)
        keys = _axis_of(trace, "key", attention.shape[2], 64 // columns if lowest else 0)
        panels.append(
            Panel(
                f"head {head + 1}{f' of {n_heads}' if shown < n_heads else ''}",
                heat(attention[head], queries, keys, scale, hidden[head], "0: hidden"),
                keys.layout(),
                queries.layout(descending=True),
                [_cell(selection.query, selection.key)] if head == selection.head else [],
            )
        )
    bar = {"title": {"text": "attention"}, "thickness": 12}
    return figure(
        panels,
        columns,
        row_height=min(max(24 * attention.shape[1], 130), 420),
        below=keys.room + 20,
        coloraxis={"colorscale": palette.SHARE_SCALE, "cmin": 0, "cmax": 1, "colorbar": bar},
    )


def shares(trace: Trace, terms: Share) -> go.Figure:
    """Softmax for one query, as three rows of bars over the keys: scores, exponentials, shares."""
    scores = np.array([cell.value for cell in terms.row])
    exponentials = np.array(terms.exponentials)
    keys = _axis_of(trace, "key", len(scores), 24)
    colours = [palette.shade(palette.SHARE, 0.45)] * len(scores)
    colours[terms.place] = palette.shade(palette.SHARE, 0.95)
    panels = []
    for title, values in (
        ("score", scores),
        ("exp(score − max)", exponentials),
        ("share", exponentials / (terms.divisor or 1.0)),
    ):
        heights = _heights(values)
        room = 0.18 * (np.ptp([0.0, *heights]) or 1.0)
        bars = {
            "type": "bar",
            "x": np.arange(1, len(values) + 1),
            "y": heights,
            "marker": {"color": colours, "line": {"width": 1, "color": palette.shade(palette.SHARE, 0.95)}},
            "text": [_written(value, 2) if len(values) <= MANY_BARS or np.isinf(value) else "" for value in values],
            "textposition": "outside",
            "constraintext": "none",
            "textangle": 0,
            "cliponaxis": False,
            "customdata": [[escaped(word), _written(value, 6)] for word, value in zip(keys.names, values, strict=True)],
            "hovertemplate": f"%{{customdata[0]}}<br>{title} %{{customdata[1]}}<extra></extra>",
        }
        low, high = min(0.0, heights.min()), max(0.0, heights.max())
        ends = [low - room * bool(low < 0), high + room]
        y = {"range": ends, "showticklabels": False, "showgrid": False, "zeroline": True, "ticks": ""}
        panels.append(Panel(title, [bars], keys.layout(), y))
    return figure(panels, 3, row_height=200, rooms=(0, 50, 50), below=keys.room + 20, hovermode="x")


def contributions(trace: Trace, selection: Selection) -> go.Figure:
    """One row of the output: on each place of d_model, bars of what each head adds, and a mark at their sum.

    Of more than 8 heads, the 7 that add most and the sum of the others.
    """
    output = trace["output"].value[selection.query]
    places = np.arange(1, len(output) + 1)
    bars = [
        {
            "type": "bar",
            "x": places,
            "y": part,
            "name": name,
            "marker": {"color": colour, "line": {"width": 1 if len(places) <= 64 else 0, "color": palette.ROLES[""]}},
            "hovertemplate": f"place %{{x}}: {name} adds %{{y:.6f}}<extra></extra>",
        }
        for name, part, colour in _parts(trace, selection.query)
    ]
    marks = {
        "type": "scatter",
        "x": places,
        "y": output,
        "mode": "markers",
        "name": "output",
        "marker": {
            "symbol": "diamond",
            "size": min(11, max(5, 400 / len(places))),
            "color": palette.MARK,
            "line": {"width": 1, "color": palette.MARK_EDGE},
        },
        "hovertemplate": "place %{x}: output %{y:.6f}<extra></extra>",
    }
    chosen = outline((0, 1), (selection.dimension, selection.dimension + 1)) | {"y0": 0, "y1": 1, "yref": "y domain"}
    axis = Axis("place", [str(place) for place in places], "place on d_model", at_most=32)
    y = {"title": {"text": "what is added"}, "zeroline": True, "automargin": True}
    return figure(
        [Panel("", [*bars, marks], axis.layout(), y, [chosen])],
        1,
        row_height=240,
        showlegend=True,
        barmode="relative",
        bargap=0.2,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )


def equation(matrices: Sequence[Matrix]) -> go.Figure:
    """The matrices that a stage was made from, and the last, that stage: one heatmap each.

    What the selected cell of the result is made from is outlined, and so is the band of its head.
    """
    widest = max(matrix.values.shape[1] for matrix in matrices)
    widths = [max(matrix.values.shape[1], widest / 3) for matrix in matrices]
    rows = [
        _rows(matrix, 0 if before and _same_rows(before, matrix) else 32)
        for before, matrix in zip((None, *matrices), matrices, strict=False)
    ]
    letters = (PAGE - sum(axis.room + 14 for axis in rows[1:])) / sum(widths) / LETTER
    columns = [
        _columns(matrix, max(int(letters * width / 3), 2)) for matrix, width in zip(matrices, widths, strict=True)
    ]
    panels = [
        _panel(matrix, _titled(matrix, letters * width), *axes, _read(matrix, matrices[-1]))
        for matrix, width, *axes in zip(matrices, widths, rows, columns, strict=True)
    ]
    tallest = max(matrix.values.shape[0] for matrix in matrices)
    return figure(
        panels,
        len(panels),
        row_height=min(max(12 * tallest, 160), 420),
        widths=widths,
        rooms=[0, *(axis.room + 14 for axis in rows[1:])],
        below=max(axis.room for axis in columns) + 20,
    )


def overview(matrices: Sequence[Matrix]) -> go.Figure:
    """Every matrix of a pass in one figure, small."""
    panels = [
        _panel(
            matrix,
            _titled(matrix, LONG_LINE),
            _rows(matrix, 0),
            _columns(matrix, 0),
            [_cell(*matrix.selected)] if matrix.selected else [],
        )
        for matrix in matrices
    ]
    return figure(panels, 4, row_height=120, below=10)


def _panel(matrix: Matrix, title: str, rows: Axis, columns: Axis, shapes: Sequence[dict]) -> Panel:
    """A matrix as a heatmap, in a frame of its role's colour."""
    frame = {
        "showline": True,
        "mirror": True,
        "linecolor": palette.ROLES[VOCABULARY[matrix.stage].role],
        "linewidth": 2,
    }
    return Panel(
        title,
        heat(matrix.values, rows, columns, _scale(matrix), ~np.isfinite(matrix.values), matrix.gap),
        columns.layout() | frame,
        rows.layout(descending=True) | frame,
        shapes,
    )


def _read(matrix: Matrix, result: Matrix) -> list[dict]:
    """Outlines of what one cell of the result is made from, and of the band that its column is in."""
    if result.selected is None or matrix is result:
        return [_cell(*matrix.selected)] if matrix.selected else []
    n_rows, n_columns = matrix.values.shape
    row, column = result.selected[0], result.selected[1] + matrix.shift
    if matrix.reads == "row":
        return [outline((row, row + 1), (0, n_columns))]
    if matrix.reads == "cell":
        return [_cell(row, column)] if row < n_rows and 0 <= column < n_columns else []
    if matrix.reads != "column":
        return []
    band = [outline((0, n_rows), (matrix.shift, matrix.shift + matrix.band), 2, "dot")] if matrix.band else []
    return [*band, outline((0, n_rows), (column, column + 1))]


def _parts(trace: Trace, query: int) -> list[tuple[str, np.ndarray, str]]:
    """What a row of the output is the sum of: a name, the numbers and a colour for each."""
    parts = trace["contributions"].value[:, query]
    largest = np.argsort(-relative_lengths(parts), kind="stable")
    shown = np.sort(largest[: len(parts) if len(parts) <= MANY_HEADS else MANY_HEADS - 1])
    summands = [
        (f"head {head + 1}", parts[head], colour) for head, colour in zip(shown.tolist(), palette.HEADS, strict=False)
    ]
    others = np.delete(parts, shown, axis=0)
    if len(others):
        summands.append((f"the other {len(others)} heads", others.sum(axis=0), palette.shade(palette.HIDDEN, 0.5)))
    if "b_o" in trace:
        summands.append(("bias", trace["b_o"].value, palette.shade(palette.HIDDEN, 0.9)))
    return summands


def _titled(matrix: Matrix, letters: float) -> str:
    """A matrix's name, its shape and, as each has a scale of its own, how far its colours reach; in short lines."""
    transposed = ", transposed" if matrix.symbol.endswith("^⊤") else ""
    head = "" if matrix.head is None else f", head\u00a0{matrix.head + 1}"
    name = f"{matrix.sign} {matrix.title}{head}{transposed} {matrix.after}".strip()
    reach = f"±{matrix.limit:.3g}" if matrix.scale == "signed" else "0 to 1"
    lines = (name, " × ".join(map(str, matrix.values.shape)), f"colours: {reach}")
    return "<br>".join(part for line in lines for part in textwrap.wrap(line, min(max(int(letters), 8), LONG_LINE)))


def _scale(matrix: Matrix) -> dict:
    """The colours of a matrix's numbers, as in the browser's tables."""
    if matrix.scale == "signed":
        ends = {"colorscale": palette.SIGNED_SCALE, "zmin": -matrix.limit, "zmax": matrix.limit}
    else:
        ends = {"colorscale": palette.SHARE_SCALE, "zmin": 0, "zmax": 1}
    return {**ends, "showscale": False}


def _axis_of(trace: Trace, axis: str, length: int, at_most: int) -> Axis:
    return Axis(axis, [trace.label(axis, place) for place in range(length)], axis if at_most else "", at_most)


def _rows(matrix: Matrix, at_most: int) -> Axis:
    return Axis(matrix.row_axis, matrix.row_labels, AXES.get(matrix.row_axis, "") if at_most else "", at_most)


def _columns(matrix: Matrix, at_most: int) -> Axis:
    names = matrix.column_labels
    if "band" in matrix.place:  # its labels begin anew in each band
        names = [str(place + 1) for place in range(len(names))]
    return Axis(matrix.column_axis, names, AXES[matrix.column_axis] if at_most else "", at_most)


def _same_rows(one: Matrix, other: Matrix) -> bool:
    return (one.row_axis, one.row_labels) == (other.row_axis, other.row_labels)


def _cell(row: int, column: int) -> dict:
    return outline((row, row + 1), (column, column + 1))


def _heights(values: np.ndarray) -> np.ndarray:
    """How high bars stand: 0 for a hidden number, and all of them in proportion where one is too tall to be drawn."""
    heights = np.where(np.isfinite(values), values, 0.0)
    return heights / max(np.abs(heights).max() / TALLEST, 1.0)


def _written(value: float, decimals: int) -> str:
    """With so many decimals; from a million on with a power of ten."""
    return digits(value) if abs(value) >= 1e6 else f"{value:.{decimals}f}".replace("-", "−")
