"""The document: a pass, and where one looks in it, as the viewer reads it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from attnviz.contract.changes import ChangeMade, Flips, Moved, Slopes
from attnviz.contract.models import Model, Next
from attnviz.contract.sent import Colour, Layer, Name, NonEmpty, Place, Sent, Size, Values, joined
from attnviz.contract.stages import Stage, StageNumbers, StageShape, StageValues
from attnviz.contract.steps import Step
from attnviz.contract.where import Selected, Where

TemplateName = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]


class MapColumn(Sent):
    """A step on the map, with its stages."""

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
        What one of them is called: a word, a letter, a digit.
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
        Its own, or that of all layers.
    purpose
        What one of several layers does for its model; empty where nobody says.
    """

    attention: Name
    mask: Name
    purpose: str


class Palette(Sent):
    """The colours that numbers have."""

    negative: Colour
    positive: Colour
    share: Colour


class Door(Sent):
    """An act that is offered in words."""

    event: str
    value: str
    label: str


class PairOffered(Sent):
    """Two passes that mean something beside each other."""

    id: NonEmpty
    label: NonEmpty


class StageDistance(Sent):
    """The distance of a stage's numbers from those beside it.

    Attributes
    ----------
    other
        How many of its numbers are others.
    matched
        Whether its numbers have others beside them.
    tolerance
        Numbers no further apart are the same.
    largest
        How far apart its numbers are at most.
    of
        Of how many.
    """

    text: NonEmpty
    other: Place
    matched: bool
    tolerance: Size
    largest: Size
    of: Place


class Pairing(Sent):
    """A second pass, A, and this one, B, place by place.

    Attributes
    ----------
    between
        What decides the two and differs: its name, and what it is in A and in B.
    parted
        Where they part, in one sentence.
    first
        The first stage at which they part, where its numbers can be compared.
    places
        For the places of B along queries, keys and answers those in A of the same name.
    stages
        How far apart the numbers of each stage are, in words and as numbers.
    at
        The cell of that stage that is furthest from the one beside it.
    """

    between: list[tuple[NonEmpty, NonEmpty, NonEmpty]]
    parted: NonEmpty
    first: Name | None
    places: dict[str, list[Place | None]]
    stages: dict[str, StageDistance]
    at: list[Place]


class SentOther(Pairing):
    """A second pass, A, beside this one, B; its document has no pass beside it."""

    document: SentDocument


class OtherPass(Pairing):
    """A second pass, A, beside this one, B; its document has no pass beside it."""

    document: Document


class PassShape(Sent):
    """A pass but for its numbers: the same for all passes that are alike.

    Attributes
    ----------
    stages
        In the order of the pass.
    nearest
        Of the id of every step that there may be, the id of the one that this pass shows for it.
    fractions
        Whether numbers are fractions that are worth writing: where exp makes powers of a whole number.
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
    """The numbers of a pass that passes of other words have too."""

    stages: dict[Name, StageValues]


class PassNumbers(Sent):
    """The numbers of a pass, and what is said of them.

    Attributes
    ----------
    starts
        The cell that one looks at before picking any: outside of layers, and in each of several layers.
    typed
        How many of the last words a person typed in one sentence, where they can be swapped.
    changes
        The numbers set by hand, in order.
    moved
        What they moved.
    before
        The numbers of those stages before.
    flips
        What would turn the order of a row of shares that was asked about.
    imprint
        What decides the numbers besides the words, in one line for paper.
    link
        Parameters of the address that a link to it always has.
    door
        What leads from a model to one's own sentence.
    offer
        Another sentence to ask a model at the end of a talk.
    pairs
        Pairs of passes that mean something beside each other, offered at one click.
    measured
        What the glossary adds to some of its terms, by their ids: what was measured of the model, and the seed.
    next
        What may come next, where a model says that.
    painted
        Whether the mask is painted; null where it can't be.
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
    """A pass but for its numbers, by a name; the parts are null where the browser has them."""

    name: TemplateName
    parts: PassShape | None


class SentParameters(Sent):
    """The numbers of parameters, by a name; the parts are null where the browser has them."""

    name: TemplateName
    parts: PassParameters | None


class SentDocument(PassNumbers):
    """A document as it is sent: of what other documents have too the browser may have been sent the parts before.

    Attributes
    ----------
    arrival
        Another number whenever the viewer is to adopt `where`.
    other
        A second pass, A, beside this one, B; null where there is none.
    """

    template: SentShape
    parameters: SentParameters
    where: Where
    arrival: int
    other: SentOther | None


Document = joined(
    "Document",
    "A pass, and where one looks in it: all that the viewer is given.",
    PassShape,
    PassNumbers,
    stages=dict[Name, Stage],
    where=Where,
    arrival=int,
    other=OtherPass | None,
)
