"""Stages: what a browser is given of each array of a pass, and of how its cells are computed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from attnviz.contract.sent import Place, Sent, Stories, Values, joined


class Axis(Sent):
    """One axis of a stage, and its places.

    Attributes
    ----------
    coordinates
        The coordinates of a selection that lie on it, outermost first, with their lengths.
    """

    name: str
    title: str
    labels: list[str]
    coordinates: list[tuple[str, Annotated[int, Meta(ge=1)]]]


ArrayName = Annotated[str, Meta(pattern="^#")]
"""Of an array that a rule reads besides stages."""

Slot = tuple[str, str]
"""A stage or an array of the rule, and the pattern of the index in it."""


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
    """The computation of the cells of one case."""

    lines: list[RuleLine]
    conclusion: str
    formula: str
    term: str


class RuleShape(Sent):
    """The cells that a cell is computed from, once for all cells of a stage.

    Attributes
    ----------
    result
        A letter for each axis of the stage; letters in brackets lie on one axis.
    case
        Where the place of a cell's variant stands.
    until
        Where it stands for how many places a cell's lines run; for all where it is null.
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
    """A stage but for its numbers.

    Attributes
    ----------
    symbol
        LaTeX; _i stands for the head.
    one
        What one of its numbers is called.
    step
        The id of the step that introduces it.
    hidden_by
        The stage of its layer that is -inf where a cell is drawn as hidden, or nothing.
    in_microgpt
        What microgpt calls it; empty where it has no name for it, and of another model.
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
        The size at the end of its colour scale.
    values
        Without those of a parameter, which are sent once.
    overridden
        Runs of cells whose numbers were set, not computed: the place of the first, counted over the whole stage, and
        how many.
    overridden_by
        Where these numbers are from.
    marks
        The sentence on them, in place of a band's; empty where somebody set them by hand.
    recipe
        Where a given number is from.
    """

    limit: Annotated[float, Meta(gt=0)]
    overridden: list[tuple[Place, Place]]
    overridden_by: str
    marks: str
    recipe: str
    values: Values | UnsetType = UNSET
    rule: RuleNumbers | UnsetType = UNSET


class StageValues(Sent):
    """The values of a parameter, which other passes have too."""

    values: Values


Rule = joined(
    "Rule", "The cells that a cell is computed from, and the arrays that are read besides.", RuleShape, RuleNumbers
)
Stage = joined("Stage", "An array of the pass.", StageShape, StageNumbers, values=Values, rule=Rule | None)
