"""Figures: Plotly charts of a trace. A word reaches them only as escaped tick text, on numeric axes."""

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz import palette
from attnviz.focus import Focus
from attnviz.pictures import Matrix
from attnviz.terms import Share
from attnviz.trace import Trace
from attnviz.vocabulary import AXES

MANY_BARS = 16
LONG_WORD = 14


def heads(trace: Trace, focus: Focus) -> go.Figure:
    """The attention of all heads side by side on one scale from 0 to 1; the selected cell is outlined."""
    attention = trace["attention"].value
    n_heads, n_queries, n_keys = attention.shape
    columns = min(n_heads, 4)
    rows = -(-n_heads // columns)
    titles = [f"head {head + 1}" for head in range(n_heads)]
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=titles,
        shared_yaxes=True,
        horizontal_spacing=0.03,
        vertical_spacing=0.5 / rows**1.5,
    )
    for head in range(n_heads):
        row, column = divmod(head, columns)
        at = {"row": row + 1, "col": column + 1}
        figure.add_trace(_heat(attention[head], "coloraxis", "query", "key"), **at)
        figure.update_xaxes(
            _ticks(trace.labels.get("key"), n_keys, 64 // columns), title_text="key" if row == rows - 1 else None, **at
        )
        figure.update_yaxes(
            _ticks(trace.labels.get("query"), n_queries, 32),
            autorange="reversed",
            title_text=None if column else "query",
            **at,
        )
    row, column = divmod(focus.head, columns)
    figure.add_shape(_outline(focus.query, focus.key), row=row + 1, col=column + 1)
    figure.update_layout(
        coloraxis={
            "colorscale": palette.SHARE_SCALE,
            "cmin": 0,
            "cmax": 1,
            "colorbar": {"title": "attention", "thickness": 12},
        },
        height=110 + rows * (70 + min(max(24 * n_queries, 130), 420)),
        margin={"l": 10, "r": 10, "t": 40, "b": 10},
    )
    return figure


def shares(trace: Trace, terms: Share) -> go.Figure:
    """Softmax for one query, as three rows of bars over the keys: scores, exponentials, shares."""
    keys = np.arange(len(terms.row))
    scores = np.array([cell.value for cell in terms.row])
    exponentials = np.array(terms.exponentials)
    divisor = terms.divisor or 1.0
    panels = (
        ("score", np.where(np.isfinite(scores), scores, np.nan)),
        ("exp(score − max)", exponentials),
        ("share", exponentials / divisor),
    )
    figure = make_subplots(1, 3, subplot_titles=[title for title, _ in panels], horizontal_spacing=0.07)
    for column, (title, values) in enumerate(panels, start=1):
        figure.add_trace(
            go.Bar(
                x=keys,
                y=values,
                marker={"color": [_strong(palette.SHARE, key == terms.place) for key in keys]},
                text=None
                if len(keys) > MANY_BARS
                else ["−∞" if np.isnan(value) else f"{value:.2f}".replace("-", "−") for value in values],
                textposition="outside",
                cliponaxis=False,
                hovertemplate=f"%{{x}}<br>{title} %{{y:.6f}}<extra></extra>",
            ),
            row=1,
            col=column,
        )
        figure.update_xaxes(_ticks(trace.labels.get("key"), len(keys), 24), title_text="key", row=1, col=column)
        low, high = np.nanmin([0.0, *values]), np.nanmax([0.0, *values])
        room = 0.18 * ((high - low) or 1.0)
        figure.update_yaxes(
            range=[low - room * (low < 0), high + room], showticklabels=False, showgrid=False, row=1, col=column
        )
    figure.update_layout(showlegend=False, height=300, margin={"l": 10, "r": 10, "t": 40, "b": 10})
    return figure


def contributions(trace: Trace, focus: Focus) -> go.Figure:
    """One row of the output: on each place of d_model, bars of what each head adds, and a mark at their sum."""
    parts = trace["contributions"].value[:, focus.query]
    output = trace["output"].value[focus.query]
    places = np.arange(len(output))
    figure = go.Figure()
    for head, part in enumerate(parts):
        strength = 0.9 - 0.65 * head / max(len(parts) - 1, 1)
        figure.add_bar(
            x=places,
            y=part,
            name=f"head {head + 1}",
            marker={"color": palette.shade(_rgb(palette.ROLES["output"]), strength)},
            hovertemplate=f"head {head + 1} adds %{{y:.6f}}<extra></extra>",
        )
    figure.add_scatter(
        x=places,
        y=output,
        mode="markers",
        name="output",
        marker={"symbol": "line-ew", "size": 22, "line": {"width": 3, "color": palette.ROLES[""]}},
        hovertemplate="output %{y:.6f}<extra></extra>",
    )
    figure.update_xaxes(_ticks(None, len(places), 32), title_text="place on d_model")
    figure.update_yaxes(title_text="what is added", zeroline=True)
    figure.update_layout(
        barmode="relative",
        height=300,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "y": 1.12},
    )
    return figure


