"""What all messages are made of: base struct, common types, and `received`, which reads a message from a browser."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct, defstruct


class Sent(Struct, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A part of a message to the browser, with exactly these fields."""


def joined(name: str, doc: str, one: type[Sent], other: type[Sent], /, **fields: Any) -> type[Sent]:
    """The two structs that the browser merges into one; `fields` are those that take parts from both."""
    hints = get_type_hints(one, include_extras=True) | get_type_hints(other, include_extras=True) | fields
    return defstruct(name, hints.items(), bases=(Sent,), namespace={"__doc__": doc}, module=other.__module__)


NonEmpty = Annotated[str, Meta(min_length=1)]  # a non-empty text
Event = NonEmpty  # the name of an action
Value = str | int | bool  # sent back with its type unchanged


class ActionLink(Sent):
    """A link that performs an action."""

    event: Event
    value: Value | tuple[str, str]
    label: str


Size = Annotated[float, Meta(ge=0)]
Name = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$")]  # the name of a stage
Slug = Annotated[str, Meta(pattern="^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=40)]  # a lesson's or moment's id
Place = Annotated[int, Meta(ge=0)]  # an index from 0, or a count
Layer = Annotated[int, Meta(ge=0)]  # counted from 1; 0 outside layers, and in a pass of one layer
Cell = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*\\[[0-9]+(,[0-9]+)*\\]$")]  # an address, such as `scores[0,2,1]`
Share = Annotated[float, Meta(ge=0, le=1)]
# pairs of a case and the sentence for it, with slots
Stories = Annotated[list[tuple[Literal["hidden", "unseeing", "set", "given", ""], str]], Meta(min_length=1)]


class Story(Sent):
    """Sentences with slots that the browser fills in for the selected cell."""

    of: Name  # the stage that the cell belongs to
    stories: Stories


Style = Literal["", "strong", "em", "code", "math", "q", "k", "v", "output", "word", "verdict", "story"]
Run = tuple[Style, str | Story]  # a text with one style, or a story
Runs = list[Run]

# base64 of little-endian float64 in C order, or ~ and that of float32: one text per head if heads are the first axis;
# null if not sent
Values = Annotated[list[str | None], Meta(min_length=1)]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth"]
ORDINALS += ["seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"]

Message = TypeVar("Message", bound=msgspec.Struct)
_HIGH, _LOW, _HALF = (rb"u[dD][%b][0-9a-fA-F]{2}" % digits for digits in (b"89abAB", b"c-fC-F", b"89a-fA-F"))
_ESCAPES = re.compile(rb"\\(?:%b\\%b|(%b)|.)" % (_HIGH, _LOW, _HALF), re.DOTALL)


class RequestError(ValueError):
    """A message that none of our pages sends."""


def received(body: bytes, kind: type[Message]) -> Message:
    """Decode the body of a request."""
    try:
        return msgspec.json.decode(_well_formed(body), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        kinds = [msgspec.structs.fields(each) for each in get_args(kind) or [kind]]
        parts = " or ".join(f"{{{', '.join(part.encode_name for part in fields)}}}" for fields in kinds)
        reason = "This is nested too deep" if isinstance(error, RecursionError) else error
        raise RequestError(f"What is asked here is a page's own: {parts}. {reason}. Reload the page.") from None


def _well_formed(body: bytes) -> bytes:
    """Replace escaped lone surrogates by U+FFFD: a reply that quotes one could not be encoded."""
    return _ESCAPES.sub(lambda match: rb"\ufffd" if match[1] else match[0], body)
