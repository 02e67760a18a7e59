"""Pieces of an article: paragraphs, buttons, columns and matrices as data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attnviz.contract.article import Alternative, Block, DoorButton, NumberTable, Paragraph, Piece, TableSide
from attnviz.explain.styled_text import Runs, runs
from attnviz.scene.scene import Scene, parts_for_source


def text(marked: str | Runs) -> Paragraph:
    """A paragraph."""
    return Paragraph(_runs(marked))


def door(name: str, label: str, marked: str | Runs = "") -> DoorButton:
    """A button to another page, by the name of its link, with a text."""
    return DoorButton(name, label, _runs(marked))


def option(value: str, marked: str, pieces: Sequence[Piece]) -> Alternative:
    """One of several options, and the pieces shown when it is selected."""
    return Alternative(value, _runs(marked), pieces)


def _runs(marked: str | Runs) -> Runs:
    return runs(marked) if isinstance(marked, str) else marked


Door = Mapping[str, object]  # the fields of the scene that a link sets


def door_to(model: str, sentence: str, **parts: object) -> Door:
    """The link to a model's sentence at the first step, with further fields of the scene."""
    return parts_for_source(model) | {"step": Scene().step, "sentence": sentence} | parts


@dataclass(frozen=True)
class Side:
    """The rows or the columns of a matrix."""

    title: str  # what they are
    labels: tuple[str, ...]  # what each is called
    blocks: Mapping[str, slice] = field(default_factory=dict)  # named ranges of them

    def name(self, place: int) -> str:
        """The name of a place, with its block."""
        block = next((name for name, block in self.blocks.items() if block.start <= place < block.stop), "")
        return f"{block} {self.labels[place]}".strip()

    @property
    def sent(self) -> TableSide:
        """The struct that the browser receives."""
        return TableSide(self.title, self.labels, [Block(name, at.start, at.stop) for name, at in self.blocks.items()])


def matrix(
    caption: str,
    values: np.ndarray,
    rows: Side,
    columns: Side,
    *,
    is_share: bool = False,
    limit: float | None = None,
    marked: tuple[int, int] | None = None,
) -> NumberTable:
    """A matrix as a piece of an article."""
    numbers = values.tolist()
    finite = np.where(np.isfinite(values), values, 0)
    return NumberTable(
        caption=caption,
        rows=rows.sent,
        columns=columns.sent,
        values=finite.tolist(),
        texts=[list(map(format_number, line)) for line in numbers],
        limit=1.0 if is_share else limit or float(np.abs(finite).max()) or 1.0,
        marked=marked,
        scale="share" if is_share else "signed",
    )


def format_number(value: float) -> str:
    """A number short enough for its cell; empty for zero."""
    if not math.isfinite(value):
        text = "NaN" if math.isnan(value) else f"{value:g}".replace("inf", "∞")
    elif abs(value) >= 1e5:
        text = f"{value:.0e}".replace("+", "")
    else:
        text = f"{value:.0f}" if value == round(value) else f"{value:z.2f}"
    return "" if value == 0 else text.replace("-", "−")
