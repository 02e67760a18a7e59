"""A matrix in an article: a table in the colours of the walkthrough, with what its rows and columns are called."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from attnviz.contract.article import Block, NumberTable, TableSide
from attnviz.explain.pictures import NEGATIVE, POSITIVE, SHARE

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
        """The name of a place, with its block."""
        block = next((name for name, block in self.blocks.items() if block.start <= place < block.stop), "")
        return f"{block} {self.labels[place]}".strip()

    @property
    def sent(self) -> TableSide:
        """The same as a browser is given it."""
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
    """A matrix as a piece of an article.

    Parameters
    ----------
    caption : str
        What it is, for those who hear it.
    values : ndarray (rows, columns)
    rows, columns : Side
    is_share : bool
        Whether its colours are those of attention, from 0 to 1.
    limit : float, optional
        The number that has its colour in full; by default its largest.
    marked : tuple of int, optional
        The row and the column of the cell that is pointed at.
    """
    numbers = values.tolist()
    finite = np.where(np.isfinite(values), values, 0)
    return NumberTable(
        caption=caption,
        rows=rows.sent,
        columns=columns.sent,
        values=finite.tolist(),
        texts=[list(map(format_number, line)) for line in numbers],
        limit=(1.0 if is_share else limit or float(np.abs(finite).max()) or 1.0) / STRONGEST,
        marked=marked,
        colours=(SHARE, SHARE) if is_share else (NEGATIVE, POSITIVE),
    )


def format_number(value: float) -> str:
    """A number as it fits into its cell; a zero is left out."""
    if not math.isfinite(value):
        text = "NaN" if math.isnan(value) else f"{value:g}".replace("inf", "∞")
    elif abs(value) >= 1e5:
        text = f"{value:.0e}".replace("+", "")
    else:
        text = f"{value:.0f}" if value == round(value) else f"{value:z.2f}"
    return "" if value == 0 else text.replace("-", "−")
