"""Panels: charts beside each other in one Plotly figure, and heatmaps to put into them.

Places are counted from 1 on numeric axes, as on the screen. A word is only ever
escaped text on a tick or in a trace, never part of a template, so that no
markup in it is read, equal words stay apart, and "1" stays a word.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attnviz.views import palette

PAGE = 900  # pixels of width that room is shared out in
LETTER = 7  # pixels
LONG_WORD = 14
WORD_JOINER = "\u2060"
SHORT_SIDE = 32  # rows or columns up to which cells are drawn apart


@dataclass(frozen=True)
class Axis:
    """An axis of places, counted from 1.

    Attributes
    ----------
    counts : str
        What one place is: a query, say.
    names : sequence of str
        A name for each place.
    title : str
    at_most : int
        How many names are written; 0 if none is.
    """

    counts: str
    names: Sequence[str]
    title: str = ""
    at_most: int = 0

    @property
    def written(self) -> range:
        """The places whose names are ticks. Where none is drawn, all are: the hover finds its names among the ticks."""
        return range(0, len(self.names), -(-len(self.names) // self.at_most) if self.at_most else 1)

    @property
    def spoken(self) -> bool:
        """Whether Plotly can name each place itself, by its tick or by its number."""
        return self.written.step == 1 or all(name == str(place) for place, name in enumerate(self.names, start=1))

    @property
    def room(self) -> int:
        """The pixels that its names and its title take."""
        return (LETTER * min(max(map(len, self.names)), LONG_WORD) + 10 if self.at_most else 0) + 26 * bool(self.title)

    def layout(self, descending: bool = False) -> dict:
        """The axis for Plotly; `descending` from 1 at the top."""
        ends = [0.5, len(self.names) + 0.5]
        return {
            "range": ends[::-1] if descending else ends,
            "tickvals": [place + 1 for place in self.written],
            "ticktext": [escaped(self.names[place]) for place in self.written],
            "showticklabels": self.at_most > 0,
            "title": {"text": self.title, "standoff": 6},
            "ticks": "",
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
        }


@dataclass(frozen=True)
class Panel:
    """One chart of a figure, as Plotly's dicts: traces and shapes, whose axes are `x` and `y`."""

    title: str
    traces: Sequence[dict]
    x: dict
    y: dict
    shapes: Sequence[dict] = ()


def figure(
    panels: Sequence[Panel],
    columns: int,
    row_height: int,
    widths: Sequence[float] = (),
    rooms: Sequence[float] = (),
    below: int = 40,
    **layout: object,
) -> go.Figure:
    """Set panels into rows and columns.

    Parameters
    ----------
    panels : sequence of Panel
    columns : int
    row_height : int
        Of a panel, in pixels.
    widths : sequence of float, optional
        How wide each column is, relative to the others; equal if not given.
    rooms : sequence of float, optional
        The room to the left of each column, in pixels of a page of usual width.
    below : int
        The room for what is under the last row, in pixels.
    layout
        More of the figure's layout.

    Returns
    -------
    figure : plotly.graph_objects.Figure
    """
    rows = -(-len(panels) // columns)
    above = 10 + 17 * max(panel.title.count("<br>") + 1 for panel in panels)
    height = rows * (row_height + above)
    across = _spread(widths or [1] * columns, np.divide(rooms or [0, *[24] * (columns - 1)], PAGE))
    down = _spread([1] * rows, [0, *[above / height] * (rows - 1)])
    data, axes, titles, shapes = [], {}, [], []
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        (left, right), (top, bottom) = across[column], down[row]
        nth = number + 1 if number else ""
        x, y = f"x{nth}", f"y{nth}"
        axes[f"xaxis{nth}"] = {**panel.x, "domain": [left, right], "anchor": y}
        axes[f"yaxis{nth}"] = {**panel.y, "domain": [1 - bottom, 1 - top], "anchor": x}
        data += [{**trace, "xaxis": x, "yaxis": y} for trace in panel.traces]
        shapes += [{**shape, "xref": shape.get("xref", x), "yref": shape.get("yref", y)} for shape in panel.shapes]
        titles.append(
            {
                "text": panel.title,
                "x": (left + right) / 2,
                "y": 1 - top,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "center",
                "yanchor": "bottom",
                "showarrow": False,
            }
        )
    margin = {"l": 10, "r": 10, "t": above, "b": 10, "pad": 0}
    size = {"height": height + below, "margin": margin, "showlegend": False}
    return go.Figure(data, {**size, **axes, "annotations": titles, "shapes": shapes, **layout})


def heat(values: np.ndarray, rows: Axis, columns: Axis, scale: dict, hidden: np.ndarray, gap: str) -> list[dict]:
    """A heatmap; where `hidden`, a second one in grey that says `gap` in place of a number.

    `scale` is what Plotly is to know of its colours.
    """
    named = {"x0": 1, "y0": 1, "xgap": 0, "ygap": 0}
    if max(values.shape) <= SHORT_SIDE:
        named |= {"xgap": 1, "ygap": 1}
    row = column = None
    if not rows.spoken:
        row, named["text"] = "%{text}", np.tile(np.array(list(map(escaped, rows.names)))[:, None], values.shape[1])
    if not columns.spoken:
        column, named["customdata"] = "%{customdata}", np.tile(list(map(escaped, columns.names)), (values.shape[0], 1))
    place = f"{rows.counts} {row or '%{y}'}, {columns.counts} {column or '%{x}'}".replace("*", "·").strip()
    drawn = {
        "type": "heatmap",
        "z": np.where(np.isfinite(values), values, np.nan).astype(np.float64),
        "hoverongaps": False,
        "hovertemplate": f"{place}<br>%{{z:.6f}}<extra></extra>",
        **named,
        **scale,
    }
    if not hidden.any():
        return [drawn]
    grey = {
        "type": "heatmap",
        "z": np.where(hidden, 1, np.nan).astype(np.float32),
        "zmin": 0,
        "zmax": 1,
        "colorscale": palette.HIDDEN_SCALE,
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": f"{place}<br>{html.escape(gap, quote=False)}<extra></extra>",
        **named,
    }
    return [drawn, grey]


def outline(rows: tuple[int, int], columns: tuple[int, int], width: float = 2.5, dash: str = "solid") -> dict:
    """A rectangle around rows and columns, each from a place up to another that it leaves out, counted from 0."""
    return {
        "type": "rect",
        "x0": columns[0] + 0.5,
        "x1": columns[1] + 0.5,
        "y0": rows[0] + 0.5,
        "y1": rows[1] + 0.5,
        "line": {"width": width, "color": palette.ROLES[""], "dash": dash},
    }


def escaped(word: str) -> str:
    """A word as Plotly may be given it: its markup written out, cut if it is long, behind an invisible character.

    Without it Streamlit replaces a text such as "constructor", which every object of JavaScript has a property of.
    """
    shortened = word if len(word) <= LONG_WORD else word[: LONG_WORD - 1] + "…"
    return WORD_JOINER + html.escape(shortened, quote=False)


def _spread(widths: Sequence[float], rooms: Sequence[float]) -> list[tuple[float, float]]:
    """Where things begin and end from 0 to 1: with room before each, they share what is left by their widths."""
    rooms = np.multiply(rooms, min(1.0, 0.5 / max(np.sum(rooms), 1e-9)))
    shares = np.divide(widths, np.sum(widths)) * (1 - rooms.sum())
    ends = np.minimum(np.cumsum(rooms + shares), 1.0)
    return [(max(float(end - share), 0.0), float(end)) for end, share in zip(ends, shares, strict=True)]
