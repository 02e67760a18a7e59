"""Stages: what a browser is given of each array of a pass, and of how its cells are computed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from attnviz.contract.sent import Place, Sent, Stories, Values


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


class Rule(Sent):
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
    arrays: dict[ArrayName, RuleArray]
    variants: Annotated[list[RuleVariant], Meta(min_length=1)]


class Stage(Sent):
    """An array of the pass.

    Attributes
    ----------
    symbol
        LaTeX; _i stands for the head.
    one
        What one of its numbers is called.
    step
        The id of the step that introduces it.
    limit
        The size at the end of its colour scale.
    overridden
        Runs of cells that were set by hand: the place of the first, counted over the whole stage, and how many.
    hidden_by
        The stage of its layer that is -inf where a cell is drawn as hidden, or nothing.
    recipe
        Where a given number is from.
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
    limit: Annotated[float, Meta(gt=0)]
    values: Values
    overridden: list[tuple[Place, Place]]
    hidden_by: str
    recipe: str
    rule: Rule | None
    stories: Stories
    in_microgpt: str
