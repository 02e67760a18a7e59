"""A talk of somebody's own: what the server, which keeps nothing of it, answers about one."""

from __future__ import annotations

from typing import Any

from attnviz.contract.sent import NonEmpty, Sent


class OfferedQuestion(Sent):
    """A question that a scene has an answer to.

    Attributes
    ----------
    ask
        As a talk's file has it.
    answer
        In words.
    """

    ask: dict[str, Any]
    answer: NonEmpty


class OfferedQuestions(Sent):
    """The questions that a scene has an answer to."""

    questions: list[OfferedQuestion]


class OwnTalk(Sent):
    """A talk's title, its moments as its file has them, and the files of somebody's own that they show, by name."""

    title: str
    moment: list[dict[str, Any]]
    uploads: dict[str, str]


class OpenedTalk(Sent):
    """The talk of a file, a link or a lesson."""

    talk: OwnTalk


class WrittenFile(Sent):
    """A talk as a file, or its questions."""

    file: str


class WrittenPage(Sent):
    """A talk as one HTML file."""

    page: NonEmpty


class ShownUploads(Sent):
    """The files of somebody's own that a scene shows, as base64, by name."""

    uploads: dict[str, str]
