"""Sent: what all that a browser is given is made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_type_hints

from msgspec import Meta, Struct, defstruct


class Sent(Struct, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A part of what is sent, with these fields and no other."""


def joined(name: str, doc: str, one: type[Sent], other: type[Sent], /, **fields: Any) -> type[Sent]:
    """The struct that two of which a browser makes one are together; `fields` are those to which both add."""
    hints = get_type_hints(one, include_extras=True) | get_type_hints(other, include_extras=True) | fields
    return defstruct(name, hints.items(), bases=(Sent,), namespace={"__doc__": doc}, module=other.__module__)


NonEmpty = Annotated[str, Meta(min_length=1)]
"""A text that is not empty."""

Size = Annotated[float, Meta(ge=0)]

Name = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$")]
"""Of a stage."""

Place = Annotated[int, Meta(ge=0)]
"""Counted from 0; or how many there are."""

Layer = Annotated[int, Meta(ge=0)]
"""Counted from 1; 0 outside layers, and in a pass of one layer."""

Cell = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*\\[[0-9]+(,[0-9]+)*\\]$")]
"""Its address."""

Share = Annotated[float, Meta(ge=0, le=1)]


_Byte = Annotated[int, Meta(ge=0, le=255)]
Colour = tuple[_Byte, _Byte, _Byte]
"""Red, green, blue."""

Stories = Annotated[list[tuple[Literal["hidden", "unseeing", "set", "given", ""], str]], Meta(min_length=1)]
"""When a sentence holds, and the sentence, with slots."""


class Story(Sent):
    """Sentences with slots, which the browser fills in for what is selected.

    Attributes
    ----------
    of
        The stage whose cell they are about.
    """

    of: Name
    stories: Stories


Style = Literal["", "strong", "em", "code", "math", "q", "k", "v", "output", "word", "verdict", "story"]
Run = tuple[Style, str | Story]
"""A text with one style, or a story."""

Runs = list[Run]

Values = Annotated[list[str | None], Meta(min_length=1)]
"""Base64 of little-endian float64 in C order, one text for each head if that is the first axis; null is not sent."""
