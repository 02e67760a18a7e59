"""A matrix as a Plotly heatmap, in the colours of the walkthrough: laid over the page, in light and dark."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from attnviz.ui.escaping import markdown
from attnviz.views.numbers import chunks
from attnviz.views.palette import NEGATIVE, POSITIVE, SHARE

CELL = (32, 19)  # px
LETTER, LINE, EDGE = 7, 18, 6  # px: the width of a letter, the height of a line, the room around
SLANT = 60  # degrees
STRONGEST = 0.6  # the page's own text can still be read on it


@dataclass(frozen=True)
class Side:
    """The rows or the columns of a matrix.

    Attributes
    ----------
    title : str
        What they count.
    labels : tuple of str
        What each is called.
    blocks : mapping of str to slice
        Those of them that belong together.
    """

    title: str
    labels: tuple[str, ...]
    blocks: Mapping[str, slice] = field(default_factory=dict)

    def name(self, place: int) -> str:
        """What a place is called, with its block."""
        block = next((name for name, block in self.blocks.items() if block.start <= place < block.stop), "")
        return f"{block} {self.labels[place]}".strip()


class Figure(go.Figure):
    """A figure as the data that a browser is sent.

    Streamlit asks a figure for this data alone. Plotly's own figure would check and
    copy each part of it in every run, which takes ten times as long.
    """

    def __init__(self, traces: list[dict], layout: dict) -> None:
        self._sent = {"data": traces, "layout": layout | {"template": _template()}}

    def to_dict(self) -> dict:
        """The data; it is nobody's to change."""
        return self._sent


@dataclass(frozen=True, eq=False)
class Chart:
    """A matrix that is ready to be drawn.

    Attributes
    ----------
    figure : Figure
        With its numbers written in it, but for zeros.
    width : int
        In px.
    words : str
        The same for those who hear it, as Markdown.
    """

    figure: Figure
    width: int
    words: str

    @classmethod
    def of(cls, values: np.ndarray, rows: Side, columns: Side, *, is_share: bool = False) -> "Chart":
        """Lay a matrix out.

        Parameters
        ----------
        values : ndarray (rows, columns)
        rows, columns : Side
        is_share : bool
            Whether its colours are those of attention, from 0 to 1.
        """
        figure = _figure(values, rows, columns, is_share)
        return cls(figure, figure.to_dict()["layout"]["width"], markdown(described(values, rows, columns)))


def draw(chart: Chart, key: str) -> None:
    """Draw a matrix, to be seen and to be heard."""
    with st.container(key=f"scrolled_{key}"):
        st.markdown(chart.words)
        st.plotly_chart(chart.figure, width=chart.width, key=key, config={"displayModeBar": False})


def described(values: np.ndarray, rows: Side, columns: Side) -> str:
    """A matrix in words, row by row, for those who hear it; zeros are left out."""

    def said(row: int) -> str:
        numbers = [f"{columns.name(column)} {_written(value)}" for column, value in enumerate(values[row]) if value]
        return f"{rows.name(row)}: {', '.join(numbers) or 'zeros'}"

    sides = " by ".join(side.title or "one row" for side in (rows, columns))
    return f"Chart of a matrix, {sides}. {'; '.join(map(said, range(len(values))))}."


@cache
def _template() -> dict:
    """Streamlit's own, which lets its theme in."""
    return go.Figure().to_dict()["layout"]["template"]


def _figure(values: np.ndarray, rows: Side, columns: Side, is_share: bool) -> Figure:
    limit = 1.0 if is_share else float(np.abs(values).max()) or 1.0
    colours = [_over_page(SHARE, 0), _over_page(SHARE, STRONGEST)]
    if not is_share:
        colours = [_over_page(NEGATIVE, STRONGEST), _over_page(SHARE, 0), _over_page(POSITIVE, STRONGEST)]
    n_rows, n_columns = values.shape
    across = [columns.name(column) for column in range(n_columns)]
    down = [rows.name(row) for row in range(n_rows)]
    cells = {
        "type": "heatmap",
        "z": _numbers(values),
        "zmin": 0 if is_share else -limit,
        "zmax": limit,
        "colorscale": [[at / (len(colours) - 1), colour] for at, colour in enumerate(colours)],
        "showscale": False,
        "text": [[f"{row}, {column}" for column in across] for row in down],
        "hovertemplate": "%{text}: %{z}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    numbers = {
        "type": "scatter",
        "x": list(range(n_columns)) * n_rows,
        "y": [row for row in range(n_rows) for _ in range(n_columns)],
        "text": [_written(value) for value in values.ravel().tolist()],
        "mode": "text",
        "textfont": {"size": 10},
        "hoverinfo": "skip",
    }
    layout = _layout(rows, columns)
    layout |= {"annotations": list(_names(rows, columns)), "shapes": list(_lines(rows, columns))}
    return Figure([cells, numbers], layout)


