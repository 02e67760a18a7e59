"""The document: a pass and where in it somebody is looking, as the viewer reads it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from attnviz.contract.base import ActionLink, Cell, Layer, Name, NonEmpty, Place, Sent, Size, Values, joined
from attnviz.contract.models import Model, Next
from attnviz.contract.stages import Stage, StageNumbers, StageShape, StageValues, Step
from attnviz.contract.view_params import Selected, Where


class ChangeMade(Sent):
    """A number set by hand."""

    text: str
    stage: Name
    # The index of a cell, or the first part of one, which means all cells that begin so; null means every place
    index: Annotated[list[Place | None], Meta(min_length=1)]


class Moved(Sent):
    """How far numbers set by hand moved a stage."""

    stage: Name
    text: str


class Slopes(Sent):
    """The gradients of a number."""

    of: Cell
    text: str
    values: dict[str, Values]


class Flip(Sent):
    """The smallest change of one stage that reverses the order of a row."""

    stage: Name
    text: str
    cell: Cell | None  # the cell to change; null if none was found
    value: float | None


class Flips(Sent):
    """The smallest changes that reverse the order of a row of attention weights or probabilities."""

    of: Cell
    text: str
    stages: list[Flip]


TemplateName = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]


class MapColumn(Sent):
    """A step and its stages on the map."""

    step: str
    title: str
    layer: Layer
    stages: list[Name]


class Map(Sent):
    """The whole pass: its steps, and arrows from stage to stage."""

    columns: list[MapColumn]
    arrows: list[tuple[Name, Name]]


class Words(Sent):
    """The words of a layer."""

    query: list[str]
    key: list[str]
    shared: bool  # whether queries and keys are one sentence
    unit: str  # what a token is: a word, a letter, a digit
    sides: list[str]  # the names of the texts of queries and of keys, such as French, English; empty without names


class LayerOfModel(Sent):
    """A layer."""

    attention: Name
    mask: Name  # its own mask, or that of all layers
    purpose: str  # what the layer does for its model; empty if unknown
    title: str  # such as "French reads English"; empty if it is known by its number
    words: Words


class SuggestedPair(Sent):
    """A pair of passes worth comparing."""

    id: NonEmpty
    label: NonEmpty


class StageDistance(Sent):
    """How far a stage's numbers are from those of the other pass."""

    text: NonEmpty
    other: Place  # how many of its numbers differ
    matched: bool  # whether its numbers have counterparts in the other pass
    tolerance: Size  # numbers this close count as equal
    largest: Size
    of: Place


class Pairing(Sent):
    """A second pass, A, compared with this one, B."""

    between: list[tuple[NonEmpty, NonEmpty, NonEmpty]]  # the settings that differ: each with its value in A and in B
    parted: NonEmpty  # where they first differ, in one sentence
    first: Name | None  # the first stage that differs, if its numbers can be compared
    # For each index of B along queries, keys and answers, the index of its counterpart in A; of a layer with words of
    # its own also along "key_3", say, and of a text that is read along "context token"
    places: dict[str, list[Place | None]]
    stages: dict[str, StageDistance]  # how far apart the numbers of each stage are, in words and as numbers
    at: list[Place]  # the cell of that stage with the largest difference


class SentOther(Pairing):
    """Pass A of a comparison as it is sent; the browser may have parts of it."""

    document: SentDocument


class OtherPass(Pairing):
    """A second pass, A, compared with this one, B; its own document has no second pass."""

    document: Document


class PassShape(Sent):
    """A pass without its numbers: the same for all passes with the same settings and words."""

    stages: dict[Name, StageShape]  # in the order of the pass
    steps: Annotated[list[Step], Meta(min_length=1)]
    nearest: dict[str, str]  # for the id of every possible step, the id of the step that this pass shows for it
    map: Map
    words: Words  # of the last layer
    layers: Annotated[list[LayerOfModel], Meta(min_length=1)]
    fractions: bool  # whether numbers are also written as fractions, because exp makes powers of a whole number


class PassParameters(Sent):
    """The numbers of parameters, which passes of other words share."""

    stages: dict[Name, StageValues]


class PassNumbers(Sent):
    """The numbers of a pass, and the texts on them."""

    stages: dict[Name, StageNumbers]
    # The cell that is selected at first: outside layers, and in each of several layers
    starts: Annotated[list[Selected], Meta(min_length=1)]
    typed: Place  # how many of the last words the user typed, if they can be swapped
    changes: list[ChangeMade]
    moved: list[Moved]  # what they moved
    before: dict[str, Values]  # the numbers of those stages before the changes
    slopes: Slopes | None
    flips: Flips | None  # the flips of the row that was asked about
    caption: NonEmpty  # the settings behind the numbers, in one line for paper
    link: dict[str, str]  # the parameters of an address that links to it
    door: ActionLink | None  # the link from a model to the user's own sentence
    offer: ActionLink | None  # a further sentence to ask the model at the end of a talk
    model: Model | None
    pairs: list[SuggestedPair]  # pairs of passes worth comparing, each one click away
    next: Next | None  # what the model may write next, if it writes
    painted: bool | None  # whether the mask is painted; null if it can't be
    # Sentences for terms of the glossary, by their ids: measurements of the model, and the seed
    measured: dict[str, str]


class SentShape(Sent):
    """A `PassShape` by name; its parts are null if the browser has them."""

    name: TemplateName
    parts: PassShape | None


class SentParameters(Sent):
    """`PassParameters` by name; its parts are null if the browser has them."""

    name: TemplateName
    parts: PassParameters | None


class SentDocument(PassNumbers):
    """A document as it is sent; the browser may already have the parts that it shares with other documents."""

    template: SentShape
    parameters: SentParameters
    where: Where
    arrival: int  # a new number whenever the viewer is to adopt `where`
    other: SentOther | None  # a second pass, A, compared with this one, B; null if there is none


Document = joined(
    "Document",
    "A pass and where in it somebody is looking: all that the viewer needs.",
    PassShape,
    PassNumbers,
    stages=dict[Name, Stage],
    where=Where,
    arrival=int,
    other=OtherPass | None,
)
