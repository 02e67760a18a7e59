"""Steps: what a browser is given of each step of the walkthrough."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from attnviz.contract.sent import Layer, Name, Place, Runs, Sent


class Matrix(Sent):
    """A stage as it is drawn.

    Attributes
    ----------
    rows
        The axis of the stage that its rows are; null for a single row.
    columns
        The axis that its columns are; null for a single column.
    fixed
        The place on an axis that is not drawn; without one, the selected place.
    result
        Whether the picture shows how it is computed.
    sums
        Whether each row's sum stands at its end.
    """

    stage: Name
    rows: int | None
    columns: int | None
    fixed: dict[str, Place]
    sign: str
    after: str
    result: bool
    sums: bool


class Band(Sent):
    """Rows of a sheet, with one sentence.

    Attributes
    ----------
    array
        The array of the stage's rule that stands there in place of its own numbers; none if empty.
    left
        The numbers that its rows are multiplied by.
    right
        What each of its rows gives.
    leftover
        The number that its row, of shares, leaves over.
    factors
        Whether its row is the sum of what the band before it multiplies.
    """

    sentence: Runs
    label: str
    cells: Matrix
    array: str
    left: Matrix | None
    right: Matrix | None
    leftover: Matrix | None
    factors: bool


class Picture(Sent):
    """Matrices that are drawn as one equation.

    Attributes
    ----------
    turns
        Whether a single row may stand as a column.
    aside
        Whether it may be left out where digits must be large.
    """

    grid: Annotated[list[Annotated[list[Matrix | None], Meta(min_length=1)]], Meta(min_length=1)]
    turns: bool
    aside: bool


class Source(Sent):
    """Where the numbers of a sheet's first band are from."""

    name: str
    word: Literal["query", "key"]
    heading: Runs
    formula: str
    bands: Annotated[list[Band], Meta(min_length=2)]


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
