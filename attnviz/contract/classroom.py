"""A class, as browsers are told of it: where the speaker is, what is asked, and to the speaker how many said what."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from attnviz.contract.sent import NonEmpty, Place, Sent


class Round(Sent):
    """The question of the place where a class is.

    Attributes
    ----------
    number
        Of the round: 2 once it is asked again.
    is_open
        Whether answers are taken.
    """

    number: Annotated[int, Meta(ge=1)]
    is_open: bool


class CellQuestion(Sent, frozen=True):
    """A question that the speaker asks of a cell: for its number, its share, or the word that its row is largest at."""

    kind: Literal["number", "share", "word"]
    cell: NonEmpty


class Pointed(Sent):
    """A number that somebody doesn't understand: where the class was, the cell, and how many don't."""

    at: str
    cell: NonEmpty
    count: Annotated[int, Meta(ge=1)]


class Audience(Sent):
    """The part that the speaker alone is told.

    Attributes
    ----------
    here, around
        How many are here, and how many of them look around by themselves.
    answered
        How many answered in the round that is open.
    counts
        For each round how many gave each answer, as pairs of an answer and a count.
    pointed
    pressed
        How many presses on another device has made in the talk that this one gives, less those back.
    """

    here: Place
    around: Place
    answered: Place
    counts: list[list[tuple[float, int]]]
    pointed: list[Pointed]
    pressed: int


class ClassNow(Sent):
    """A class, as it is now.

    Attributes
    ----------
    number
        How often it was led to another place.
    at
        The address of that place; empty before the first.
    shows
        The number of the moment to ask for: the same as long as followers see the same pass and question.
    kind
        Whether it is a pass, a moment of a lesson or of a talk of the speaker's own, or a question of a cell.
    question
        The question of a cell that is asked there; null where none is.
    is_own
        Whether the speaker shows numbers of their own, so that nobody can follow.
    is_shown
        Whether the answer is shown.
    round
        The question's; null where nothing is asked.
    has_ended
    waits
        Whether nothing is heard of the speaker's machine.
    is_apart
        Whether the processes that serve the class have lost each other.
    audience
        For the speaker alone.
    """

    number: Place
    at: str
    shows: Place
    kind: Literal["pass", "lesson", "talk", "question"]
    question: CellQuestion | None
    is_own: bool
    is_shown: bool
    round: Round | None
    has_ended: bool
    waits: bool
    is_apart: bool
    audience: Audience | UnsetType = UNSET


class OwnAnswer(Sent):
    """The answer that a seat gave to a round of the question of a place."""

    number: Place
    round: Annotated[int, Meta(ge=1)]
    value: float


class OwnNow(Sent):
    """A seat's own answer, for who comes back; null where it has given none."""

    answer: OwnAnswer | None


class Seat(Sent):
    """A seat in a class.

    Attributes
    ----------
    code
        The room's.
    key
        For the speaker alone: who has it leads the class.
    link
        For whoever opened the room: who has it needs no code.
    """

    code: NonEmpty
    seat: NonEmpty
    key: NonEmpty | UnsetType = UNSET
    link: NonEmpty | UnsetType = UNSET


class Led(Sent):
    """The place that the speaker led the class to: its number, and whether it has numbers of their own."""

    number: Place
    is_own: bool


class Offer(Sent):
    """The code by which another device of the speaker's joins."""

    code: NonEmpty
