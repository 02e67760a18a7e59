"""Received: JSON that a browser sends, which may be anything, read as the message that it should be."""

from __future__ import annotations

import re
from typing import TypeVar, get_args

import msgspec

Message = TypeVar("Message", bound=msgspec.Struct)

_HIGH, _LOW, _HALF = (rb"u[dD][%b][0-9a-fA-F]{2}" % digits for digits in (b"89abAB", b"c-fC-F", b"89a-fA-F"))
_ESCAPES = re.compile(rb"\\(?:%b\\%b|(%b)|.)" % (_HIGH, _LOW, _HALF), re.DOTALL)


class RequestError(ValueError):
    """A message that no page of ours sends."""


def received(body: bytes, kind: type[Message]) -> Message:
    """The message that a body is.

    Raises
    ------
    RequestError
        If it is none of the kind.
    """
    try:
        return msgspec.json.decode(_well_formed(body), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        kinds = [msgspec.structs.fields(each) for each in get_args(kind) or [kind]]
        parts = " or ".join(f"{{{', '.join(part.encode_name for part in fields)}}}" for fields in kinds)
        reason = "This is nested too deep" if isinstance(error, RecursionError) else error
        raise RequestError(f"What is asked here is a page's own: {parts}. {reason}. Reload the page.") from None


def _well_formed(body: bytes) -> bytes:
    """The same, in which U+FFFD stands for half a character: no answer could be sent with that."""
    return _ESCAPES.sub(lambda match: rb"\ufffd" if match[1] else match[0], body)