def _numbers(values: np.ndarray) -> dict[str, str]:
    """An array bit for bit, as Plotly writes one."""
    (bits,) = chunks(values, by_head=False)
    return {"dtype": "f8", "bdata": bits, "shape": ", ".join(map(str, values.shape))}


def _layout(rows: Side, columns: Side) -> dict[str, object]:
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}
    left = _depth(rows) + _width(rows.labels)
    top = _depth(columns) + _height(columns.labels)
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
    """Places are numbers, as Plotly merges equal labels."""
    return {"tickvals": list(range(len(side.labels))), "ticktext": list(side.labels), "tickfont": {"size": 11}}


def _depth(side: Side) -> int:
    """The room beside the labels, for the title and the names of the blocks."""
    return 2 * EDGE + LINE * (1 + bool(side.blocks))


def _width(labels: tuple[str, ...]) -> int:
    """The room for labels, which Plotly sets a little off."""
    return LETTER * max(map(len, labels)) + EDGE


def _slanted(labels: tuple[str, ...]) -> bool:
    """Whether labels above columns are wider than these."""
    return LETTER * max(map(len, labels)) > CELL[0] + LETTER


def _height(labels: tuple[str, ...]) -> int:
    """The room for labels above columns."""
    return _width(labels) if _slanted(labels) else LINE


def _overhang(labels: tuple[str, ...]) -> int:
    """The room that the last label above columns needs at its right: Plotly leaves out what is cut off."""
    return max(EDGE, LETTER * len(labels[-1]) // 2 - CELL[0] // 2 + EDGE) if _slanted(labels) else EDGE


def _names(rows: Side, columns: Side) -> Iterator[dict[str, object]]:
    """The titles of both sides and the names of their blocks, as annotations."""
    for side, is_row in ((rows, True), (columns, False)):
        middle = (len(side.labels) - 1) / 2
        outside = _width(rows.labels) + EDGE if is_row else _height(columns.labels)
        for text, at, line in (
            *((name, (block.start + block.stop - 1) / 2, 0) for name, block in side.blocks.items()),
            (side.title, middle, bool(side.blocks)),
        ):
            shift = outside + LINE * (line + 0.5)
            yield {
                "text": f"<b>{text}</b>" if text in side.blocks else text,
                "showarrow": False,
                "font": {"size": 12},
                **(
                    {"xref": "paper", "x": 0, "xshift": -shift, "y": at, "textangle": -90, "xanchor": "center"}
                    if is_row
                    else {"yref": "paper", "y": 1, "yshift": shift, "x": at, "yanchor": "middle"}
                ),
            }


def _lines(rows: Side, columns: Side) -> Iterator[dict[str, object]]:
    """A frame, and a line between each two blocks, as shapes."""
    line = {"type": "line", "line": {"width": 1, "color": "gray"}}
    yield line | {"type": "rect", "x0": 0, "x1": 1, "y0": 0, "y1": 1, "xref": "paper", "yref": "paper"}
    for side, is_row in ((rows, True), (columns, False)):
        for block in list(side.blocks.values())[1:]:
            at = block.start - 0.5
            ends = {"y0": at, "y1": at, "x0": 0, "x1": 1, "xref": "paper"}
            if not is_row:
                ends = {"x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper"}
            yield line | ends


def _over_page(colour: tuple[int, int, int], strength: float) -> str:
    return f"rgba({','.join(map(str, colour))},{strength})"


def _written(value: float) -> str:
    """A number as it fits into its cell; a zero is left out."""
    if abs(value) >= 1e5:
        text = f"{value:.0e}".replace("+", "")
    else:
        text = f"{value:.0f}" if value == round(value) else f"{value:.2f}"
    return "" if value == 0 else text.replace("-", "−")
