"""The stages of a pass, how their cells are computed, and the steps of the walkthrough that show them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from attnviz.contract.base import Layer, Name, Place, Runs, Sent, Stories, Values, joined


class Axis(Sent):
    """One axis of a stage, and its places."""

    name: str
    title: str
    labels: list[str]
    # The coordinates of the selection on this axis, outermost first, each with its length
    coordinates: list[tuple[str, Annotated[int, Meta(ge=1)]]]


ArrayName = Annotated[str, Meta(pattern="^#")]  # the name of an array that a rule reads besides stages
Slot = tuple[str, str]  # a stage or an array of the rule, and the pattern of the index into it


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
    """How the cells of a stage are computed from other cells, for all of them at once."""

    result: str  # a letter per axis of the stage; letters in brackets share one axis
    sizes: dict[str, Annotated[int, Meta(ge=1)]]
    slots: dict[str, Slot]
    case: Slot | None  # where the index of a cell's variant is found
    until: Slot | None  # where the number of a cell's lines is found; null if they run over the whole axis
    variants: Annotated[list[RuleVariant], Meta(min_length=1)]


class RuleNumbers(Sent):
    """The arrays that a rule reads besides stages."""

    arrays: dict[ArrayName, RuleArray]


class StageShape(Sent):
    """A stage without its numbers."""

    symbol: str  # LaTeX, with _i for the head
    title: str
    meaning: str
    one: str  # what one of its numbers is called
    role: Literal["q", "k", "v", "output", ""]
    scale: Literal["signed", "share", "flag"]
    step: str  # the id of the step that introduces it
    axes: Annotated[list[Axis], Meta(min_length=1)]
    hidden_by: str  # the stage whose -inf hides cells of this one; empty if none does
    rule: RuleShape | None
    stories: Stories
    in_microgpt: str  # its name in microgpt; empty if it has none there


class StageNumbers(Sent):
    """The numbers of a stage."""

    limit: Annotated[float, Meta(gt=0)]
    # Runs of cells whose numbers were set instead of computed: the flat index of the first, and their count
    overridden: list[tuple[Place, Place]]
    overridden_by: str  # what set them
    marks: str  # the sentence that replaces a band's where these are shown; empty if they were set by hand
    recipe: str  # how given numbers were made
    values: Values | UnsetType = UNSET  # absent for a parameter, whose values are sent once
    rule: RuleNumbers | UnsetType = UNSET


class StageValues(Sent):
    """The values of a parameter, which passes of other words share."""

    values: Values


Rule = joined(
    "Rule", "How a stage's cells are computed, and the arrays that this reads besides stages.", RuleShape, RuleNumbers
)
Stage = joined("Stage", "An array of the pass.", StageShape, StageNumbers, values=Values, rule=Rule | None)


class Matrix(Sent, frozen=True):
    """A matrix of a picture: a stage, cut along two of its axes."""

    stage: Name
    rows: int | None  # the axis of the stage along its rows; null for a single row
    columns: int | None  # the axis along its columns; null for a single column
    # The index on an axis that is not drawn; by default the selected one
    fixed: dict[int, Place] = field(default_factory=dict)
    sign: str = ""  # written before it
    after: str = ""
    result: bool = False  # whether the picture shows how this one is computed or given
    sums: bool = False  # whether each row ends with its sum


class Band(Sent, frozen=True):
    """Rows of the One word view with one sentence."""

    sentence: Runs
    label: str  # the label of its row
    cells: Matrix
    array: str = ""  # the array of the stage's rule that is shown instead of its numbers; none if empty
    left: Matrix | None = None  # the numbers that its rows are multiplied by
    right: Matrix | None = None  # what each of its rows gives
    leftover: Matrix | None = None  # what its row of attention weights leaves over, shown instead of the row's sum
    factors: bool = False  # whether its row adds up the products of the band before it


Row = Annotated[tuple[Matrix | None, ...], Meta(min_length=1)]


class Picture(Sent, frozen=True):
    """Matrices drawn as one equation: those in a row share their rows, those in a column their columns."""

    grid: Annotated[tuple[Row, ...], Meta(min_length=1)]
    turns: bool = False  # whether a single row may be drawn as a column where that makes it larger
    aside: bool = False  # whether it may be left out to keep digits large

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """The matrices, row by row."""
        return tuple(matrix for row in self.grid for matrix in row if matrix)


class Source(Sent, frozen=True):
    """Where the query, key, value or output of a band comes from: a word's row times a matrix of parameters."""

    name: str  # what it makes
    word: Literal["query", "key"]  # whether it belongs to the word of the query or of the key
    heading: Runs
    formula: str
    bands: Annotated[tuple[Band, ...], Meta(min_length=2)]


class Step(Sent):
    """A step of the walkthrough."""

    id: str
    title: str
    layer: Layer
    heading: Runs
    why: Runs  # what the step does and why, in a sentence or two; empty if it has no bands
    text: Runs
    notes: list[Runs]
    stages: list[Name]
    subject: Name  # the stage whose selected cell the panel explains, unless another is picked
    pictures: list[Picture]
    formulas: list[str]
    numpy: list[str]
    arcs: bool  # whether arcs over the words show the attention
    bars: list[tuple[Name, str]]  # the stages, each with an array of its rule or none, that are drawn as rows of bars
    attention: Name  # the attention that arcs and words show: that of its layer, or of the last layer
    heads: Name  # the heads of that layer, which can be muted here
    page: str  # the page of the One word view that has its bands
    bands: list[Band]  # what it adds to the One word view
    sources: list[Source]  # where the numbers of its first band come from
