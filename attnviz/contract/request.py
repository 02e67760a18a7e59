"""Acts requests: what a viewer says was done, and what it may say."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qs

from msgspec import Meta, Struct

from attnviz.contract.answer import View
from attnviz.contract.received import received

MAX_ACTS = 5
"""Acts in one request: what was done while the answer to the one before was on its way."""

MAX_LOOKS = 100
"""Parameters of the browser's address."""


class ActsRequest(Struct, frozen=True):
    """The acts that a viewer asks for.

    Attributes
    ----------
    tab : str
        What stands for the person's tab.
    address : dict of str to str or None
        The `address` of the answer that the person saw. Where that isn't the last, Back has led to another scene
        meanwhile, and what is done is done to the one that was seen.
    look : str
        The browser's address from its question mark on, of which the viewer's own parameters are read.
    view : str
        What the page shows of the scene, one of `View`.
    acts : list of (name, message)
        What was done, one after the other; both may be anything.
    templates : list of str
        The templates that the browser has.
    """

    tab: str
    address: dict[str, str | None]
    look: str
    view: View
    acts: Annotated[list[tuple[Any, Any]], Meta(max_length=MAX_ACTS)]
    templates: list[str]

    def __post_init__(self) -> None:
        _ = self.looks

    @property
    def looks(self) -> dict[str, list[str]]:
        """The parameters of the browser's address."""
        return parse_qs(self.look.removeprefix("?"), keep_blank_values=True, max_num_fields=MAX_LOOKS)


def read(body: bytes) -> ActsRequest:
    """The request in a body; RequestError if no viewer would say so."""
    return received(body, ActsRequest)
