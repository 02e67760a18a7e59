"""The page "What attention doesn't say": its text, and each measurement as a Plotly heatmap in the viewer's colours."""

from functools import cache
from itertools import groupby
from typing import Literal

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from attnviz.app.components import draw_article
from attnviz.app.page_scene import PageScene
from attnviz.articles.evidence import article, doors, measurements
from attnviz.articles.pieces import Side, format_number
from attnviz.contract.article import NumberTable
from attnviz.explain.payload import encoded
from attnviz.explain.styled_text import markdown

# Red, green and blue of the weights 0 and 1, in the viewer's ramp (`viewer/browser/dom/colour.js`)
RAMPS = {"light": ((241, 238, 230), (111, 63, 181)), "dark": ((43, 45, 52), (183, 148, 246))}
CURVE = 0.8
MIDDLE = 0.179  # the luminance on which black and white have the same contrast
CELL = (32, 19)  # px
LETTER, LINE, EDGE = 7, 18, 6  # px: the width of a letter, the height of a line, the room around
DEPTH = 2 * EDGE + LINE  # px: the room beside the labels, for the title
SLANT = 60  # degrees


class Figure(go.Figure):
    """A figure as the data for the browser, which is all that Streamlit reads. Plotly's own figure would validate and
    copy each part in every run, which takes ten times as long.
    """

    def __init__(self, traces: list[dict], layout: dict) -> None:
        self._sent = {"data": traces, "layout": layout | {"template": _template()}}

    def to_dict(self) -> dict:
        """The data; don't modify it."""
        return self._sent


def describe(values: np.ndarray, rows: Side, columns: Side) -> str:
    """A matrix in words for screen readers, row by row without zeros."""

    def sentence(row: int) -> str:
        named = zip(columns.labels, values[row], strict=True)
        numbers = [f"{column} {format_number(value)}" for column, value in named if value]
        return f"{rows.labels[row]}: {', '.join(numbers) or 'zeros'}"

    return f"Chart of a matrix, {rows.title} by {columns.title}. {'; '.join(map(sentence, range(len(values))))}."


@cache
def _template() -> dict:
    """Plotly's template as Streamlit sets it, with Streamlit's theme."""
    return go.Figure().to_dict()["layout"]["template"]


def fills(weights: np.ndarray, theme: Literal["light", "dark"]) -> np.ndarray:
    """The colour of each weight, of shape (weights, 3)."""
    zero, full = np.array(RAMPS[theme])
    return np.round(zero + (full - zero) * weights.reshape(-1, 1) ** CURVE).astype(int)


def inks(colours: np.ndarray) -> list[str]:
    """Black or white on each colour, whichever has more contrast."""
    parts = colours / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return ["black" if each > MIDDLE else "white" for each in linear @ (0.2126, 0.7152, 0.0722)]


def figure(values: np.ndarray, rows: Side, columns: Side, theme: Literal["light", "dark"] = "light") -> Figure:
    """An array of shape (rows, columns) as a heatmap, with all numbers but zeros written in the cells."""
    n_rows, n_columns = values.shape
    stops = np.linspace(0, 1, 33)
    shape = ", ".join(map(str, values.shape))
    cells: dict[str, object] = {
        "type": "heatmap",
        "z": {"dtype": "f8", "bdata": encoded(values), "shape": shape},  # bit for bit, in Plotly's encoding
        "colorscale": [
            [at, f"rgb{tuple(colour)}"] for at, colour in zip(stops.tolist(), fills(stops, theme).tolist(), strict=True)
        ],
        "text": [[f"{row}, {column}" for column in columns.labels] for row in rows.labels],
        "hovertemplate": "%{text}: %{z}<extra></extra>",
    }
    numbers: dict[str, object] = {
        "type": "scatter",
        "x": list(range(n_columns)) * n_rows,
        "y": [row for row in range(n_rows) for _ in range(n_columns)],
        "text": [format_number(value) for value in values.ravel().tolist()],
    }
    cells |= {"zmin": 0, "zmax": 1, "showscale": False, "xgap": 1, "ygap": 1}
    ink = inks(fills(values, theme))
    numbers |= {"mode": "text", "textfont": {"size": 10, "color": ink}, "hoverinfo": "skip"}
    return Figure([cells, numbers], _layout(rows, columns))


