"""Talk request: what a browser asks about a talk of somebody's own, and the reply."""

from __future__ import annotations

from functools import singledispatch
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from attnviz.core.settings import MAX_ADDRESS_CHARACTERS
from attnviz.lessons.offered import offered
from attnviz.lessons.talk import Talk, TalkMoment, read, read_json, write
from attnviz.lessons.talk_moment import opened_politely, talk_moment


class Asked(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What is asked."""


class MomentAsked(Asked, tag="moment", frozen=True):
    """A moment with its pass, its question and its answer."""

    moment: TalkMoment


class QuestionsAsked(Asked, tag="questions", frozen=True):
    """Which questions a scene has an answer to."""

    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]


class FileAsked(Asked, tag="file", frozen=True):
    """A talk's file."""

    talk: Talk


class TalkAsked(Asked, tag="talk", frozen=True):
    """The talk of a file in TOML, or of a link's JSON."""

    file: str = ""
    json: str = ""


TalkRequest = MomentAsked | QuestionsAsked | FileAsked | TalkAsked


@singledispatch
def reply(asked: TalkRequest) -> bytes:
    """The reply as JSON.

    Raises
    ------
    TalkError
        If what is asked about is no talk, or doesn't fit its pass.
    """
    raise NotImplementedError


@reply.register
def _(asked: MomentAsked) -> bytes:
    return talk_moment(asked.moment)


@reply.register
def _(asked: QuestionsAsked) -> bytes:
    return msgspec.json.encode({"questions": offered(opened_politely(asked.at))})


@reply.register
def _(asked: FileAsked) -> bytes:
    return msgspec.json.encode({"file": write(asked.talk)})


@reply.register
def _(asked: TalkAsked) -> bytes:
    talk = read_json(asked.json.encode()) if asked.json else read(asked.file.encode())
    return msgspec.json.encode({"talk": talk})
