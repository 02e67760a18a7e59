"""The stages of a pass, how their cells are computed, and the steps of the walkthrough that show them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from attnviz.contract.base import Layer, Name, Place, Runs, Sent, Stories, Values, joined


class Axis(Sent):
    """One axis of a stage, and its places.

    Attributes
    ----------
    coordinates
        The coordinates of the selection on this axis, outermost first, each with its length.
    """

    name: str
    title: str
    labels: list[str]
    coordinates: list[tuple[str, Annotated[int, Meta(ge=1)]]]


ArrayName = Annotated[str, Meta(pattern="^#")]
"""The name of an array that a rule reads besides stages."""

Slot = tuple[str, str]
"""A stage or an array of the rule, and the pattern of the index into it."""


class RuleArray(Sent):
    """An array that a rule reads besides stages."""

    values: Values


class RuleLine(Sent):
    """One line of how a cell was computed."""

    cells: list[str]
    text: str
    value: str
    is_exponential: bool


class RuleVariant(Sent):
    """How the cells of one case are computed."""

    lines: list[RuleLine]
    conclusion: str
    formula: str
    term: str


class RuleShape(Sent):
    """How the cells of a stage are computed from other cells, for all of them at once.

    Attributes
    ----------
    result
        A letter per axis of the stage; letters in brackets share one axis.
    case
        Where the index of a cell's variant is found.
    until
        Where the number of a cell's lines is found; null if they run over the whole axis.
    """

    result: str
    sizes: dict[str, Annotated[int, Meta(ge=1)]]
    slots: dict[str, Slot]
    case: Slot | None
    until: Slot | None
    variants: Annotated[list[RuleVariant], Meta(min_length=1)]


class RuleNumbers(Sent):
    """The arrays that a rule reads besides stages."""

    arrays: dict[ArrayName, RuleArray]


class StageShape(Sent):
    """A stage without its numbers.

    Attributes
    ----------
    symbol
        LaTeX, with _i for the head.
    one
        What one of its numbers is called.
    step
        The id of the step that introduces it.
    hidden_by
        The stage whose -inf hides cells of this one; empty if none does.
    in_microgpt
        Its name in microgpt; empty if it has none there.
    """

    symbol: str
    title: str
    meaning: str
    one: str
    role: Literal["q", "k", "v", "output", ""]
    scale: Literal["signed", "share", "flag"]
    step: str
    axes: Annotated[list[Axis], Meta(min_length=1)]
    hidden_by: str
    rule: RuleShape | None
    stories: Stories
    in_microgpt: str


class StageNumbers(Sent):
    """The numbers of a stage.

    Attributes
    ----------
    limit
        The size with full colour.
    values
        Absent for a parameter, whose values are sent once.
    overridden
        Runs of cells whose numbers were set instead of computed: the flat index of the first, and their count.
    overridden_by
        What set them.
    marks
        The sentence that replaces a band's where these are shown; empty if they were set by hand.
    recipe
        How given numbers were made.
    """

    limit: Annotated[float, Meta(gt=0)]
    overridden: list[tuple[Place, Place]]
    overridden_by: str
    marks: str
    recipe: str
    values: Values | UnsetType = UNSET
    rule: RuleNumbers | UnsetType = UNSET


class StageValues(Sent):
    """The values of a parameter, which passes of other words share."""

    values: Values


Rule = joined(
    "Rule", "How a stage's cells are computed, and the arrays that this reads besides stages.", RuleShape, RuleNumbers
)
Stage = joined("Stage", "An array of the pass.", StageShape, StageNumbers, values=Values, rule=Rule | None)


class Matrix(Sent, frozen=True):
    """A matrix of a picture: a stage, cut along two of its axes.

    Attributes
    ----------
    rows
        The axis of the stage along its rows; null for a single row.
    columns
        The axis along its columns; null for a single column.
    fixed
        The index on an axis that is not drawn; by default the selected one.
    sign, after
        What is written before and after it.
    result
        Whether the picture shows how this one is computed or given.
    sums
        Whether each row ends with its sum.
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
    """Rows of the One word view with one sentence.

    Attributes
    ----------
    array
        The array of the stage's rule that is shown instead of its numbers; none if empty.
    left
        The numbers that its rows are multiplied by.
    right
        What each of its rows gives.
    label
        The label of its row.
    leftover
        What its row of attention weights leaves over, shown instead of the row's sum.
    factors
        Whether its row adds up the products of the band before it.
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
    """Matrices drawn as one equation: those in a row share their rows, those in a column their columns.

    Attributes
    ----------
    turns
        Whether a single row may be drawn as a column where that makes it larger.
    aside
        Whether it may be left out to keep digits large.
    """

    grid: Annotated[tuple[Row, ...], Meta(min_length=1)]
    turns: bool = False
    aside: bool = False

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """The matrices, row by row."""
        return tuple(matrix for row in self.grid for matrix in row if matrix)


class Source(Sent, frozen=True):
    """Where the query, key, value or output of a band comes from: a word's row times a matrix of parameters.

    Attributes
    ----------
    name
        What it makes.
    word
        Whether it belongs to the word of the query or of the key.
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
        The stage whose selected cell the panel explains, unless another is picked.
    arcs
        Whether arcs over the words show the attention.
    bars
        The stages, each with an array of its rule or none, that are drawn as rows of bars.
    attention
        The attention that arcs and words show: that of its layer, or of the last layer.
    heads
        The heads of that layer, which can be muted here.
    page
        The page of the One word view that has its bands.
    bands
        What it adds to the One word view.
    sources
        Where the numbers of its first band come from.
    why
        What the step does and why, in a sentence or two; empty if it has no bands.
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
