"""The page "What attention doesn't say": its text, and each measurement as a Plotly heatmap in the viewer's colours."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from attnviz.app.components import draw_article
from attnviz.app.store import PageScene
from attnviz.articles.evidence import article, doors, measurements
from attnviz.articles.pieces import STRONGEST, Side, format_number
from attnviz.contract.article import NumberTable
from attnviz.explain.markup import markdown
from attnviz.explain.payload import encoded
from attnviz.explain.pictures import SHARE

CELL = (32, 19)  # px
LETTER, LINE, EDGE = 7, 18, 6  # px: the width of a letter, the height of a line, the room around
DEPTH = 2 * EDGE + LINE  # px: the room beside the labels, for the title
SLANT = 60  # degrees


class Figure(go.Figure):
    """A figure as the data for the browser, which is all that Streamlit reads.

    Plotly's own figure would validate and copy each part in every run, which takes ten times as long.
    """

    def __init__(self, traces: list[dict], layout: dict) -> None:
        self._sent = {"data": traces, "layout": layout | {"template": _template()}}

    def to_dict(self) -> dict:
        """The data; don't modify it."""
        return self._sent


@dataclass(frozen=True, eq=False)
class Chart:
    """Rows of attention weights, laid out and ready to be drawn.

    Attributes
    ----------
    figure : Figure
        With all numbers but zeros written in the cells.
    width : int
        In px.
    words : str
        The same in words for screen readers, as Markdown.
    """

    figure: Figure
    width: int
    words: str

    @classmethod
    def of(cls, values: np.ndarray, rows: Side, columns: Side) -> "Chart":
        """Lay out an array of shape (rows, columns)."""
        figure = _figure(values, rows, columns)
        return cls(figure, figure.to_dict()["layout"]["width"], markdown(described(values, rows, columns)))


def draw_chart(chart: Chart, key: str) -> None:
    """Draw a chart, and its text for screen readers."""
    with st.container(key=f"scrolled_{key}"):
        st.markdown(chart.words)
        st.plotly_chart(chart.figure, width=chart.width, key=key, config={"displayModeBar": False})


def described(values: np.ndarray, rows: Side, columns: Side) -> str:
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


def _figure(values: np.ndarray, rows: Side, columns: Side) -> Figure:
    n_rows, n_columns = values.shape
    cells = {
        "type": "heatmap",
        "z": _numbers(values),
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, _over_page(0)], [1, _over_page(STRONGEST)]],
        "showscale": False,
        "text": [[f"{row}, {column}" for column in columns.labels] for row in rows.labels],
        "hovertemplate": "%{text}: %{z}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    numbers = {
        "type": "scatter",
        "x": list(range(n_columns)) * n_rows,
        "y": [row for row in range(n_rows) for _ in range(n_columns)],
        "text": [format_number(value) for value in values.ravel().tolist()],
        "mode": "text",
        "textfont": {"size": 10},
        "hoverinfo": "skip",
    }
    layout = _layout(rows, columns)
    layout |= {"annotations": list(_titles(rows, columns)), "shapes": [_FRAME]}
    return Figure([cells, numbers], layout)


def _numbers(values: np.ndarray) -> dict[str, str]:
    """An array bit for bit, in Plotly's encoding."""
    return {"dtype": "f8", "bdata": encoded(values), "shape": ", ".join(map(str, values.shape))}


def _layout(rows: Side, columns: Side) -> dict[str, object]:
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}
    left = DEPTH + _width(rows.labels)
    top = DEPTH + _height(columns.labels)
    right = _overhang(columns.labels)
    return {
        "width": left + CELL[0] * len(columns.labels) + right,
        "height": top + CELL[1] * len(rows.labels) + EDGE,
        "margin": {"l": left, "t": top, "r": right, "b": EDGE},
        "showlegend": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": axis
        | _ticks(columns)
        | {"side": "top", "tickangle": -SLANT * _slanted(columns.labels), "range": [-0.5, len(columns.labels) - 0.5]},
        "yaxis": axis | _ticks(rows) | {"range": [len(rows.labels) - 0.5, -0.5]},
    }


def _ticks(side: Side) -> dict[str, object]:
    """Tick positions are numbers, because Plotly merges equal labels."""
    return {"tickvals": list(range(len(side.labels))), "ticktext": list(side.labels), "tickfont": {"size": 11}}


def _width(labels: tuple[str, ...]) -> int:
    """The width of labels, with Plotly's gap."""
    return LETTER * max(map(len, labels)) + EDGE


def _slanted(labels: tuple[str, ...]) -> bool:
    """Whether the labels above columns are wider than a column."""
    return LETTER * max(map(len, labels)) > CELL[0] + LETTER


def _height(labels: tuple[str, ...]) -> int:
    """The height of labels above columns."""
    return _width(labels) if _slanted(labels) else LINE


def _overhang(labels: tuple[str, ...]) -> int:
    """The space that the last column label needs on its right: Plotly drops labels that would be cut off."""
    return max(EDGE, LETTER * len(labels[-1]) // 2 - CELL[0] // 2 + EDGE) if _slanted(labels) else EDGE


def _titles(rows: Side, columns: Side) -> Iterator[dict[str, object]]:
    """The titles of both sides, as annotations."""
    below, left = _height(columns.labels) + EDGE + LINE / 2, _width(rows.labels) + EDGE + LINE / 2
    text = {"showarrow": False, "font": {"size": 12}}
    yield text | {
        "text": rows.title,
        "xref": "paper",
        "x": 0,
        "xshift": -left,
        "y": (len(rows.labels) - 1) / 2,
        "textangle": -90,
        "xanchor": "center",
    }
    yield text | {
        "text": columns.title,
        "yref": "paper",
        "y": 1,
        "yshift": below,
        "x": (len(columns.labels) - 1) / 2,
        "yanchor": "middle",
    }


_FRAME = {
    "type": "rect",
    "line": {"width": 1, "color": "gray"},
    "xref": "paper",
    "yref": "paper",
    "x0": 0,
    "x1": 1,
    "y0": 0,
    "y1": 1,
}


def _over_page(strength: float) -> str:
    return f"rgba({','.join(map(str, SHARE))},{strength})"


def draw(shown: PageScene) -> None:
    """Draw the article; a chart stands for each of its matrices."""
    targets = {name: door for name, (_, door) in doors().items()}
    number = 0
    for is_matrix, run in groupby(article(), lambda piece: isinstance(piece, NumberTable)):
        if is_matrix:
            number += 1
            draw_chart(_chart(number), f"measurement_{number}")
        else:
            draw_article(shown, f"evidence_{number}", list(run), targets)


@cache
def _chart(number: int) -> Chart:
    """The chart of a measurement, laid out once in a process."""
    return Chart.of(*measurements()[number - 1].rows)