def _layout(rows: Side, columns: Side) -> dict[str, object]:
    n_rows, n_columns = len(rows.labels), len(columns.labels)
    is_slanted = LETTER * max(map(len, columns.labels)) > CELL[0] + LETTER  # wider than a column
    width, height = _width(rows.labels), _width(columns.labels) if is_slanted else LINE
    left, top = DEPTH + width, DEPTH + height
    # Plotly drops labels that would be cut off on the right
    right = max(EDGE, LETTER * len(columns.labels[-1]) // 2 - CELL[0] // 2 + EDGE) if is_slanted else EDGE
    axis: dict[str, object] = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}
    x: dict[str, object] = {"side": "top", "tickangle": -SLANT * is_slanted, "range": [-0.5, n_columns - 0.5]}
    title: dict[str, object] = {"showarrow": False, "font": {"size": 12}}
    title_of_rows: dict[str, object] = {"text": rows.title, "xref": "paper", "x": 0, "xshift": -width - EDGE - LINE / 2}
    title_of_rows |= {"y": (n_rows - 1) / 2, "textangle": -90, "xanchor": "center"}
    title_of_columns: dict[str, object] = {"text": columns.title, "yref": "paper", "y": 1, "yanchor": "middle"}
    title_of_columns |= {"x": (n_columns - 1) / 2, "yshift": height + EDGE + LINE / 2}
    frame: dict[str, object] = {"type": "rect", "line": {"width": 1, "color": "gray"}, "xref": "paper", "yref": "paper"}
    return {
        "width": left + CELL[0] * n_columns + right,
        "height": top + CELL[1] * n_rows + EDGE,
        "margin": {"l": left, "t": top, "r": right, "b": EDGE},
        "showlegend": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": axis | _ticks(columns) | x,
        "yaxis": axis | _ticks(rows) | {"range": [n_rows - 0.5, -0.5]},
        "annotations": [title | title_of_rows, title | title_of_columns],
        "shapes": [frame | {"x0": 0, "x1": 1, "y0": 0, "y1": 1}],
    }


def _ticks(side: Side) -> dict[str, object]:
    """Tick positions are numbers, because Plotly merges equal labels."""
    return {"tickvals": list(range(len(side.labels))), "ticktext": list(side.labels), "tickfont": {"size": 11}}


def _width(labels: tuple[str, ...]) -> int:
    return LETTER * max(map(len, labels)) + EDGE


def draw(shown: PageScene) -> None:
    """Draw the article; a chart stands for each of its matrices."""
    targets = {name: door for name, (_, door) in doors().items()}
    theme: Literal["light", "dark"] = "dark" if st.context.theme.type == "dark" else "light"
    number = 0
    for is_matrix, run in groupby(article(), lambda piece: isinstance(piece, NumberTable)):
        if is_matrix:
            number += 1
            draw_chart(f"measurement_{number}", *_chart(number, theme))
        else:
            draw_article(shown, f"evidence_{number}", list(run), targets)


def draw_chart(key: str, chart: Figure, words: str) -> None:
    """Draw a chart, and its text for screen readers."""
    layout = chart.to_dict()["layout"]
    # the height reserves the space before the chart is drawn
    with st.container(key=f"scrolled_{key}", height=layout["height"], border=False):
        st.markdown(words)
        st.plotly_chart(chart, width=layout["width"], key=key, config={"displayModeBar": False})


@cache
def _chart(number: int, theme: Literal["light", "dark"]) -> tuple[Figure, str]:
    matrix = measurements()[number - 1].rows
    return figure(*matrix, theme), markdown(describe(*matrix))
