"""The answer: all that a browser is given of a scene."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from attnviz.contract.document import Document
from attnviz.contract.sent import NonEmpty, Runs, Sent

Event = NonEmpty
"""The name of an act."""


Value = str | int | bool
"""Sent as it stands, so of its very type."""


class ChoiceOption(Sent):
    """One of a list.

    Attributes
    ----------
    group
        The name under which those of a kind stand.
    """

    value: Value
    label: str
    group: str | UnsetType = UNSET


class Option(Sent):
    """One of a few words."""

    value: Value
    label: str


class Box(Sent):
    """A box that sends what a person enters or presses, as an act.

    Attributes
    ----------
    help
        Seen on request.
    """

    event: Event
    label: str
    help: str | UnsetType = UNSET


class QuietBox(Box, kw_only=True):
    """A box whose label may be heard alone.

    Attributes
    ----------
    quiet
        Whether it is heard, not seen.
    """

    quiet: bool | UnsetType = UNSET


class Choice(QuietBox, kw_only=True, tag_field="kind", tag="choice"):
    """One of a list."""

    value: Value
    options: Annotated[list[ChoiceOption], Meta(min_length=1)]


class Text(QuietBox, kw_only=True, tag_field="kind", tag="text"):
    """A line of text.

    Attributes
    ----------
    limit
        Characters.
    live
        Sent as the person pauses; else on Enter and on leaving.
    words
        The words that are known: a text that may still become one of these alone is sent later.
    """

    value: str
    limit: Annotated[int, Meta(ge=1)]
    live: bool
    placeholder: str | UnsetType = UNSET
    words: list[NonEmpty] | UnsetType = UNSET


class Button(Box, kw_only=True, tag_field="kind", tag="button"):
    """Sends true.

    Attributes
    ----------
    sign
        Seen in place of the label.
    """

    sign: str


class Pills(QuietBox, kw_only=True, tag_field="kind", tag="pills"):
    """A few words, one of which may be pressed."""

    value: Value | None
    options: Annotated[list[Option], Meta(min_length=1)]


class Switch(Box, kw_only=True, tag_field="kind", tag="switch"):
    """On or off."""

    value: bool


class Note(Sent, tag_field="kind", tag="note"):
    """A text between the boxes."""

    runs: Runs


Boxes = list[Choice | Text | Button | Pills | Switch | Note]


class Settings(Sent):
    """The boxes of a scene: those of the line, and the rare ones."""

    line: Boxes
    more: Boxes


class Offer(Sent):
    """An act that is offered in words."""

    event: Event
    value: Value | tuple[str, str]
    label: str


class StageAudit(Sent):
    """The audit's result for a stage."""

    name: str
    numbers: NonEmpty
    off: str


class Verdict(Sent):
    """The verdict of the audit, or of a large pass the button that asks for it.

    Attributes
    ----------
    asks
        What a button says with which a large pass is audited; then there is nothing else.
    stages
        How each came out: how many numbers are given and agree, and how far off the worst is.
    """

    asks: NonEmpty | UnsetType = UNSET
    agrees: bool | UnsetType = UNSET
    sentence: NonEmpty | UnsetType = UNSET
    stages: Annotated[list[StageAudit], Meta(min_length=1)] | UnsetType = UNSET


class File(Sent):
    """A file to be saved."""

    name: str
    text: str


View = Literal["pass", "audit", "script"]
"""The views of a scene that has a pass."""

Code = list[tuple[Literal["", "keyword", "function", "string", "number", "comment"], NonEmpty]]


class Program(Sent):
    """The pass as a program.

    Attributes
    ----------
    runs
        Its text in pieces, each with the kind of its tokens.
    torch
        The same with PyTorch's module; null where that can't make the pass.
    microgpt
        The same in microgpt's own Python; null where that can't make the pass.
    file
        The file that this reads.
    """

    runs: Code
    torch: Code | None
    microgpt: Code | None
    file: File | None


class Answer(Sent):
    """All that a browser is given of a scene, by a run of the page or for what was done.

    Attributes
    ----------
    tab
        What stands for the person's tab.
    number
        Of two answers of a tab the one with the larger number is of what was done later.
    view
        What the page shows of the scene: the part of this name is here, null where the sentence makes no pass.
    notices
        What was mended, refused or followed, a sentence each.
    offers
        What can be done where a sentence isn't read as it was typed.
    lacks_file
        Whether the arrays of the scene are in a file that the server doesn't have: the browser sends it, if it
        does.
    by_hand
        What is said of numbers set by hand, where the viewer isn't there to say it.
    address
        The scene's own parameters, which the browser's address is to have, or for null to lack.
    pass_
        The document that the viewer shows.
    audit
        What the audit found, or of a large pass what asks for it.
    script
        The pass as a program.
    """

    tab: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    number: Annotated[int, Meta(ge=1)]
    view: View
    settings: Settings
    notices: list[NonEmpty]
    offers: list[Offer]
    lacks_file: bool
    by_hand: Runs | None
    address: dict[str, str | None]
    pass_: Document | UnsetType | None = field(default=UNSET, name="pass")
    audit: Verdict | UnsetType | None = UNSET
    script: Program | UnsetType | None = UNSET
