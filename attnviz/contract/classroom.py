"""A class: where the speaker is, what is asked, and for the speaker how many gave each answer."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from attnviz.contract.base import NonEmpty, Place, Sent


class Round(Sent):
    """A round of answers to the current question."""

    question: Place  # which question of the room
    number: Annotated[int, Meta(ge=1)]  # the round, from 1; 2 if the question is asked again
    is_open: bool  # whether answers are accepted


class CellQuestion(Sent, frozen=True):
    """A question on a cell: its number, its share, or the word with the largest number of its row."""

    kind: Literal["number", "share", "word"]
    cell: NonEmpty


class Pointed(Sent):
    """A number that listeners marked as unclear: the address, the cell, and how many did."""

    at: str
    cell: NonEmpty
    count: Annotated[int, Meta(ge=1)]


class Written(Sent):
    """A short text from the class: an answer in words, or a question of a listener's."""

    id: Place  # in its room
    text: NonEmpty
    is_shown: bool  # whether the speaker shows it
    votes: Place  # of a question; 0 for an answer


PressKind = Literal["next", "back", "answers", "reveal"]


class Audience(Sent):
    """What only the speaker gets."""

    here: Place  # how many are present
    around: Place  # how many of them explore by themselves
    answered: Place
    counts: list[list[tuple[float, int]]]  # for each round, pairs of an answer and its count
    # For each round an answer, how sure (1 to 3), and how many said so
    sure: list[list[tuple[float, int, int]]]
    moves: list[tuple[float, float, int]]  # from the first round to the second: both answers, and how many gave them
    texts: list[Written]  # the answers in words to the current question
    wondered: list[Written]  # the listeners' questions, most votes first
    pointed: list[Pointed]
    pressed: Place  # how many buttons the speaker's other devices have pressed
    presses: list[PressKind]  # the latest of them
    shows_class: bool  # whether the presented page shows the class's answers
    offer: str  # the code with which another device of the speaker's joins; empty if there is none
    leads: Place  # counts how often a device led the class, to a place or to what is shown there


class Wondered(Sent):
    """A listener's question that the speaker shows, for votes."""

    id: Place
    text: NonEmpty
    votes: Place


class ClassNow(Sent):
    """A class, as it is now."""

    number: Place  # counts the places that the class was led to
    at: str  # the current address; empty before the first
    shows: Place  # the number of the moment to request; it stays while followers see the same pass and question
    # A pass, a moment of a lesson or of the speaker's talk, or a question on a cell
    kind: Literal["pass", "lesson", "talk", "question"]
    question: CellQuestion | None  # the question on a cell; null if there is none
    is_own: bool  # whether the speaker shows uploaded numbers, so that nobody can follow
    is_shown: bool
    round: Round | None  # the round of the question; null if nothing is asked
    talk_seconds: Place  # how long to talk to one's neighbour from now on; 0 if not asked
    wonders: list[Wondered] | None  # the questions to vote for; null where listeners can't write any
    has_ended: bool
    waits: bool  # whether the speaker's browser is silent
    is_apart: bool  # whether the processes that serve the class have lost each other
    audience: Audience | UnsetType = UNSET


class OwnAnswer(Sent):
    """A seat's answer in a round of a question."""

    question: Place
    round: Annotated[int, Meta(ge=1)]
    value: float | str  # a text if one is asked for
    sure: Annotated[int, Meta(ge=0, le=3)]  # how sure; 0 if that wasn't said


class OwnNow(Sent):
    """What a seat has said, after a reload."""

    answers: list[OwnAnswer]  # to each question the one in its last round
    wondered: str  # what it asks the speaker; empty if nothing
    votes: list[Place]  # the questions that it wants to be answered


class Seat(Sent):
    """A seat in a class."""

    code: NonEmpty
    seat: NonEmpty
    host: NonEmpty  # tells a reopened room from another one with this code
    key: NonEmpty | UnsetType = UNSET  # the key that leads the class, for the speaker only
    link: NonEmpty | UnsetType = UNSET  # the link that needs no code, for whoever opened the room


class LogPart(Sent):
    """A part of a room's log, for the browser that opened it: it replaces what that has from `start` on."""

    start: Place
    commands: list[str]  # as JSON
    name: NonEmpty  # of the log that ends with these commands


class Led(Sent):
    """The place that the speaker led the class to: its number, and whether it shows uploaded numbers."""

    number: Place
    leads: Place  # as in Audience
    is_own: bool
    lacks_image: bool  # whether the class was not led, as the room needs the image of the slide, too


class Offer(Sent):
    """The code with which the speaker's second device joins."""

    code: NonEmpty
