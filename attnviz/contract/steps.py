"""Steps: what a browser is given of each step of the walkthrough."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from attnviz.contract.sent import Layer, Name, Place, Runs, Sent


class Matrix(Sent, frozen=True):
    """A matrix of a picture: a stage, cut along two of its axes.

    Attributes
    ----------
    rows
        The axis of the stage that its rows are; null for a single row.
    columns
        The axis that its columns are; null for a single column.
    fixed
        The place on an axis that is not drawn; without one, the selected place.
    sign, after
        What is written before it and behind it.
    result
        Whether the picture is about it: how it is computed, or how it is given.
    sums
        Whether each row's sum stands at its end.
    """

    stage: Name
    rows: int | None
    columns: int | None
    fixed: dict[int, Place] = field(default_factory=dict)
    sign: str = ""
    after: str = ""
    result: bool = False
    sums: bool = False


class Band(Sent, frozen=True):
    """Rows of a sheet, with one sentence.

    Attributes
    ----------
    array
        The array of the stage's rule that stands there in place of its own numbers; none if empty.
    left
        The numbers that its rows are multiplied by.
    right
        What each of its rows gives.
    label
        What stands before its row.
    leftover
        The number that its row, of shares, leaves over: it stands in place of the row's sum.
    factors
        Whether its row is the sum of what the band before it multiplies.
    """

    sentence: Runs
    label: str
    cells: Matrix
    array: str = ""
    left: Matrix | None = None
    right: Matrix | None = None
    leftover: Matrix | None = None
    factors: bool = False


Row = Annotated[tuple[Matrix | None, ...], Meta(min_length=1)]


class Picture(Sent, frozen=True):
    """Matrices that are drawn as one equation: in one row with the same rows, in one column with the same columns.

    Attributes
    ----------
    turns
        Whether a single row may stand as a column where that is larger.
    aside
        Whether it may be left out where digits must be large.
    """

    grid: Annotated[tuple[Row, ...], Meta(min_length=1)]
    turns: bool = False
    aside: bool = False

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """The matrices, row by row."""
        return tuple(matrix for row in self.grid for matrix in row if matrix)


class Source(Sent, frozen=True):
    """Where a number of the first band of a sheet is from: its word's row of what enters, times a matrix of parameters.

    Attributes
    ----------
    name
        What is made there.
    word
        Whose it is.
    """

    name: str
    word: Literal["query", "key"]
    heading: Runs
    formula: str
    bands: Annotated[tuple[Band, ...], Meta(min_length=2)]


class Step(Sent):
    """A step of the walkthrough.

    Attributes
    ----------
    subject
        The stage whose selected cell the panel is about, unless another is picked.
    arcs
        Whether arcs over the words show the attention.
    bars
        Stages, or an array of a stage's rule, that rows of bars show.
    attention
        The attention that arcs and words show here: of its layer, outside layers of the last.
    heads
        The heads of that layer, which can be muted here.
    page
        The page of the sheet that its bands stand on.
    bands
        What it adds to the sheet of the selected word.
    sources
        Where the numbers of its first band are from.
    why
        What the step does and what for, in a sentence or two; empty of a step that the sheet has nothing of.
    """

    id: str
    title: str
    layer: Layer
    heading: Runs
    why: Runs
    text: Runs
    notes: list[Runs]
    stages: list[Name]
    subject: Name
    pictures: list[Picture]
    formulas: list[str]
    numpy: list[str]
    arcs: bool
    bars: list[tuple[Name, str]]
    attention: Name
    heads: Name
    page: str
    bands: list[Band]
    sources: list[Source]