def equation(matrices: Sequence[Matrix]) -> go.Figure:
    """A picture too large for written numbers: the same matrices in the same colours, one heatmap each."""
    widest = max(matrix.values.shape[1] for matrix in matrices)
    figure = make_subplots(
        1,
        len(matrices),
        column_widths=[max(matrix.values.shape[1], widest / 3) for matrix in matrices],
        horizontal_spacing=min(0.13, 0.4 / len(matrices)),
        subplot_titles=[_titled(matrix) for matrix in matrices],
    )
    for column, matrix in enumerate(matrices, start=1):
        at = {"row": 1, "col": column}
        figure.add_trace(_heat(matrix.values, f"coloraxis{column}", matrix.row_axis, matrix.column_axis), **at)
        figure.update_layout({f"coloraxis{column}": _scale(matrix) | {"showscale": column == len(matrices)}})
        figure.update_xaxes(
            _ticks(matrix.column_labels, matrix.values.shape[1], 16), title_text=AXES[matrix.column_axis], **at
        )
        figure.update_yaxes(
            _ticks(matrix.row_labels, matrix.values.shape[0], 32),
            autorange="reversed",
            title_text=AXES.get(matrix.row_axis, ""),
            **at,
        )
        figure.add_shape(_outline(*matrix.selected), **at)
    tallest = max(matrix.values.shape[0] for matrix in matrices)
    figure.update_layout(height=150 + min(max(12 * tallest, 160), 420), margin={"l": 10, "r": 10, "t": 40, "b": 10})
    return figure


def overview(matrices: Sequence[Matrix]) -> go.Figure:
    """Every matrix of a pass in one figure, small."""
    columns = 4
    rows = -(-len(matrices) // columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=[f"{_titled(matrix)}, {' × '.join(map(str, matrix.values.shape))}" for matrix in matrices],
        vertical_spacing=0.06,
        horizontal_spacing=0.03,
    )
    for number, matrix in enumerate(matrices):
        row, column = divmod(number, columns)
        at = {"row": row + 1, "col": column + 1}
        axis = f"coloraxis{number + 1}"
        figure.add_trace(_heat(matrix.values, axis, matrix.row_axis, matrix.column_axis), **at)
        figure.update_layout({axis: _scale(matrix) | {"showscale": False}})
        figure.update_xaxes(
            _ticks(matrix.column_labels, matrix.values.shape[1], 16), showticklabels=False, showgrid=False, **at
        )
        figure.update_yaxes(
            _ticks(matrix.row_labels, matrix.values.shape[0], 16), showticklabels=False, autorange="reversed", **at
        )
        figure.add_shape(_outline(*matrix.selected), **at)
    figure.update_layout(height=170 * rows, margin={"l": 10, "r": 10, "t": 40, "b": 10})
    return figure


def _titled(matrix: Matrix) -> str:
    sign = "" if matrix.sign in ("", "=") else matrix.sign
    return f"{sign} {matrix.title} {matrix.after}".strip()


def _scale(matrix: Matrix) -> dict:
    """The colours of a matrix's numbers, as in the browser's tables."""
    if matrix.scale != "signed":
        return {"colorscale": palette.SHARE_SCALE, "cmin": 0, "cmax": 1, "colorbar": {"thickness": 12}}
    return {
        "colorscale": palette.SIGNED_SCALE,
        "cmin": -matrix.limit,
        "cmax": matrix.limit,
        "colorbar": {"thickness": 12},
    }


def _heat(values: np.ndarray, coloraxis: str, row_axis: str, column_axis: str) -> go.Heatmap:
    return go.Heatmap(
        z=np.where(np.isfinite(values), values, np.nan).astype(np.float64),
        coloraxis=coloraxis,
        xgap=1 if max(values.shape) <= 32 else 0,
        ygap=1 if max(values.shape) <= 32 else 0,
        hovertemplate=f"{row_axis} %{{y}}, {column_axis} %{{x}}<br>%{{z:.6f}}<extra></extra>",
        hoverongaps=True,
    )


def _ticks(labels: Sequence[str] | None, length: int, at_most: int) -> dict:
    """Numeric positions with the words as text: equal words stay apart, "1" stays a word, and no markup is read."""
    step = -(-length // at_most)
    places = list(range(0, length, step))
    words = [labels[place] if labels else str(place + 1) for place in places]
    return {"tickvals": places, "ticktext": [_escaped(word) for word in words], "showgrid": False, "zeroline": False}


def _escaped(word: str) -> str:
    shortened = word if len(word) <= LONG_WORD else word[: LONG_WORD - 1] + "…"
    return html.escape(shortened, quote=False)


def _outline(row: int, column: int) -> dict:
    return {
        "type": "rect",
        "x0": column - 0.5,
        "x1": column + 0.5,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": {"width": 2.5, "color": palette.ROLES[""]},
    }


def _strong(colour: palette.Colour, chosen: bool) -> str:
    return palette.shade(colour, 0.95 if chosen else 0.45)


def _rgb(colour: str) -> palette.Colour:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
