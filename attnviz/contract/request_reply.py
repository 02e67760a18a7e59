"""The viewer's request for actions on a scene, and the reply: all that the browser shows of the new scene."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import parse_qs

from msgspec import UNSET, Meta, Struct, UnsetType, field

from attnviz.contract.base import ActionLink, Event, NonEmpty, Runs, Sent, Value
from attnviz.contract.document import Document


class Option(Sent):
    """An option of a list or of a row of pills."""

    value: Value
    label: str
    group: str | UnsetType = UNSET  # the heading that it is listed under


class Box(Sent):
    """A control whose input is sent as an action."""

    event: Event
    label: str
    help: str | UnsetType = UNSET  # a text shown on request
    quiet: bool | UnsetType = UNSET  # whether its label is for screen readers only


class Choice(Box, kw_only=True, tag_field="kind", tag="choice"):
    """A choice from a list."""

    value: Value
    options: Annotated[list[Option], Meta(min_length=1)]


class Text(Box, kw_only=True, tag_field="kind", tag="text"):
    """A line of text."""

    value: str
    limit: Annotated[int, Meta(ge=1)]  # the most characters
    live: bool  # whether it is sent at a pause in typing; else on Enter and on leaving
    placeholder: str | UnsetType = UNSET
    # The words that are known: sending waits while the text may still become one of them
    words: list[NonEmpty] | UnsetType = UNSET


class Button(Box, kw_only=True, tag_field="kind", tag="button"):
    """A button, which sends true."""

    sign: str  # shown instead of the label


class Pills(Box, kw_only=True, tag_field="kind", tag="pills"):
    """A choice from a row of pills."""

    value: Value | None
    options: Annotated[list[Option], Meta(min_length=1)]


class Switch(Box, kw_only=True, tag_field="kind", tag="switch"):
    """A switch."""

    value: bool


class Note(Sent, tag_field="kind", tag="note"):
    """A text between the controls."""

    runs: Runs


class Heading(Sent, tag_field="kind", tag="heading"):
    """The heading of a group of controls."""

    text: NonEmpty


Boxes = list[Choice | Text | Button | Pills | Switch | Note | Heading]


class Settings(Sent):
    """The controls of a scene: the main ones in a line, and the rest."""

    line: Boxes
    more: Boxes


class StageAudit(Sent):
    """The audit's result for a stage."""

    name: str
    numbers: NonEmpty
    off: str


class Verdict(Sent):
    """The audit's verdict; for a large pass, a button that runs it."""

    # The label of the button that runs the audit of a large pass; then nothing else is set
    asks: NonEmpty | UnsetType = UNSET
    agrees: bool | UnsetType = UNSET
    sentence: NonEmpty | UnsetType = UNSET
    # For each stage, how many numbers are given or agree, and how far off the worst is
    stages: Annotated[list[StageAudit], Meta(min_length=1)] | UnsetType = UNSET


class File(Sent):
    """A file to download."""

    name: str
    text: str


View = Literal["pass", "audit", "script"]  # the views of a scene that has a pass
Code = list[tuple[Literal["", "keyword", "function", "string", "number", "comment"], NonEmpty]]


class Program(Sent):
    """The pass as a program."""

    runs: Code  # its text in pieces, each with its kind for syntax colours
    torch: Code | None  # the pass with PyTorch's module; null if that can't compute it
    microgpt: Code | None  # the pass in microgpt's plain Python; null if that can't compute it
    file: File | None  # the file that microgpt's program reads


class SceneReply(Sent):
    """All that the browser shows of a scene, after a page load or an action."""

    tab: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    number: Annotated[int, Meta(ge=1)]  # counts the replies to a tab, so that a late one can be dropped
    view: View  # the view of the page; the field of this name is set, and null if the sentence makes no pass
    settings: Settings
    notices: list[NonEmpty]  # what was corrected, refused or followed, a sentence each
    offers: list[ActionLink]  # links that help if a sentence can't be read as it was typed
    lacks_file: bool  # whether the server lacks the file with the scene's arrays; the browser sends it if it has it
    by_hand: Runs | None  # a sentence on numbers set by hand, in views without the viewer
    address: dict[str, str | None]  # the scene's parameters for the browser's address; null removes one
    pass_: Document | UnsetType | None = field(default=UNSET, name="pass")
    audit: Verdict | UnsetType | None = UNSET
    script: Program | UnsetType | None = UNSET


MAX_ACTIONS = 5  # the most actions in one request: those queued while the previous reply was on its way
MAX_PARAMETERS = 100  # the most parameters of the browser's address


class ActionsRequest(Struct, frozen=True):
    """A viewer's request for actions."""

    tab: str
    # The `address` of the reply on the screen. If that isn't the last one, Back has led to an earlier scene, and the
    # actions apply to that
    address: dict[str, str | None]
    look: str  # the query string of the browser's address, for its view parameters
    view: View  # the view of the page, one of `View`
    # The actions in order; names and messages are not checked here
    actions: Annotated[list[tuple[Any, Any]], Meta(max_length=MAX_ACTIONS)]
    templates: list[str]

    def __post_init__(self) -> None:
        _ = self.view_params

    @property
    def view_params(self) -> dict[str, list[str]]:
        """The parameters of the browser's address."""
        return parse_qs(self.look.removeprefix("?"), keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
