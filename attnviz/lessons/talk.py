"""Talk: a list of moments of somebody's own, as a file in TOML and as JSON, read as strictly as a lesson's."""

from __future__ import annotations

import json
import math
import re
import tomllib
from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from attnviz.core.limits import (
    MAX_FILE_SIZE,
    MAX_TALK_BYTES,
    MAX_TALK_MINUTES,
    MAX_TALK_MOMENTS,
    MAX_TALK_UPLOAD_CHARACTERS,
    MAX_TEXT_CHARACTERS,
)
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.talk_uploads import MAX_IN_MOMENT, UploadName, Uploads, check_size
from attnviz.lessons.written import Text, Written, WrittenMoment

_QUOTED = re.compile(
    r'"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?'
)  # as a text may have no end, nothing is looked at twice
_DEEP_KEY = re.compile(r"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){9}")
_UPLOADS = "\n[uploads]\n"
_UPLOAD = re.compile(r"^([a-z0-9-]{1,40}) = '([A-Za-z0-9+/]+={0,2})'$", re.MULTILINE)
_OWN_LIMITS = ("at", "arrays")
"""Parts of a moment that are longer than a text."""


class TalkError(ValueError):
    """A file or link that is no talk, or has a moment that doesn't fit its pass."""


class TalkMoment(WrittenMoment, frozen=True):
    """A moment of a talk.

    Attributes
    ----------
    minutes
        How long it is to take; 0 where nobody has said.
    uploads
        The names of the files of somebody's own that it shows.
    """

    minutes: Annotated[float, Meta(ge=0, le=MAX_TALK_MINUTES)] = 0
    uploads: Annotated[tuple[UploadName, ...], Meta(max_length=MAX_IN_MOMENT)] = ()


class Talk(Written, frozen=True):
    """A talk of somebody's own.

    Attributes
    ----------
    title
    moment
        Its moments, in order.
    uploads
        The files of somebody's own that they show, by their names. In all they are no larger than a file of arrays.

    Raises
    ------
    OwnArraysError
        If they are larger.
    """

    title: Text = ""
    moment: Annotated[tuple[TalkMoment, ...], Meta(max_length=MAX_TALK_MOMENTS)] = ()
    uploads: Uploads = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_size(self.uploads)


def as_talk(lesson: Lesson) -> Talk:
    """A lesson as the start of a talk: its moments without its claims and its ending."""
    fields = WrittenMoment.__struct_fields__
    moments = (TalkMoment(**{name: getattr(each, name) for name in fields}) for each in lesson.moment)
    return Talk(title=lesson.title, moment=tuple(moments))


def read(content: bytes) -> Talk:
    """The talk of a file.

    Raises
    ------
    TalkError
        If it is none, for whatever reason.
    """
    _check_size(content, MAX_TALK_BYTES + MAX_TALK_UPLOAD_CHARACTERS)
    try:
        text, packed = _without_uploads(content.decode("utf-8"))
        if (size := len(text.encode())) > MAX_TALK_BYTES:
            raise TalkError(_too_large(size))
        if _DEEP_KEY.search(_QUOTED.sub("q", text)):  # tomllib would take minutes
            raise TalkError("A key of a talk's file is one name, as in text; this one has many, with points between.")
        return _converted(_with_uploads(tomllib.loads(text), packed))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TalkError(f"A talk is a file in TOML, in UTF-8; this is not: {error}") from None
    except RecursionError:
        raise TalkError("A talk's file is a list of moments; this one is nested too deep.") from None
    except TalkError:
        raise
    except ValueError as error:
        raise TalkError(f"A talk is a file in TOML; this is not: {str(error)[:200]}") from None


def read_json(content: bytes) -> Talk:
    """The talk of a text in JSON, as a link has it: without files of somebody's own.

    Raises
    ------
    TalkError
        If it is none.
    """
    _check_size(content)
    try:
        return _converted(msgspec.json.decode(content))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TalkError(f"A talk is sent as JSON; this is not: {str(error)[:200]}") from None


def write(talk: Talk) -> str:
    """A talk as a file in TOML: `read` gives it back."""
    parts = msgspec.to_builtins(talk)
    lines = [f"title = {_value(parts.get('title', ''))}"]
    for moment in parts.get("moment", ()):
        lines += ["", "[[moment]]", *(f"{name} = {_value(part)}" for name, part in moment.items())]
    if talk.uploads:
        lines += ["", "[uploads]", *(f"{name} = '{packed}'" for name, packed in talk.uploads.items())]
    return "\n".join([*lines, ""])


def to_json(talk: Talk) -> bytes:
    """A talk as JSON: `read_json` gives it back."""
    return msgspec.json.encode(talk)


def _check_size(content: bytes, most: int = MAX_TALK_BYTES) -> None:
    if len(content) > most:
        raise TalkError(_too_large(len(content)))


def _too_large(n_bytes: int) -> str:
    return (
        f"A talk has at most {MAX_TALK_BYTES:,} bytes, and {MAX_FILE_SIZE} of files of somebody's own; "
        f"this one has {n_bytes:,}."
    )


def _without_uploads(text: str) -> tuple[str, list[str]]:
    """A talk's file with a mark in place of each file in it, and these: `tomllib` would take seconds for them."""
    packed: list[str] = []

    def marked(line: re.Match) -> str:
        packed.append(line[2])
        return f"{line[1]} = '#{len(packed) - 1}'"

    before, head, table = text.partition(_UPLOADS)
    return before + head + _UPLOAD.sub(marked, table), packed


def _with_uploads(content: dict[str, Any], packed: list[str]) -> dict[str, Any]:
    """The content of a talk's file with the files in it in place of their marks.

    Raises
    ------
    TalkError
        If what looked like its table of files is in a text.
    """
    table = content.get("uploads", {})
    marks = {f"#{place}": each for place, each in enumerate(packed)}
    if not isinstance(table, dict) or not marks.keys() <= {each for each in table.values() if isinstance(each, str)}:
        raise TalkError("A talk's file ends with a table [uploads], if it holds numbers of somebody's own.")
    named = {name: marks.get(each, each) if isinstance(each, str) else each for name, each in table.items()}
    return content | {"uploads": named} if named else content


def _converted(parsed: Any) -> Talk:
    try:
        talk = msgspec.convert(parsed, Talk)
    except msgspec.ValidationError as error:
        raise TalkError(f"This is no talk: {str(error)[:200]}") from None
    for moment in talk.moment:
        check_moment(moment)
    return talk


def check_moment(moment: TalkMoment) -> None:
    """Hold what its types don't say: no text is too long, and each number is one.

    Raises
    ------
    TalkError
    """
    for name, part in msgspec.to_builtins(moment).items():
        if name not in _OWN_LIMITS:
            _check_part(part)


def _check_part(part: Any) -> None:
    if isinstance(part, str) and len(part) > MAX_TEXT_CHARACTERS:
        raise TalkError(f"A text of a talk has at most {MAX_TEXT_CHARACTERS:,} characters; one has {len(part):,}.")
    if isinstance(part, float) and not math.isfinite(part):
        raise TalkError(f"A number of a talk is finite; got {part}.")
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else ():
        _check_part(each)


def _value(part: Any) -> str:
    """A value in TOML, in one line."""
    if isinstance(part, dict):
        return f"{{ {', '.join(f'{name} = {_value(each)}' for name, each in part.items())} }}"
    if isinstance(part, list | tuple):
        return f"[{', '.join(map(_value, part))}]"
    if isinstance(part, str):
        return json.dumps(part, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(part)
