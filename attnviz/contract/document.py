"""The document: a pass and where in it somebody is looking, as the viewer reads it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from attnviz.contract.base import Cell, Colour, Layer, Name, NonEmpty, Place, Sent, Size, Values, joined
from attnviz.contract.models import Model, Next
from attnviz.contract.stages import Stage, StageNumbers, StageShape, StageValues, Step
from attnviz.contract.view_params import Selected, Where


class ChangeMade(Sent):
    """A number set by hand.

    Attributes
    ----------
    index
        The index of a cell, or the first part of one, which means all cells that begin so; null means every place.
    """

    text: str
    stage: Name
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
    """The smallest change of one stage that reverses the order of a row.

    Attributes
    ----------
    cell
        The cell to change; null if none was found.
    value
        The value to set there.
    """

    stage: Name
    text: str
    cell: Cell | None
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
    """The words of the pass.

    Attributes
    ----------
    shared
        Whether queries and keys are one sentence.
    unit
        What a token is: a word, a letter, a digit.
    """

    query: list[str]
    key: list[str]
    shared: bool
    unit: str


class LayerOfModel(Sent):
    """A layer.

    Attributes
    ----------
    mask
        Its own mask, or that of all layers.
    purpose
        What the layer does for its model; empty if unknown.
    """

    attention: Name
    mask: Name
    purpose: str


class Palette(Sent):
    """The colours of numbers."""

    negative: Colour
    positive: Colour
    share: Colour


class Door(Sent):
    """A link that performs an action."""

    event: str
    value: str
    label: str


class PairOffered(Sent):
    """A pair of passes worth comparing."""

    id: NonEmpty
    label: NonEmpty


class StageDistance(Sent):
    """How far a stage's numbers are from those of the other pass.

    Attributes
    ----------
    other
        How many of its numbers differ.
    matched
        Whether its numbers have counterparts in the other pass.
    tolerance
        Numbers this close count as equal.
    largest
        The largest difference.
    of
        How many numbers were compared.
    """

    text: NonEmpty
    other: Place
    matched: bool
    tolerance: Size
    largest: Size
    of: Place


class Pairing(Sent):
    """A second pass, A, compared with this one, B.

    Attributes
    ----------
    between
        The settings that differ: each with its value in A and in B.
    parted
        Where they first differ, in one sentence.
    first
        The first stage that differs, if its numbers can be compared.
    places
        For each index of B along queries, keys and answers, the index of its counterpart in A.
    stages
        How far apart the numbers of each stage are, in words and as numbers.
    at
        The cell of that stage with the largest difference.
    """

    between: list[tuple[NonEmpty, NonEmpty, NonEmpty]]
    parted: NonEmpty
    first: Name | None
    places: dict[str, list[Place | None]]
    stages: dict[str, StageDistance]
    at: list[Place]


class SentOther(Pairing):
    """A second pass, A, compared with this one, B; its own document has no second pass."""

    document: SentDocument


class OtherPass(Pairing):
    """A second pass, A, compared with this one, B; its own document has no second pass."""

    document: Document


class PassShape(Sent):
    """A pass without its numbers: the same for all passes with the same settings and words.

    Attributes
    ----------
    stages
        In the order of the pass.
    nearest
        For the id of every possible step, the id of the step that this pass shows for it.
    fractions
        Whether numbers are also written as fractions, because exp makes powers of a whole number.
    """

    stages: dict[Name, StageShape]
    steps: Annotated[list[Step], Meta(min_length=1)]
    nearest: dict[str, str]
    map: Map
    words: Words
    layers: Annotated[list[LayerOfModel], Meta(min_length=1)]
    fractions: bool
    palette: Palette


class PassParameters(Sent):
    """The numbers of parameters, which passes of other words share."""

    stages: dict[Name, StageValues]


class PassNumbers(Sent):
    """The numbers of a pass, and the texts on them.

    Attributes
    ----------
    starts
        The cell that is selected at first: outside layers, and in each of several layers.
    typed
        How many of the last words the user typed, if they can be swapped.
    changes
        The numbers set by hand, in order.
    moved
        What they moved.
    before
        The numbers of those stages before the changes.
    flips
        The flips of the row that was asked about.
    imprint
        The settings behind the numbers, in one line for paper.
    link
        The parameters of an address that links to it.
    door
        The link from a model to the user's own sentence.
    offer
        A further sentence to ask the model at the end of a talk.
    pairs
        Pairs of passes worth comparing, each one click away.
    measured
        Sentences for terms of the glossary, by their ids: measurements of the model, and the seed.
    next
        What the model may write next, if it writes.
    painted
        Whether the mask is painted; null if it can't be.
    """

    stages: dict[Name, StageNumbers]
    starts: Annotated[list[Selected], Meta(min_length=1)]
    typed: Place
    changes: list[ChangeMade]
    moved: list[Moved]
    before: dict[str, Values]
    slopes: Slopes | None
    flips: Flips | None
    imprint: NonEmpty
    link: dict[str, str]
    door: Door | None
    offer: Door | None
    model: Model | None
    pairs: list[PairOffered]
    next: Next | None
    painted: bool | None
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
    """A document as it is sent; the browser may already have the parts that it shares with other documents.

    Attributes
    ----------
    arrival
        A new number whenever the viewer is to adopt `where`.
    other
        A second pass, A, compared with this one, B; null if there is none.
    """

    template: SentShape
    parameters: SentParameters
    where: Where
    arrival: int
    other: SentOther | None


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
