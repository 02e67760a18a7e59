"""Talk request: what a browser asks about a talk of somebody's own, and the reply."""

from __future__ import annotations

from functools import singledispatch
from typing import Annotated

from msgspec import Meta, Struct, field, to_builtins

from attnviz.contract.lesson import OfferedQuestions, OpenedTalk, OwnTalk, WrittenFile
from attnviz.core.limits import MAX_ADDRESS_CHARACTERS
from attnviz.lessons.export import Form, of_lesson, of_talk
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.offered import offered
from attnviz.lessons.talk import Talk, TalkMoment, as_talk, read, read_json, write
from attnviz.lessons.talk_moment import opened_politely, talk_moment
from attnviz.lessons.talk_uploads import Uploads
from attnviz.scene.document.encoding import to_json


class Asked(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """A browser's request about its talk."""


class MomentAsked(Asked, tag="moment", frozen=True):
    """A moment with its pass, its question and its answer."""

    moment: TalkMoment
    uploads: Uploads = field(default_factory=dict)


class QuestionsAsked(Asked, tag="questions", frozen=True):
    """Which questions a scene has an answer to."""

    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]
    uploads: Uploads = field(default_factory=dict)


class FileAsked(Asked, tag="file", frozen=True):
    """A talk's file."""

    talk: Talk


class TalkAsked(Asked, tag="talk", frozen=True):
    """The talk of a file in TOML, of a link's JSON, or a lesson as one, by its id."""

    file: str = ""
    json: str = ""
    lesson: str = ""


class ExportAsked(Asked, tag="export", frozen=True):
    """The questions of a lesson or a talk, as a file."""

    form: Form
    lesson: str = ""
    talk: Talk | None = None


TalkRequest = MomentAsked | QuestionsAsked | FileAsked | TalkAsked | ExportAsked


@singledispatch
def reply(request: TalkRequest) -> bytes:
    """The reply as JSON.

    Raises
    ------
    TalkError
        If what is asked about is no talk, or doesn't fit its pass.
    """
    raise NotImplementedError


@reply.register
def _(request: MomentAsked) -> bytes:
    return to_json(talk_moment(request.moment, request.uploads))


@reply.register
def _(request: QuestionsAsked) -> bytes:
    return to_json(OfferedQuestions(questions=offered(opened_politely(request.at, request.uploads, request.uploads))))


@reply.register
def _(request: FileAsked) -> bytes:
    return to_json(WrittenFile(file=write(request.talk)))


@reply.register
def _(request: TalkAsked) -> bytes:
    return to_json(OpenedTalk(talk=_sent(_talk(request))))


def _sent(talk: Talk) -> OwnTalk:
    return OwnTalk(title=talk.title, moment=to_builtins(talk.moment), uploads=talk.uploads)


def _talk(request: TalkAsked) -> Talk:
    if request.lesson in LESSONS:
        return as_talk(LESSONS[request.lesson])
    return read_json(request.json.encode()) if request.json else read(request.file.encode())


@reply.register
def _(request: ExportAsked) -> bytes:
    made = of_lesson(request.form, request.lesson) if request.talk is None else of_talk(request.form, request.talk)
    return to_json(WrittenFile(file=made))
